// The module of the platform `discord`: what Switchboard knows before it runs one.
import { type Options, type PlatformModule, SwitchboardError } from '../../contract/index.ts'
import { INVITE_BITS, inviteUrl, PERMISSIONS } from './api/permissions.ts'
import { discordOptions } from './config.ts'

/** `discord://`, or `discord://TOKEN`. Other programs write channel webhooks this way; those are not accepted. */
function fromLine(rest: string): Readonly<Record<string, string>> {
  const [token = '', ...more] = rest.split('/').filter((part) => part !== '')
  if (more.length > 0)
    throw new SwitchboardError('input_invalid', 'discord:// takes the bot’s token alone', {
      hint: 'for the webhook of a channel use platform webhook with out.format: discord',
    })
  return token === '' ? {} : { token }
}

/** The printed set-up: the settings at Discord, and the invitation link with exactly the used permissions. */
function pasteLines({ options }: { readonly options: Options }): readonly string[] {
  const content = options.message_content !== false
  return [
    '1. At https://discord.com/developers/applications choose "New Application" and give it a name.',
    '2. "Bot": "Reset Token" shows the token, for token. It is shown once.',
    content
      ? '3. "Bot", "Privileged Gateway Intents": switch on "Message Content Intent". The others stay off.'
      : '3. "Bot", "Privileged Gateway Intents": all stay off, for message_content is false.',
    '4. "General Information" shows the application id. Open this link with it in place of APPLICATION_ID, and choose your server:',
    '',
    inviteUrl('APPLICATION_ID'),
    '',
    `It asks for ${PERMISSIONS.length} permissions (${INVITE_BITS}): ${PERMISSIONS.map(({ name }) => name).join(', ')}.`,
    `Intents that are used: Guilds, Guild Messages, Guild Message Reactions, Direct Messages, Direct Message Reactions${content ? ', Message Content' : ''}.`,
  ]
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
