// The options of a mailbox, and their values once secrets are read.
import { z } from 'zod'
import { type IntegrationSettings, type PlatformDeps, SwitchboardError } from '../../contract/index.ts'
import { duration, httpUrl, optionsProblem, secret, text } from '../../kit/option-words.ts'
import { writesResultsBelow } from './providers.ts'

const mailServer = (what: string, port: number) =>
  z
    .strictObject({
      host: text(`Host of the ${what} server.`),
      port: z.int().min(1).max(65_535).default(port).describe('Port.'),
      user: text('User name. The address, where it is left out.').optional(),
      password: secret('Password, or an app password.').optional(),
      tls: z
        .union([z.boolean(), z.literal('starttls')], { error: 'expected true, false or starttls' })
        .default(true)
        .describe('TLS from the start, starttls (refused where the server has none), or false for none.'),
      ca: secret('Certificates of an authority of one’s own, as PEM.').optional(),
    })
    .describe(`The ${what} server.`)

const oauth2 = z
  .strictObject({
    token_url: httpUrl('Where the provider gives access tokens.'),
    client_id: text('Id of the app that was registered at the provider.'),
    client_secret: secret('Its secret; some providers need none.').optional(),
    refresh_token: secret('The refresh token that the owner of the mailbox granted.'),
    scope: text('Scopes to ask for, where the provider needs them at each refresh.').optional(),
  })
  .describe('OAuth2 in place of passwords, for both servers.')

const after = z
  .strictObject({
    seen: z.boolean().default(true).describe('Mark it as seen.'),
    keyword: z
      .string()
      .regex(/^[A-Za-z0-9_$.-]{1,50}$/, { error: 'expected up to 50 letters, digits, _, $, . and -' })
      .optional()
      .describe('A keyword that it gets.'),
    move_to: text('A folder that it is moved to.').optional(),
  })
  .prefault({})
  .describe('What is done with a mail once it was received.')

const authserv = z
  .union([text('One.'), z.array(text('One.')).min(1).max(10)])
  .describe('The server (or servers; *.example.org for many) whose Authentication-Results header counts.')

export const emailOptions = z
  .strictObject({
    address: text('The address that mail is sent from and to.'),
    name: text('The name beside it.').optional(),
    imap: mailServer('IMAP', 993),
    smtp: mailServer('SMTP', 465),
    oauth2: oauth2.optional(),
    mailbox: text('The folder that is read.').default('INBOX'),
    after,
    sent_folder: text(
      'Where copies of what was sent are kept. Absent: the folder that the server marks as such.',
    ).optional(),
    poll_interval: duration('How often the mailbox is looked at beside IDLE.', 60_000),
    require_auth_results: z
      .boolean()
      .default(true)
      .describe(
        'Only senders proven by Authentication-Results, or by DKIM, pass. false: From is believed, so anybody who knows an address of `access.allow_from` can write as that person.',
      ),
    authserv_id: authserv.optional(),
    results_below_received: z
      .boolean()
      .optional()
      .describe(
        'Also believe Authentication-Results below the topmost Received. Only where the server takes headers of its own name out of mail that comes in. Absent: true for Gmail, Fastmail and iCloud.',
      ),
    verify_dkim: z
      .boolean()
      .default(true)
      .describe('Verify DKIM here where Authentication-Results do not prove the sender.'),
    automatic_from: z
      .array(text('An address.'))
      .max(1_000)
      .default([])
      .describe('Senders whose automatic mail is taken all the same.'),
    answers_per_hour: z
      .int()
      .min(1)
      .max(10_000)
      .default(60)
      .describe('The most that is sent to one address in an hour.'),
    reply_token: z
      .enum(['subject', 'address', 'none'])
      .default('subject')
      .describe('Where a mail that begins a thread carries its token, for clients that drop headers.'),
    max_mail_bytes: z
      .int()
      .min(65_536)
      .max(104_857_600)
      .default(26_214_400)
      .describe('Of a larger mail only the beginning of the text is read, and no attachment.'),
  })
  .describe('A mailbox.')

