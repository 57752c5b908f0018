// The options of a Slack integration, and their values once secrets are read.
import { z } from 'zod'
import { type IntegrationSettings, type PlatformDeps, SwitchboardError } from '../../contract/index.ts'
import { httpUrl, optionsProblem, secret, text } from '../../kit/option-words.ts'

const DEFAULT_API_URL = 'https://slack.com/api/'

const prompt = z
  .strictObject({ title: text('What the button says.'), message: text('What it writes.') })
  .describe('One prompt.')

export const slackOptions = z
  .strictObject({
    bot_token: secret('The bot token (xoxb-).'),
    mode: z.enum(['socket', 'events']).default('socket').describe('How events come.'),
    app_token: secret('The app-level token (xapp-), for mode socket.').optional(),
    signing_secret: secret('The signing secret, for mode events.').optional(),
    api_url: httpUrl('Base URL of the Web API.').default(DEFAULT_API_URL),
    surface: z
      .enum(['none', 'agent', 'assistant'])
      .default('agent')
      .describe('Slack’s surface for agents: agent for new apps, assistant for older ones.'),
    suggested_prompts: z.array(prompt).max(4).default([]).describe('Shown where a person opens the agent.'),
    command: z
      .string()
      .regex(/^\/[a-z0-9_-]{1,31}$/, { error: 'expected a slash and up to 31 of a-z, 0-9, _ and -' })
      .optional()
      .describe('A slash command for the manifest, such as /switchboard.'),
    shortcut: z.boolean().default(false).describe('A shortcut on messages, for the manifest.'),
  })
  .superRefine((app, context) => {
    const needed = app.mode === 'socket' ? 'app_token' : 'signing_secret'
    if (app[needed] === undefined) {
      context.addIssue({ code: 'custom', path: [], message: `slack in mode ${app.mode} needs "${needed}"` })
    }
  })
  .describe('A Slack app.')

export type SlackOptions = z.output<typeof slackOptions>

export interface SlackConfig {
  readonly id: string
  readonly botToken: string
  /** Null: mode events. */
  readonly appToken: string | null
  /** Null: mode socket. */
  readonly signingSecret: string | null
  /** Ends with a slash. */
  readonly apiUrl: string
  /** A private server may be on a private network and use plain http. */
  readonly ownServer: boolean
  readonly options: SlackOptions
  /** Where answers go: `off` beside the message, `first` in channels into its thread, `all` in direct chats too. */
  readonly replyToMode: 'off' | 'first' | 'all'
}

/** Time limits. Tests make them short. */
export interface Timings {
  readonly requestTimeoutMs: number
  /** From the upgrade to Slack's hello. */
  readonly helloMs: number
  /** Between our pings. A connection that misses two is closed. */
  readonly pingMs: number
  /** After the next connection is ready, the old one may bring its last envelopes for this long. */
  readonly drainMs: number
  readonly retryBaseMs: number
  readonly retryMaxMs: number
  /** After link_disabled or a refused token. */
  readonly refusedMs: number
  /** How long a message waits for the names in it. */
  readonly namesMs: number
  /** After this time the Events API hears that it was not stored. Slack waits three seconds, and posts it again. */
  readonly answerMs: number
  readonly chatIntervalMs: number
  /** How often a status is repeated. Slack drops it after two minutes. */
  readonly statusMs: number
  /** In mode events: how often Slack's API is checked. */
  readonly checkMs: number
}

export const DEFAULT_TIMINGS: Timings = {
  requestTimeoutMs: 30_000,
  helloMs: 10_000,
  pingMs: 15_000,
  drainMs: 5_000,
  retryBaseMs: 1_000,
  retryMaxMs: 60_000,
  refusedMs: 60_000,
  namesMs: 800,
  answerMs: 2_500,
  chatIntervalMs: 1_000,
  statusMs: 90_000,
  checkMs: 60_000,
}

/** Reads and checks the options. Throws `config_invalid` naming the key, never the value. */
export function readConfig(
  deps: Pick<PlatformDeps, 'secret'> & {
    readonly integration: Pick<IntegrationSettings, 'id' | 'options' | 'replyToMode'>
  },
): SlackConfig {
  const { id, options } = deps.integration
  const parsed = slackOptions.safeParse(options)
  if (!parsed.success) throw invalid(id, optionsProblem(parsed) ?? 'malformed')
  const { bot_token, app_token, signing_secret, mode, api_url } = parsed.data
  const apiUrl = api_url.endsWith('/') ? api_url : `${api_url}/`
  const read = (key: string, reference: string) => {
    const value = deps.secret(reference).trim()
    // The token becomes a header. Invalid characters are reported here, and not as a network error.
    if (/^[\x21-\x7e]+$/.test(value)) return value
    throw invalid(id, `${key}: is empty or has characters that no token of Slack has`)
  }
  const appToken = mode === 'socket' && app_token !== undefined ? read('app_token', app_token) : null
  return {
    id,
    botToken: read('bot_token', bot_token),
    appToken,
    signingSecret:
      mode === 'events' && signing_secret !== undefined ? read('signing_secret', signing_secret) : null,
    apiUrl,
    ownServer: apiUrl !== DEFAULT_API_URL,
    options: parsed.data,
    replyToMode: deps.integration.replyToMode ?? 'first',
  }
}

function invalid(id: string, problem: string): SwitchboardError {
  return new SwitchboardError('config_invalid', `slack ${id}: ${problem}`)
}
