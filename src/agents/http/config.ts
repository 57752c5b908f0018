// The options of the connector `http`: the agent's URL, the signature, and when the answer comes.
import { z } from 'zod'
import { type ConnectorDeps, SwitchboardError, type TokenList } from '../../contract/index.ts'
import { type StandardKey, standardKey } from '../../kit/http/standard-webhooks.ts'
import { duration, optionsProblem, secret, urlOrSecret } from '../../kit/option-words.ts'

const TIMEOUT_MS = 5 * 60_000

export const httpOptions = z
  .strictObject({
    url: urlOrSecret('Where turns are posted to.'),
    secret: secret('Signs every POST (Standard Webhooks): whsec_ and base64.').optional(),
    mode: z
      .enum(['answer', 'later'])
      .default('answer')
      .describe(
        'answer: the response is the answer, and 202 means later; later: any 2xx is a receipt, and the answer comes to reply_url.',
      ),
    timeout: duration('How long the whole answer in a response may take.', TIMEOUT_MS),
    allow_private: z.boolean().default(false).describe('Allow plain http, private and loopback addresses.'),
  })
  .describe('Any agent behind a URL that takes JSON.')

export interface HttpAgentConfig {
  /** It may be a credential, so it appears in no log line and no error. */
  readonly url: string
  readonly keys: readonly StandardKey[]
  readonly mode: 'answer' | 'later'
  readonly timeoutMs: number
  readonly allowPrivate: boolean
  readonly tokens: TokenList
  readonly publicBase: () => string
}

/** Throws `config_invalid` naming the key, never the value. */
export function readConfig(deps: ConnectorDeps): HttpAgentConfig {
  const parsed = httpOptions.safeParse(deps.agent.connector.options)
  if (!parsed.success) throw invalid(deps, optionsProblem(parsed) ?? 'malformed')
  if (!deps.tokens || !deps.publicBase)
    throw invalid(deps, 'type: it needs a server that replies can come to')
  const { url: written, secret: reference, mode, timeout, allow_private } = parsed.data
  const url = /^https?:\/\//.test(written) ? written : deps.secret(written).trim()
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw invalid(deps, `url: ${written} does not hold a URL`)
  const keys = reference === undefined ? [] : [keyOf(deps, reference)]
  const { tokens, publicBase } = deps
  return { url, keys, mode, timeoutMs: timeout, allowPrivate: allow_private, tokens, publicBase }
}

/** Reads a shared secret; null: it has no known form. */
export function signingKey(secretText: string): StandardKey | null {
  if (!/^whs(ec|k)_/.test(secretText)) return null
  try {
    return standardKey(secretText)
  } catch {
    return null
  }
}

export const SIGNING_HINT = 'make one with: echo "whsec_$(openssl rand -base64 32)"'

function keyOf(deps: ConnectorDeps, reference: string): StandardKey {
  const key = signingKey(deps.secret(reference).trim())
  if (key) return key
  throw new SwitchboardError(
    'config_invalid',
    `agent ${deps.agent.id}: connector.secret: ${reference} does not hold a Standard Webhooks secret (whsec_ and base64)`,
    { hint: SIGNING_HINT },
  )
}

function invalid(deps: ConnectorDeps, problem: string): SwitchboardError {
  return new SwitchboardError('config_invalid', `agent ${deps.agent.id}: connector.${problem}`)
}