export type EmailOptions = z.output<typeof emailOptions>

export interface ServerLogin {
  readonly host: string
  readonly port: number
  readonly tls: boolean | 'starttls'
  readonly user: string
  /** Null: sign-in is by OAuth2, or there is none. */
  readonly password: string | null
  readonly ca: string | null
}

export interface OauthLogin {
  readonly tokenUrl: string
  readonly clientId: string
  readonly clientSecret: string | null
  readonly refreshToken: string
  readonly scope: string | null
}

export interface EmailConfig {
  readonly id: string
  /** Lower-case, as it is compared. */
  readonly address: string
  readonly domain: string
  readonly imap: ServerLogin
  readonly smtp: ServerLogin
  readonly oauth: OauthLogin | null
  readonly authservIds: readonly string[]
  readonly belowReceived: boolean
  readonly automaticFrom: ReadonlySet<string>
  readonly options: EmailOptions
}

/** Time limits. Tests make them short. */
export interface Timings {
  readonly connectMs: number
  /** For the answer to a command. */
  readonly commandMs: number
  readonly sendMs: number
  /** The delay before a busy server is asked again. */
  readonly busyMs: number
  readonly retryBaseMs: number
  readonly retryMaxMs: number
  /** A mail whose send was interrupted is looked up in Sent twice. This is the time between the two look-ups. */
  readonly settleMs: number
  /** An idle side connection is closed after this time. */
  readonly sideIdleMs: number
}

export const DEFAULT_TIMINGS: Timings = {
  connectMs: 20_000,
  commandMs: 30_000,
  sendMs: 60_000,
  busyMs: 30_000,
  retryBaseMs: 1_000,
  retryMaxMs: 60_000,
  settleMs: 3_000,
  sideIdleMs: 20_000,
}

/** Reads and checks the options. Throws `config_invalid` naming the key, never the value. */
export function readConfig(
  deps: Pick<PlatformDeps, 'secret'> & { readonly integration: Pick<IntegrationSettings, 'id' | 'options'> },
): EmailConfig {
  const { id, options } = deps.integration
  const parsed = emailOptions.safeParse(options)
  if (!parsed.success) throw invalid(id, optionsProblem(parsed) ?? 'malformed')
  const { data } = parsed
  const address = data.address.trim().toLowerCase()
  if (!/^[^\s@<>"(),:;[\]\\]+@[a-z0-9.-]+$/.test(address)) throw invalid(id, 'address: is no mail address')
  const login = (key: 'imap' | 'smtp'): ServerLogin => {
    const { host, port, tls, user, password, ca } = data[key]
    const words = password === undefined ? null : deps.secret(password).trim()
    if (words === '') throw invalid(id, `${key}.password: is empty`)
    if (words === null && data.oauth2 === undefined && key === 'imap')
      throw invalid(id, 'imap: needs "password", or oauth2 beside it')
    return {
      host,
      port,
      tls,
      user: user ?? address,
      password: words,
      ca: ca === undefined ? null : deps.secret(ca),
    }
  }
  return {
    id,
    address,
    domain: address.slice(address.lastIndexOf('@') + 1),
    imap: login('imap'),
    smtp: login('smtp'),
    oauth: data.oauth2 === undefined ? null : oauthOf(data.oauth2, deps.secret),
    authservIds: [data.authserv_id ?? []].flat(),
    belowReceived: data.results_below_received ?? writesResultsBelow(data.imap.host),
    automaticFrom: new Set(data.automatic_from.map((one) => one.trim().toLowerCase())),
    options: data,
  }
}

function oauthOf(given: z.output<typeof oauth2>, secretOf: PlatformDeps['secret']): OauthLogin {
  return {
    tokenUrl: given.token_url,
    clientId: given.client_id,
    clientSecret: given.client_secret === undefined ? null : secretOf(given.client_secret).trim(),
    refreshToken: secretOf(given.refresh_token).trim(),
    scope: given.scope ?? null,
  }
}

function invalid(id: string, problem: string): SwitchboardError {
  return new SwitchboardError('config_invalid', `email ${id}: ${problem}`)
}
