// A bot's gates for doctor: its intents, and its permissions in each server.
import type { GateView } from '../../../contract/index.ts'
import type { DiscordAnswer } from '../api/client.ts'
import { bitsOf, inviteUrl, PERMISSIONS } from '../api/permissions.ts'
import type { Self } from '../api/self.ts'
import type { DiscordOptions } from '../config.ts'

/** Flags of the application: the intent is switched on, for a large or a small bot. */
const CONTENT_FLAGS = (1 << 18) | (1 << 19)
const ADMINISTRATOR = 1n << 3n
const SWITCH = 'discord.com/developers/applications, Bot, Privileged Gateway Intents'
const MOST_SHOWN = 20

export function intentGates(
  self: Self | null,
  options: DiscordOptions,
  wasBlank: boolean,
): readonly GateView[] {
  if (!options.message_content)
    return [
      {
        gate: 'intents',
        pass: true,
        flagged: true,
        reason: 'message_content is false: in servers only mentions, replies to the bot and /ask are read',
        key: 'message_content',
      },
    ]
  const isOff = self !== null && self.flags !== null && (self.flags & CONTENT_FLAGS) === 0
  if (isOff || wasBlank)
    return [
      {
        gate: 'intent Message Content',
        pass: false,
        reason: `switched off: what people write in channels is empty; switch it on at ${SWITCH}`,
        key: 'message_content',
      },
    ]
  if (self === null || self.flags === null) return []
  return [{ gate: 'intents', pass: true, reason: 'Message Content is switched on', key: 'message_content' }]
}

/** Returns one gate for each server that lacks permissions, or one that passes. */
export function permissionGates(
  self: Self | null,
  guilds: readonly DiscordAnswer[] | null,
): readonly GateView[] {
  if (self === null || guilds === null) return []
  if (guilds.length === 0)
    return [
      {
        gate: 'servers',
        pass: true,
        flagged: true,
        reason: `the bot is in no server; invite it: ${inviteUrl(self.appId)}`,
        key: 'token',
      },
    ]
  const lacking = guilds.flatMap((guild) => {
    // A server that does not report them is not judged.
    if (typeof guild.permissions !== 'string') return []
    const has = bitsOf(guild.permissions)
    if ((has & ADMINISTRATOR) !== 0n) return []
    const missing = PERMISSIONS.filter(({ bit }) => (has & bit) === 0n)
    return missing.length === 0 ? [] : [{ name: String(guild.name ?? guild.id).slice(0, 100), missing }]
  })
  if (lacking.length === 0)
    return [
      {
        gate: 'permissions',
        pass: true,
        reason: `all ${PERMISSIONS.length} permissions are granted in ${guilds.length} server${guilds.length === 1 ? '' : 's'}`,
        key: 'token',
      },
    ]
  return lacking.slice(0, MOST_SHOWN).map(({ name, missing }) => ({
    gate: `permissions in ${name}`,
    pass: false,
    reason: `missing: ${missing.map((one) => `${one.name} (${one.without})`).join(', ')}; invite the bot again: ${inviteUrl(self.appId)}`,
    key: 'token',
  }))
}
