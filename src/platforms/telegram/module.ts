// The module of the platform `telegram`: what Switchboard knows before it runs one.
import { type PlatformModule, SwitchboardError } from '../../contract/index.ts'
import { telegramOptions } from './config.ts'

/** `tgram://`, or `tgram://TOKEN`. Chats after the token are ignored. */
function fromLine(rest: string): Readonly<Record<string, string>> {
  const [token = '', ...chats] = rest.split('/').filter((part) => part !== '')
  if (chats.length > 0)
    throw new SwitchboardError('input_invalid', 'tgram:// takes the token alone', {
      hint: 'leave the chats out: who writes to the bot is paired',
    })
  return token === '' ? {} : { token }
}

export const telegramModule: PlatformModule = {
  name: 'telegram',
  options: telegramOptions,
  docs: 'docs/platforms/telegram.md',
  title: 'Telegram',
  defaultAccess: { dm: 'pairing' },
  setup: {
    questions: [{ key: 'token', flag: 'token', ask: 'token of the bot (from @BotFather)', secret: true }],
    try: async (options, { clock }) => (await import('./try-token.ts')).tryToken(options, clock),
    paste: () => [
      '1. In Telegram write to @BotFather (https://t.me/BotFather): /newbot',
      '2. Answer with a name, and with a user name that ends in "bot".',
      '3. It answers with the token of the bot: 123456789:AA…',
      '4. For groups, where it is to read more than what mentions it: /setprivacy, your bot, Disable.',
    ],
    url: ({ who }) => (who?.startsWith('@') ? `https://t.me/${who.slice(1)}` : null),
    schemes: { tgram: fromLine, telegram: fromLine },
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
