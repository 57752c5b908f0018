// The options of a Discord integration, and their values once the secret is read.
import { z } from 'zod'
import { type IntegrationSettings, type PlatformDeps, SwitchboardError } from '../../contract/index.ts'
import { httpUrl, optionsProblem, secret } from '../../kit/option-words.ts'

const DEFAULT_API_URL = 'https://discord.com/api'
const API_VERSION = 10

export const discordOptions = z
  .strictObject({
    token: secret('The bot’s token.'),
    api_url: httpUrl('Base URL of the API.').default(DEFAULT_API_URL),
    message_content: z
      .boolean()
      .default(true)
      .describe(
        'Ask for the Message Content intent. Without it channels are heard only where the bot is mentioned.',
      ),
    threads: z
      .enum(['off', 'long', 'each'])
      .default('off')
      .describe(
        'Threads for answers in channels: for none, for the rest of a long one, or for each message.',
      ),
    commands: z.boolean().default(true).describe('Register the slash commands of the bot.'),
  })
  .describe('A Discord bot.')

export type DiscordOptions = z.output<typeof discordOptions>

export interface DiscordConfig {
  readonly id: string
  readonly token: string
  /** With the version, and without a slash at its end. */
  readonly apiUrl: string
  /** A private server may be on a private network and use plain http. */
  readonly ownServer: boolean
  readonly options: DiscordOptions
  /** Which parts of an answer quote the answered message. */
  readonly replyToMode: 'off' | 'first' | 'all'
}

/** Time limits. Tests make them short. */
export interface Timings {
  readonly requestTimeoutMs: number
  /** From the upgrade to Discord's hello. */
  readonly helloMs: number
  /** From the hello until the session is ready. */
  readonly readyMs: number
  /** A connection that lasted this long was a good one. */
  readonly steadyMs: number
  /** The shortest interval between heartbeats, even if a server asks for a shorter one. */
  readonly leastBeatMs: number
  /** Between two identifies. */
  readonly identifyMs: number
  /** After an invalid session: a random time up to this, at least a fifth of it. */
  readonly invalidMs: number
  readonly retryBaseMs: number
  readonly retryMaxMs: number
  /** After a refused token, intent or shard. */
  readonly refusedMs: number
  /** How long the link waits for the answer to a heartbeat. */
  readonly probeMs: number
  readonly chatIntervalMs: number
  /** How often typing is repeated. Discord drops it after ten seconds. */
  readonly typingMs: number
}

export const DEFAULT_TIMINGS: Timings = {
  requestTimeoutMs: 30_000,
  helloMs: 15_000,
  readyMs: 30_000,
  steadyMs: 10_000,
  leastBeatMs: 1_000,
  identifyMs: 5_500,
  invalidMs: 5_000,
  retryBaseMs: 1_000,
  retryMaxMs: 60_000,
  refusedMs: 60_000,
  probeMs: 10_000,
  chatIntervalMs: 1_000,
  typingMs: 8_000,
}

/** Reads and checks the options. Throws `config_invalid` naming the key, never the value. */
export function readConfig(
  deps: Pick<PlatformDeps, 'secret'> & {
    readonly integration: Pick<IntegrationSettings, 'id' | 'options' | 'replyToMode'>
  },
): DiscordConfig {
  const { id, options } = deps.integration
  const parsed = discordOptions.safeParse(options)
  if (!parsed.success) throw invalid(id, optionsProblem(parsed) ?? 'malformed')
  const base = parsed.data.api_url.replace(/(?<!\/)\/+$/, '').replace(/\/v\d{1,2}$/, '')
  const token = deps
    .secret(parsed.data.token)
    .trim()
    .replace(/^Bot\s+/i, '')
  // The token becomes a header. Invalid characters are reported here, and not as a network error.
  if (!/^[\x21-\x7e]+$/.test(token))
    throw invalid(id, 'token: is empty or has characters that no token of Discord has')
  return {
    id,
    token,
    apiUrl: `${base}/v${API_VERSION}`,
    ownServer: base !== DEFAULT_API_URL,
    options: parsed.data,
    replyToMode: deps.integration.replyToMode ?? 'first',
  }
}

function invalid(id: string, problem: string): SwitchboardError {
  return new SwitchboardError('config_invalid', `discord ${id}: ${problem}`)
}
