// A refusal for want of a permission says which one, and where.
import { SwitchboardError } from '../../../contract/index.ts'
import { type ChannelCache, type ChannelFacts, isThread } from './channel-cache.ts'
import { type Permission, permissionsIn, VIEW_CHANNEL } from './permissions.ts'
import { isRefusal } from './refusals.ts'
import type { Self } from './self.ts'

export interface RightsDeps {
  readonly book: ChannelCache
  readonly self: () => Promise<Self>
}

/** What the bot may do there; null: it is a direct chat, or nobody could tell. */
export async function rightsIn(channel: ChannelFacts, { book, self }: RightsDeps): Promise<bigint | null> {
  if (channel.guild === null) return null
  const guild = await book.guild(channel.guild)
  // A thread has the overwrites of the channel that it is in.
  const holder = isThread(channel) && channel.parent !== null ? await book.channel(channel.parent) : channel
  return permissionsIn(guild, (await self()).userId, holder.overwrites)
}

/** The same refusal with what is missing, where that can be found out; else as it was. */
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
  // Who does not see a channel is told nothing else about it.
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

/** What was known of its rights did not foresee the refusal: they were changed since. */
async function lookAgain(channel: ChannelFacts, { book }: RightsDeps): Promise<ChannelFacts> {
  for (const id of [channel.id, channel.parent]) if (id !== null) book.forget(id)
  if (channel.guild !== null) book.forgetGuild(channel.guild)
  return book.channel(channel.id).then(
    (fresh) => ({ ...fresh, guild: fresh.guild ?? channel.guild }),
    () => channel,
  )
}
