// The part of the schema for integrations: one strict shape per platform, told apart by `platform`.
import { z } from 'zod'
import { accessSchema } from './access.ts'
import { httpUrl, id, secret, text } from './words.ts'

export const replyToMode = z
  .enum(['off', 'first', 'all'])
  .describe('Which parts of an answer quote the message they answer.')
export const textChunkLimit = z
  .int()
  .min(64)
  .max(100_000)
  .describe('Longest text of one message, in characters; never above the platform’s own limit.')

const common = {
  id: id('The id of an integration'),
  enabled: z.boolean().default(true).describe('False keeps it configured but off.'),
  default: z
    .boolean()
    .default(false)
    .describe('Where notify_user goes when no channel is named. One at most.'),
  scope: z
    .union([z.literal('all'), z.strictObject({ agents: z.array(text('An agent’s id.')) })], {
      error: 'expected "all" or { agents: [id, …] }',
    })
    .optional()
    .describe('Which agents may send through it: all, or named ones. Default: the agents bound to it.'),
  access: accessSchema.optional(),
  ack_reaction: z
    .string()
    .optional()
    .describe('Reaction once the agent has the message. Default: the tunable.'),
  reply_to_mode: replyToMode.optional(),
  text_chunk_limit: textChunkLimit.optional(),
}

const mailServer = (what: string, port: number) =>
  z
    .strictObject({
      host: text(`Host of the ${what} server.`),
      port: z.int().min(1).max(65_535).default(port).describe('Port.'),
      user: text('User name.').optional(),
      password: secret('Password.').optional(),
      tls: z
        .union([z.boolean(), z.literal('starttls')], { error: 'expected true, false or starttls' })
        .default(true)
        .describe('TLS from the start, starttls, or false for none.'),
    })
    .describe(`The ${what} server.`)

const web = z
  .strictObject({ ...common, platform: z.literal('web') })
  .describe('The chat page of this server.')

const webhook = z
  .strictObject({
    ...common,
    platform: z.literal('webhook'),
    secret: secret('Shared secret of the HMAC (or of the plain header).').optional(),
    signature: z
      .enum(['github', 'plain'])
      .default('github')
      .describe('github: HMAC in X-Hub-Signature-256. plain: the secret itself in a header.'),
    sender_header: text(
      'Trusted header that names the sender; from loopback only, unless behind_proxy.',
    ).optional(),
    behind_proxy: z
      .boolean()
      .default(false)
      .describe('A proxy in front sets sender_header itself and lets nobody else set it.'),
    two_way: z.boolean().default(false).describe('Answers are streamed at /hooks/ID/events.'),
    template: text('How the body becomes text; {{path.to.field}} is filled from the JSON body.').optional(),
    out: z
      .strictObject({
        url: text('Where answers are posted: a URL, or a reference to one.'),
        secret: secret('Signs what is posted (X-Signature-256).').optional(),
        allow_private: z.boolean().default(false).describe('Allow private and loopback addresses.'),
      })
      .optional()
      .describe('Answers are posted to a URL.'),
  })
  .superRefine((hook, context) => {
    if (hook.secret === undefined && hook.sender_header === undefined) {
      context.addIssue({
        code: 'custom',
        path: [],
        message:
          'a webhook needs "secret" (its signature is checked) or "sender_header" (a trusted header names the sender)',
      })
    }
    if (hook.secret !== undefined && hook.sender_header !== undefined) {
      context.addIssue({
        code: 'custom',
        path: ['sender_header'],
        message: 'a webhook takes either "secret" or "sender_header", not both',
      })
    }
    if (hook.two_way && hook.out !== undefined) {
      context.addIssue({
        code: 'custom',
        path: ['out'],
        message: 'a webhook takes either "two_way" (a stream) or "out" (a URL), not both',
      })
    }
    if (hook.sender_header !== undefined && !/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(hook.sender_header)) {
      context.addIssue({
        code: 'custom',
        path: ['sender_header'],
        message: 'is not the name of an HTTP header',
      })
    }
    const url = hook.out?.url
    if (url !== undefined && !/^(https?:\/\/|env:|file:|secret:)/.test(url)) {
      context.addIssue({
        code: 'custom',
        path: ['out', 'url'],
        message: 'expected a URL that starts with http:// or https://, or a reference to one',
      })
    }
  })
  .describe('Messages by POST /hooks/ID.')

