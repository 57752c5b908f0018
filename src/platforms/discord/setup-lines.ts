// What the set-up prints: the settings at Discord, and the invitation link with exactly the used permissions.
import type { Options } from '../../contract/index.ts'
import { INVITE_BITS, inviteUrl, PERMISSIONS } from './api/permissions.ts'

export function pasteLines({ options }: { readonly options: Options }): readonly string[] {
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
