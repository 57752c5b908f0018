// Setting up an agent from an API key: asked, tried with one token of the model, and only then kept. The key is typed
// without echo or piped in, and goes into the encrypted store alone.
import { readFileSync } from 'node:fs'
import { defined, SwitchboardError, withoutNulls } from '../contract/index.ts'
import type { Context } from './context.ts'
import { usage } from './failure.ts'
import { oneLine } from './output/text.ts'
import { type Definition, gatherAnswers } from './setup-answers.ts'

export interface LlmAgentOptions {
  readonly provider?: string
  readonly model?: string
  readonly baseUrl?: string
  readonly apiKeyFile?: string
  readonly yes?: boolean
}

export interface TriedLlmAgent {
  readonly connector: Definition
  /** Null: the server takes none. */
  readonly key: string | null
  readonly who: string
}

const TRY_WITHIN_MS = 35_000

/** Throws what went wrong: nothing was kept. `secretName`: what the key will be called. */
export async function tryLlmAgent(
  context: Context,
  options: LlmAgentOptions,
  secretName: string,
): Promise<TriedLlmAgent> {
  const { connectorSetup, tryWithin } = await import('./configuration.ts')
  const setup = await connectorSetup('llm')
  if (!setup) throw new SwitchboardError('internal', 'the connector llm asks nothing')
  const provider = options.provider ?? (options.baseUrl === undefined ? undefined : 'openai-compatible')
  // Servers of one's own take no key as a rule: it is not asked for, and taken where it is given.
  const keyless = provider === 'openai-compatible' && options.apiKeyFile === undefined
  const given = { provider, model: options.model }
  const flags = new Map(Object.entries(given).filter((one): one is [string, string] => one[1] !== undefined))
  const definition: Definition = defined({ base_url: options.baseUrl })
  const fromFile =
    options.apiKeyFile === undefined || options.apiKeyFile === '-' ? null : readKey(options.apiKeyFile)
  const questions = setup.questions.filter(({ key }) => key !== 'api_key' || (!keyless && fromFile === null))
  const read = (_key: string, written: string) => written
  const answers = await gatherAnswers(context, definition, {
    questions,
    flags,
    asks: true,
    yes: options.yes === true,
    read,
  })
  const key = fromFile ?? answers.get('api_key') ?? null
  const tried = { ...definition, ...withoutNulls({ api_key: key }) }
  const { who } = await tryWithin(setup, tried, TRY_WITHIN_MS).catch((thrown: unknown) => {
    const known = thrown instanceof SwitchboardError ? thrown : null
    const why = (known?.message ?? String(thrown)).replaceAll(key ?? '\0', '…')
    throw new SwitchboardError(known?.code ?? 'execution_failed', `the model was tried: ${why}`, {
      hint: 'nothing was kept: mend it and run the same again',
    })
  })
  context.note(`the model answers: this is ${oneLine(who)}`)
  return {
    connector: { type: 'llm', ...definition, ...(key === null ? {} : { api_key: `secret:${secretName}` }) },
    key,
    who,
  }
}

function readKey(file: string): string {
  try {
    const key = readFileSync(file, 'utf8').trim()
    if (key !== '') return key
  } catch {
    throw usage(`--api-key-file: ${oneLine(file)} cannot be read`)
  }
  throw usage(`--api-key-file: ${oneLine(file)} is empty`)
}
