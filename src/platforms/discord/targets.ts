// Where an op goes: a channel, a thread, a forum, or a person's direct chat. Ids of people and channels look alike: what
// nobody has told yet is asked of Discord.
import { createBoundedMap, SwitchboardError } from '../../contract/index.ts'
import type { ChannelCache, ChannelFacts } from './api/channel-cache.ts'
import type { DiscordClient } from './api/client.ts'
import { isRefusal, isStatus } from './api/refusals.ts'
import { isSnowflake } from './api/snowflakes.ts'

export interface Targets {
  /** The channel behind a target. Throws `platform_rejected` for what is none. */
  channelOf(target: string): Promise<ChannelFacts>
  /** The direct chat of a person; opened, which nobody sees. */
  directOf(person: string): Promise<string>
  /** These are the ids of somebody who wrote there. */
  learn(person: string, channel: string): void
}

const REMEMBERED = 10_000

export function createTargets(client: DiscordClient, book: ChannelCache): Targets {
  const direct = createBoundedMap<string, string>(REMEMBERED)

  const directOf = async (person: string): Promise<string> => {
    const known = direct.get(person)
    if (known !== undefined) return known
    const answer = await client.call('POST', '/users/@me/channels', {
      body: { recipient_id: person },
      repeatable: true,
    })
    if (!isSnowflake(answer.id))
      throw new SwitchboardError('platform_unavailable', 'Discord names no direct chat')
    book.learn({ ...answer, type: 1 })
    direct.set(person, answer.id)
    return answer.id
  }

  return {
    directOf,
    learn: (person, channel) => direct.set(person, channel),
    async channelOf(target) {
      if (!isSnowflake(target))
        throw new SwitchboardError(
          'platform_rejected',
          `"${target.slice(0, 60)}" is not the id of a channel or person at Discord`,
          {
            hint: 'switch on Developer Mode in Discord, and copy the id from the menu of the channel or person',
          },
        )
      const known = direct.get(target)
      if (known !== undefined) return book.channel(known)
      try {
        return await book.channel(target)
      } catch (thrown) {
        const isNone = isRefusal(thrown, 10003) || (isStatus(thrown, 404) && !isRefusal(thrown, 50001))
        if (!isNone) throw thrown
        try {
          return await book.channel(await directOf(target))
        } catch (other) {
          // It is nobody either: what was said first is the truth about it.
          throw isRefusal(other, 10013, 50033, 50035) || isStatus(other, 400, 404) ? thrown : other
        }
      }
    },
  }
}
