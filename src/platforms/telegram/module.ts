// What Switchboard knows of the platform `telegram` before it runs one.
import type { PlatformModule } from '../../contract/index.ts'
import { telegramOptions } from './config.ts'

export const telegramModule: PlatformModule = {
  name: 'telegram',
  options: telegramOptions,
  docs: 'docs/platforms/telegram.md',
  defaultAccess: { dm: 'pairing' },
  setup: {
    questions: [{ key: 'token', flag: 'token', ask: 'token of the bot (from @BotFather)', secret: true }],
    try: async (options, { clock }) => (await import('./try-token.ts')).tryToken(options, clock),
  },
  doctor: ({ id, options }, { publicUrl }) =>
    options.mode === 'webhook' && publicUrl === null
      ? [
          {
            gate: 'webhook',
            pass: true,
            flagged: true,
            reason: `nobody tells Telegram where to post: call setWebhook yourself with https://HOST/hooks/${id}`,
            key: 'server.public_url',
          },
        ]
      : [],
  create: async (deps) => (await import('./index.ts')).createTelegram(deps),
}
