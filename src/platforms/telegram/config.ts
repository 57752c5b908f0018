// The options of a Telegram integration, and their values once secrets are read.
import { z } from 'zod'
import { type IntegrationSettings, type PlatformDeps, SwitchboardError } from '../../contract/index.ts'
import { httpUrl, optionsProblem, secret } from '../../kit/option-words.ts'

const DEFAULT_API_ROOT = 'https://api.telegram.org'

export const telegramOptions = z
  .strictObject({
    token: secret('The bot’s token.'),
    mode: z.enum(['polling', 'webhook']).default('polling').describe('How updates come.'),
    secret_token: secret('Secret token of the webhook.').optional(),
    api_root: httpUrl('Base URL of the Bot API.').default(DEFAULT_API_ROOT),
  })
  .superRefine((bot, context) => {
    if (bot.mode === 'webhook' && bot.secret_token === undefined) {
      context.addIssue({ code: 'custom', path: ['mode'], message: 'mode webhook needs "secret_token"' })
    }
  })
  .describe('A Telegram bot.')

export interface TelegramConfig {
  readonly id: string
  readonly token: string
  /** The bot's user id, from the token's part before the colon; 0 for tokens of another form. */
  readonly botId: number
  readonly apiRoot: string
  /** A private server may be on a private network and use plain http. */
  readonly ownServer: boolean
  /** Null: long polling. */
  readonly webhook: { readonly secret: string; readonly url: string | null } | null
}

/** Time limits. Tests make them short. */
export interface Timings {
  readonly pollTimeoutMs: number
  /** A poll may exceed its own timeout by this much before the link counts as deaf. */
  readonly pollMarginMs: number
  readonly requestTimeoutMs: number
  /** How long an album at the end of a batch may grow. */
  readonly albumSettleMs: number
  /** How often the state of the webhook is read from Telegram. */
  readonly webhookLookMs: number
  readonly retryBaseMs: number
  readonly retryMaxMs: number
  readonly conflictBaseMs: number
  readonly conflictMaxMs: number
  /** Between messages to one chat, after a short burst. */
  readonly chatIntervalMs: number
  /** Between two edits of an answer that is being written. */
  readonly reviseEveryMs: number
}

export const DEFAULT_TIMINGS: Timings = {
  pollTimeoutMs: 25_000,
  pollMarginMs: 10_000,
  requestTimeoutMs: 30_000,
  albumSettleMs: 600,
  webhookLookMs: 180_000,
  retryBaseMs: 1_000,
  retryMaxMs: 60_000,
  conflictBaseMs: 3_000,
  conflictMaxMs: 300_000,
  chatIntervalMs: 1_000,
  reviseEveryMs: 3_000,
}

/** Reads and checks the options. Throws `config_invalid` naming the key, never the value. */
export function readConfig(
  deps: Pick<PlatformDeps, 'secret' | 'publicUrl'> & {
    readonly integration: Pick<IntegrationSettings, 'id' | 'options'>
  },
): TelegramConfig {
  const { id, options } = deps.integration
  const parsed = telegramOptions.safeParse(options)
  if (!parsed.success) throw invalid(id, optionsProblem(parsed) ?? 'malformed')
  const { token: reference, mode, secret_token, api_root } = parsed.data
  const token = deps.secret(reference).trim()
  if (!/^[\w:.-]+$/.test(token)) {
    throw invalid(id, 'token: does not look like the token of a bot (digits, a colon, letters and digits)')
  }
  const apiRoot = api_root.replace(/(?<!\/)\/+$/, '')
  return {
    id,
    token,
    botId: Number(/^(\d{1,15}):/.exec(token)?.[1] ?? 0),
    apiRoot,
    ownServer: apiRoot !== DEFAULT_API_ROOT,
    webhook:
      mode === 'webhook' && secret_token !== undefined
        ? { secret: webhookSecret(id, deps.secret(secret_token)), url: webhookUrl(deps.publicUrl, id) }
        : null,
  }
}

function webhookUrl(publicUrl: string | null | undefined, id: string): string | null {
  return publicUrl ? `${publicUrl.replace(/(?<!\/)\/+$/, '')}/hooks/${encodeURIComponent(id)}` : null
}

// The Bot API accepts only these characters.
function webhookSecret(id: string, secret: string): string {
  if (/^[\w-]{1,256}$/.test(secret)) return secret
  throw invalid(id, 'secret_token: 1 to 256 of A-Z, a-z, 0-9, _ and -')
}

function invalid(id: string, problem: string): SwitchboardError {
  return new SwitchboardError('config_invalid', `telegram ${id}: ${problem}`)
}
