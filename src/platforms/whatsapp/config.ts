// The options of a WhatsApp number, and their values once secrets are read.
import { z } from 'zod'
import { type IntegrationSettings, type PlatformDeps, SwitchboardError } from '../../contract/index.ts'
import { httpUrl, optionsProblem, secret, text } from '../../kit/option-words.ts'

const DEFAULT_API_URL = 'https://graph.facebook.com'

export const whatsappOptions = z
  .strictObject({
    phone_number_id: text('Id of the phone number, as the app dashboard shows it; not the number itself.'),
    access_token: secret('Access token of the Cloud API.'),
    app_secret: secret('App secret that signs webhooks.'),
    verify_token: secret('Token of the webhook’s verification: any text, the same as in the app dashboard.'),
    api_url: httpUrl('Base URL of the Graph API.').default(DEFAULT_API_URL),
    api_version: z
      .string()
      .regex(/^v\d{1,3}\.\d$/, { error: 'expected a version such as v25.0' })
      .default('v25.0')
      .describe('Version of the Graph API.'),
    read_receipts: z
      .boolean()
      .default(true)
      .describe('Tell people that their message was read once the agent has it.'),
  })
  .describe('A WhatsApp Cloud API number.')

export interface WhatsAppConfig {
  readonly id: string
  readonly phoneNumberId: string
  readonly accessToken: string
  readonly appSecret: string
  readonly verifyToken: string
  /** With the version, and without a slash at its end. */
  readonly apiUrl: string
  /** A private server may be on a private network and use plain http. */
  readonly ownServer: boolean
  readonly readReceipts: boolean
}

/** Time limits. Tests make them short. */
export interface Timings {
  readonly requestTimeoutMs: number
  readonly retryBaseMs: number
  readonly retryMaxMs: number
  /** After this time Meta hears that the post was not stored, and posts it again. */
  readonly answerMs: number
  /** Between messages to one person, after the burst. */
  readonly pairIntervalMs: number
  /** How often "typing" is repeated. WhatsApp drops it after 25 seconds. */
  readonly typingMs: number
}

export const DEFAULT_TIMINGS: Timings = {
  requestTimeoutMs: 30_000,
  retryBaseMs: 1_000,
  retryMaxMs: 60_000,
  answerMs: 8_000,
  pairIntervalMs: 6_000,
  typingMs: 20_000,
}

/** Reads and checks the options. Throws `config_invalid` naming the key, never the value. */
export function readConfig(
  deps: Pick<PlatformDeps, 'secret'> & {
    readonly integration: Pick<IntegrationSettings, 'id' | 'options'>
  },
): WhatsAppConfig {
  const { id, options } = deps.integration
  const parsed = whatsappOptions.safeParse(options)
  if (!parsed.success) throw invalid(id, optionsProblem(parsed) ?? 'malformed')
  const { phone_number_id, access_token, app_secret, verify_token, api_url, api_version, read_receipts } =
    parsed.data
  // The id becomes part of a path, so other characters are refused.
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(phone_number_id))
    throw invalid(id, 'phone_number_id: is no id; the app dashboard shows it under API Setup')
  const read = (key: string, reference: string) => {
    const value = deps.secret(reference).trim()
    // The token becomes a header. Invalid characters are reported here, and not as a network error.
    if (/^[\x21-\x7e]+$/.test(value)) return value
    throw invalid(id, `${key}: is empty or has characters that cannot be sent`)
  }
  const base = api_url.replace(/(?<!\/)\/+$/, '')
  return {
    id,
    phoneNumberId: phone_number_id,
    accessToken: read('access_token', access_token),
    appSecret: read('app_secret', app_secret),
    verifyToken: read('verify_token', verify_token),
    apiUrl: /\/v\d{1,3}\.\d$/.test(base) ? base : `${base}/${api_version}`,
    ownServer: base !== DEFAULT_API_URL,
    readReceipts: read_receipts,
  }
}

function invalid(id: string, problem: string): SwitchboardError {
  return new SwitchboardError('config_invalid', `whatsapp ${id}: ${problem}`)
}
