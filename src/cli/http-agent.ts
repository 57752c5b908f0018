// An agent behind a URL, as `agents add --http` and `init --agent http` make one: tried live, with a fresh secret to sign with.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { SwitchboardError } from '../contract/index.ts'
import type { Context } from './context.ts'
import { usage } from './failure.ts'
import { oneLine } from './output/text.ts'

export interface HttpAgentWish {
  readonly url: string
  readonly mode: 'answer' | 'later'
  readonly allowPrivate: boolean
  /** One that the agent has already; null: a fresh one is made. */
  readonly secret: string | null
}

export interface TriedHttpAgent {
  /** Keys of the connector; `secret` is a reference. */
  readonly connector: Readonly<Record<string, string | boolean>>
  /** For whoever verifies the signature: shown once. */
  readonly secret: string
  /** The agent has it already. */
  readonly known: boolean
  readonly who: string
}

const TRY_WITHIN_MS = 20_000

export interface HttpAgentFlags {
  readonly mode?: string
  readonly allowPrivate?: boolean
  /** Where a secret is that the agent verifies with already. */
  readonly secretFile?: string
}

export function wishOf(
  url: string,
  { mode = 'answer', allowPrivate, secretFile }: HttpAgentFlags,
): HttpAgentWish {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw usage('the URL of the agent is none', 'it begins with https:// (or http:// on this machine)')
  if (mode !== 'answer' && mode !== 'later')
    throw usage(`--mode: "${oneLine(mode)}" is neither answer nor later`)
  if (secretFile !== undefined && !existsSync(secretFile))
    throw usage(`--secret-file: there is no ${oneLine(secretFile)}`)
  const secret = secretFile === undefined ? null : readFileSync(secretFile, 'utf8').trim()
  return { url, mode, allowPrivate: allowPrivate === true, secret }
}

/** Throws what went wrong: nothing was kept. `reference`: where the secret will be. */
export async function tryHttpAgent(
  context: Context,
  wish: HttpAgentWish,
  reference: string,
): Promise<TriedHttpAgent> {
  const { connectorSetup, tryWithin } = await import('./configuration.ts')
  const setup = await connectorSetup('http')
  if (!setup) throw new SwitchboardError('internal', 'the connector http asks nothing')
  const { url, mode } = wish
  const allowPrivate = wish.allowPrivate || setup.complete?.({ url }).allow_private === true
  const secret = wish.secret ?? `whsec_${randomBytes(32).toString('base64')}`
  const open = allowPrivate ? { allow_private: true } : {}
  const { who } = await tryWithin(setup, { url, mode, secret, ...open }, TRY_WITHIN_MS).catch(
    (thrown: unknown) => {
      const error =
        thrown instanceof SwitchboardError ? thrown : new SwitchboardError('execution_failed', String(thrown))
      throw new SwitchboardError(error.code, `the agent was tried: ${error.message}`, {
        hint: error.hint ?? 'nothing was kept: mend it and run the same again',
      })
    },
  )
  context.note(`the agent answers: this is ${oneLine(who)}`)
  if (allowPrivate)
    context.note('its address is private, or plain http: allow_private: true is written for it')
  const later = mode === 'later' ? { mode } : {}
  return {
    connector: { type: 'http', url, secret: reference, ...later, ...open },
    secret,
    known: wish.secret !== null,
    who,
  }
}
