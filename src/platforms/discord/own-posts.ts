// The first messages of our own forum posts, read back after a lost answer.

import type { ChannelFacts } from './api/channel-cache.ts'
import type { DiscordAnswer, DiscordClient } from './api/client.ts'
import { isRefusal, isStatus } from './api/refusals.ts'
import type { Self } from './api/self.ts'
import { compareIds, isSnowflake } from './api/snowflakes.ts'
import type { DiscordMessage } from './parse.ts'

/** The newest posts are enough, because the searched one is recent. */
const MOST_POSTS = 20
const ARCHIVED = 50

export interface OwnPosts {
  readonly posts: readonly DiscordMessage[]
  /** False: there may be others. */
  readonly isWhole: boolean
}

/** Returns active posts and closed ones. Throws as the client does. */
export async function ownPosts(
  forum: ChannelFacts,
  deps: {
    readonly client: DiscordClient
    readonly self: () => Promise<Self>
  },
): Promise<OwnPosts> {
  const { client } = deps
  const { userId } = await deps.self()

  /** Null: this server does not list them, or not for the bot. */
  const listed = async (path: string): Promise<readonly DiscordAnswer[] | null> => {
    try {
      const { threads } = await client.call('GET', path, { repeatable: true })
      return Array.isArray(threads) ? (threads as readonly DiscordAnswer[]) : null
    } catch (thrown) {
      if (isStatus(thrown, 403, 404, 405, 501)) return null
      throw thrown
    }
  }
  const active = forum.guild === null ? null : await listed(`/guilds/${forum.guild}/threads/active`)
  const archived = await listed(`/channels/${forum.id}/threads/archived/public?limit=${ARCHIVED}`)
  const ids = [...(active ?? []), ...(archived ?? [])]
    .filter((one) => one?.parent_id === forum.id && one.owner_id === userId)
    .map(({ id }) => id)
    .filter(isSnowflake)
    .toSorted((a, b) => compareIds(b, a))
  const newest = [...new Set(ids)].slice(0, MOST_POSTS)
  const posts: DiscordMessage[] = []
  let unread = 0
  for (const id of newest) {
    try {
      // The first message of a post has the post's id.
      posts.push(await client.call('GET', `/channels/${id}/messages/${id}`, { repeatable: true }))
    } catch (thrown) {
      // Its first message was deleted, so it is another post.
      if (isRefusal(thrown, 10008)) continue
      if (!isStatus(thrown, 403, 404)) throw thrown
      unread += 1
    }
  }
  return { posts, isWhole: active !== null && archived !== null && unread === 0 && ids.length <= MOST_POSTS }
}
