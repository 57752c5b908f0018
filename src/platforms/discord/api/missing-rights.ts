// Names the missing permission and its channel in a refusal.
import { SwitchboardError } from '../../../contract/index.ts'
import { type ChannelCache, type ChannelFacts, isThread } from './channel-cache.ts'
import { type Permission, permissionsIn, VIEW_CHANNEL } from './permissions.ts'
import { isRefusal } from './refusals.ts'
import type { Self } from './self.ts'

export interface RightsDeps {
  readonly cache: ChannelCache
  readonly self: () => Promise<Self>
}

/** Returns the bot's permissions there; null: it is a direct chat, or they are unknown. */
export async function rightsIn(channel: ChannelFacts, { cache, self }: RightsDeps): Promise<bigint | null> {
  if (channel.guild === null) return null
  const guild = await cache.guild(channel.guild)
  // A thread has the overwrites of its channel.
  const holder = isThread(channel) && channel.parent !== null ? await cache.channel(channel.parent) : channel
  return permissionsIn(guild, (await self()).userId, holder.overwrites)
}

/** Returns the refusal with the missing permission, if it can be found out. */
export async function explain(
  thrown: unknown,
  channel: ChannelFacts,
  needed: readonly Permission[],
  deps: RightsDeps,
): Promise<unknown> {
  if (!isRefusal(thrown, 50001, 50013)) return thrown
  const rights = await rightsIn(await lookAgain(channel, deps), deps).catch(() => null)
  if (rights === null) return thrown
  const lacking = needed.filter(({ bit }) => (rights & bit) === 0n)
  // For a hidden channel Discord reports nothing else.
  const missing = (thrown.key === 50001 ? [VIEW_CHANNEL] : lacking).map(({ name }) => `"${name}"`)
  if (missing.length === 0) return thrown
  const where = channel.name === null ? channel.id : `#${channel.name}`
  return new SwitchboardError(
    'platform_rejected',
    `${thrown.key}: the bot lacks ${missing.join(' and ')} in ${where}`,
    {
      hint: `give it in the settings of ${where}, Permissions, or invite the bot again with the link of doctor`,
    },
  )
}

/** The known permissions did not explain the refusal, so they were changed. */
async function lookAgain(channel: ChannelFacts, { cache }: RightsDeps): Promise<ChannelFacts> {
  for (const id of [channel.id, channel.parent]) if (id !== null) cache.forget(id)
  if (channel.guild !== null) cache.forgetGuild(channel.guild)
  return cache.channel(channel.id).then(
    (fresh) => ({ ...fresh, guild: fresh.guild ?? channel.guild }),
    () => channel,
  )
}