const telegram = z
  .strictObject({
    ...common,
    platform: z.literal('telegram'),
    token: secret('The bot’s token.'),
    mode: z.enum(['polling', 'webhook']).default('polling').describe('How updates come.'),
    secret_token: secret('Secret token of the webhook.').optional(),
    api_root: httpUrl('Base URL of the Bot API.').default('https://api.telegram.org'),
  })
  .superRefine((bot, context) => {
    if (bot.mode === 'webhook' && bot.secret_token === undefined) {
      context.addIssue({ code: 'custom', path: ['mode'], message: 'mode webhook needs "secret_token"' })
    }
  })
  .describe('A Telegram bot.')

const slack = z
  .strictObject({
    ...common,
    platform: z.literal('slack'),
    bot_token: secret('The bot token (xoxb-).'),
    mode: z.enum(['socket', 'events']).default('socket').describe('How events come.'),
    app_token: secret('The app-level token (xapp-), for mode socket.').optional(),
    signing_secret: secret('The signing secret, for mode events.').optional(),
    api_url: httpUrl('Base URL of the Web API.').default('https://slack.com/api/'),
  })
  .superRefine((app, context) => {
    const needed = app.mode === 'socket' ? 'app_token' : 'signing_secret'
    if (app[needed] === undefined) {
      context.addIssue({ code: 'custom', path: [], message: `slack in mode ${app.mode} needs "${needed}"` })
    }
  })
  .describe('A Slack app.')

const discord = z
  .strictObject({
    ...common,
    platform: z.literal('discord'),
    token: secret('The bot’s token.'),
    api_url: httpUrl('Base URL of the API.').default('https://discord.com/api'),
  })
  .describe('A Discord bot.')

const email = z
  .strictObject({
    ...common,
    platform: z.literal('email'),
    address: text('The address that mail is sent from and to.'),
    imap: mailServer('IMAP', 993),
    smtp: mailServer('SMTP', 465),
    require_auth_results: z
      .boolean()
      .default(true)
      .describe('Only senders proven by Authentication-Results pass.'),
    authserv_id: text('The server whose Authentication-Results header counts.').optional(),
  })
  .describe('A mailbox.')

const chorus = z
  .strictObject({
    ...common,
    platform: z.literal('chorus'),
    name: text('Name shown to the service.').optional(),
    allow_private: z.boolean().default(false).describe('Allow callbacks to private and loopback addresses.'),
    identity: z.boolean().default(false).describe('Answer a GET of the connection string with the name.'),
  })
  .describe('A Chorus service; `switchboard chorus connect ID` mints its connection string.')

const imessage = z
  .strictObject({
    ...common,
    platform: z.literal('imessage'),
    db_path: text('Path of chat.db.').optional(),
    allow_sms: z.boolean().default(false).describe('Also take SMS, whose senders can be forged.'),
  })
  .describe('Messages on this Mac.')

const whatsapp = z
  .strictObject({
    ...common,
    platform: z.literal('whatsapp'),
    phone_number_id: text('Id of the phone number.'),
    access_token: secret('Access token of the Cloud API.'),
    app_secret: secret('App secret that signs webhooks.'),
    verify_token: secret('Token of the webhook’s verification.'),
    api_url: httpUrl('Base URL of the Graph API.').default('https://graph.facebook.com'),
  })
  .describe('A WhatsApp Cloud API number.')

export const integrationSchema = z.discriminatedUnion('platform', [
  web,
  webhook,
  telegram,
  slack,
  discord,
  email,
  chorus,
  imessage,
  whatsapp,
])

export type IntegrationConfig = z.output<typeof integrationSchema>

export const PLATFORM_NAMES = integrationSchema.options.map((option) => option.shape.platform.value)
export const COMMON_INTEGRATION_KEYS: readonly string[] = ['platform', ...Object.keys(common)]
