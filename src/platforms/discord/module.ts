// The module of the platform `discord`: what Switchboard knows before it runs one.
import { type PlatformModule, SwitchboardError } from '../../contract/index.ts'
import { discordOptions } from './config.ts'
import { pasteLines } from './setup-lines.ts'

/** `discord://`, or `discord://TOKEN`. Other programs write channel webhooks this way; those are not accepted. */
function fromLine(rest: string): Readonly<Record<string, string>> {
  const [token = '', ...more] = rest.split('/').filter((part) => part !== '')
  if (more.length > 0)
    throw new SwitchboardError('input_invalid', 'discord:// takes the bot’s token alone', {
      hint: 'for the webhook of a channel use platform webhook with out.format: discord',
    })
  return token === '' ? {} : { token }
}

export const discordModule: PlatformModule = {
  name: 'discord',
  options: discordOptions,
  docs: 'docs/platforms/discord.md',
  title: 'Discord',
  defaultAccess: { dm: 'pairing' },
  setup: {
    questions: [{ key: 'token', flag: 'token', ask: 'token of the bot', secret: true }],
    try: async (options, { clock }) => (await import('./try-token.ts')).tryToken(options, clock),
    paste: pasteLines,
    schemes: { discord: fromLine },
  },
  create: async (deps) => (await import('./index.ts')).createDiscord(deps),
}
