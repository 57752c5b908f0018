// The module of the platform `whatsapp`: what Switchboard knows before it runs one.
import { randomBytes } from 'node:crypto'
import type { PlatformModule } from '../../contract/index.ts'
import { whatsappOptions } from './config.ts'

export const whatsappModule: PlatformModule = {
  name: 'whatsapp',
  options: whatsappOptions,
  docs: 'docs/platforms/whatsapp.md',
  title: 'WhatsApp',
  defaultAccess: { dm: 'pairing' },
  setup: {
    questions: [
      {
        key: 'phone_number_id',
        flag: 'phone-number-id',
        ask: 'phone number id (API Setup in the app dashboard)',
      },
      { key: 'access_token', flag: 'access-token', ask: 'access token', secret: true },
      { key: 'app_secret', flag: 'app-secret', ask: 'app secret (App settings, Basic)', secret: true },
      {
        key: 'verify_token',
        flag: 'verify-token',
        ask: 'verify token (any text of your own)',
        secret: true,
        fresh: () => randomBytes(16).toString('hex'),
      },
    ],
    try: async (options, { clock }) => (await import('./try-token.ts')).tryToken(options, clock),
    // Meta immediately asks the URL for the verify token.
    pasteLast: true,
    paste: ({ id, base }) => [
      'In the app dashboard, WhatsApp, Configuration, Webhook:',
      `  Callback URL: ${base}/hooks/${id}`,
      '  Verify token: the one that was given or made here',
      '  then Verify and save, and subscribe to the field: messages',
    ],
  },
  doctor: ({ id }, { publicUrl }) =>
    publicUrl === null
      ? [
          {
            gate: 'callback URL',
            pass: true,
            flagged: true,
            reason: `WhatsApp must be told where to post: set the callback URL to https://HOST/hooks/${id}`,
            key: 'server.public_url',
          },
        ]
      : [],
  create: async (deps) => (await import('./index.ts')).createWhatsApp(deps),
}
