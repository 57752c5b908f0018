// Resolves the target of an op: a channel, a thread, a forum, or a person's direct chat. Ids of people and channels
// look alike, so an unknown id is looked up.
import { createBoundedMap, SwitchboardError } from '../../contract/index.ts'
import type { ChannelCache, ChannelFacts } from './api/channel-cache.ts'
import type { DiscordClient } from './api/client.ts'
import { isRefusal, isStatus } from './api/refusals.ts'
import { isSnowflake } from './api/snowflakes.ts'

export interface Targets {
  /** Returns the channel of a target. Throws `platform_rejected` for an invalid target. */
  channelOf(target: string): Promise<ChannelFacts>
  /** Returns a person's direct chat. Opening it is invisible. */
  directOf(person: string): Promise<string>
  /** Remembers the ids of a person who wrote there. */
  learn(person: string, channel: string): void
}

const REMEMBERED = 10_000

export function createTargets(client: DiscordClient, cache: ChannelCache): Targets {
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
    cache.learn({ ...answer, type: 1 })
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
      if (known !== undefined) return cache.channel(known)
      try {
        return await cache.channel(target)
      } catch (thrown) {
        const isNone = isRefusal(thrown, 10003) || (isStatus(thrown, 404) && !isRefusal(thrown, 50001))
        if (!isNone) throw thrown
        try {
          return await cache.channel(await directOf(target))
        } catch (other) {
          // It is no person either, so the first error is the right one.
          throw isRefusal(other, 10013, 50033, 50035) || isStatus(other, 400, 404) ? thrown : other
        }
      }
    },
  }
}
