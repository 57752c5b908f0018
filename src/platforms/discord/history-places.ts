// The places of Discord whose history can be read: channels that the bot sees, active threads, and direct chats of
// people who are allowed by their ids. Discord lists no direct chats, so others are known only after a message there.
import {
  asSwitchboardError,
  type Clock,
  defined,
  type HistoryPage,
  type HistoryPlace,
  type PlacesPage,
  type PlacesQuery,
} from '../../contract/index.ts'
import {
  type ChannelCache,
  type ChannelFacts,
  channelFacts,
  FORUMS,
  isTalk,
  isThread,
} from './api/channel-cache.ts'
import type { DiscordAnswer, DiscordClient } from './api/client.ts'
import { rightsIn } from './api/missing-rights.ts'
import { READ_HISTORY, VIEW_CHANNEL } from './api/permissions.ts'
import { isRefusal, isStatus } from './api/refusals.ts'
import type { Self } from './api/self.ts'
import { isSnowflake, snowflakeMs } from './api/snowflakes.ts'
import type { Targets } from './targets.ts'

export interface PlacesDeps {
  readonly client: DiscordClient
  readonly cache: ChannelCache
  readonly targets: Targets
  readonly self: () => Promise<Self>
  readonly clock: Pick<Clock, 'now'>
  /** The people who are allowed by their ids. */
  readonly allowed: () => readonly string[]
}

const PAGE = 200
const MOST_DIRECT = 50
/** Names the first page of servers. */
const FIRST_GUILDS = '0'

export interface Places {
  places(query: PlacesQuery): Promise<PlacesPage>
  /** Why a channel cannot be read, judged by its rights. Null: it can, or that is unknown. */
  problemOf(channel: ChannelFacts): Promise<Extract<HistoryPage, { unreadable: unknown }> | null>
}

export function createPlaces(deps: PlacesDeps, idsTellTime: () => boolean): Places {
  const { client, cache, targets } = deps

  const directPlaces = async (): Promise<readonly HistoryPlace[]> => {
    const places: HistoryPlace[] = []
    for (const person of deps.allowed().filter(isSnowflake).slice(0, MOST_DIRECT)) {
      try {
        places.push({ id: await targets.directOf(person) })
      } catch (thrown) {
        // A person who accepts no messages cannot have written one.
        if (asSwitchboardError(thrown).code !== 'platform_rejected') throw thrown
      }
    }
    return places
  }

  const rightsOf = (channel: ChannelFacts) =>
    rightsIn(channel, deps).catch((thrown: unknown) => {
      if (isStatus(thrown, 403, 404) || isRefusal(thrown, 10004, 50001)) return null
      throw thrown
    })

  const placeOf = (channel: ChannelFacts): HistoryPlace => {
    const { id, parent, lastMessage } = channel
    const activeAt = lastMessage !== null && idsTellTime() ? snowflakeMs(lastMessage) : undefined
    return {
      id: isThread(channel) && parent !== null ? `${parent}/${id}` : id,
      ...placeName(channel),
      ...defined({ activeAt }),
    }
  }

  const ofGuild = async (guild: string): Promise<PlacesPage> => {
    const learn = (one: unknown) => {
      const facts = channelFacts(one, guild)
      if (facts !== null) cache.learn(one, guild)
      return facts === null ? [] : [facts]
    }
    const channels = (await client.list(`/guilds/${guild}/channels`)).flatMap(learn)
    const seen = new Set<string>()
    for (const channel of channels) {
      if (!isTalk(channel) && !FORUMS.has(channel.type)) continue
      const rights = await rightsOf(channel)
      // The link brings no messages of channels that the bot cannot see.
      if (rights === null || (rights & VIEW_CHANNEL.bit) !== 0n) seen.add(channel.id)
    }
    const talk = channels.filter((one) => seen.has(one.id) && isTalk(one))
    const threads = await activeThreads(guild)
    const ofThreads = (threads ?? [])
      .flatMap(learn)
      .filter(({ parent }) => parent !== null && seen.has(parent))
    const unlisted = threads === null ? [{ detail: noThreads(guild), lasting: true }] : []
    return { places: [...talk, ...ofThreads].map(placeOf), unlisted }
  }

  /** A server that cannot be listed does not prevent the others. */
  const ofGuildOrWhy = (guild: string): Promise<PlacesPage> =>
    ofGuild(guild).catch((thrown: unknown) => {
      const { code, message, nature } = asSwitchboardError(thrown, 'platform_unavailable')
      if (code === 'rate_limited') throw thrown
      const detail = `server ${guild}: its channels could not be listed: ${message}`
      return { places: [], unlisted: [{ detail, lasting: !nature.retryable }] }
    })

  /** Null: a compatible server has no such list. */
  const activeThreads = async (guild: string): Promise<readonly unknown[] | null> => {
    const answer: DiscordAnswer | null = await client
      .call('GET', `/guilds/${guild}/threads/active`, { repeatable: true })
      .catch((thrown: unknown) => {
        if (isStatus(thrown, 404, 405, 501)) return null
        throw thrown
      })
    if (answer === null) return null
    return Array.isArray(answer.threads) ? answer.threads : []
  }

  const noThreads = (guild: string) =>
    `server ${guild}: active threads cannot be listed here, so only threads in which something was heard are compared`

  return {
    async places({ page }) {
      // Direct chats have a separate page, because they do not depend on the list of servers.
      if (page === undefined) return { places: await directPlaces(), next: FIRST_GUILDS }
      const list = await client.list(
        `/users/@me/guilds?limit=${PAGE}${page === FIRST_GUILDS ? '' : `&after=${page}`}`,
      )
      const guilds = list.map(({ id }) => id).filter(isSnowflake)
      const each: PlacesPage[] = []
      for (const guild of guilds) each.push(await ofGuildOrWhy(guild))
      const last = guilds.at(-1)
      const isMore = guilds.length >= PAGE && last !== undefined
      return {
        places: each.flatMap(({ places }) => places),
        unlisted: each.flatMap(({ unlisted = [] }) => unlisted),
        ...(isMore ? { next: last } : {}),
      }
    },

    async problemOf(channel) {
      const rights = await rightsOf(channel)
      if (rights === null) return null
      if ((rights & VIEW_CHANNEL.bit) === 0n)
        return { unreadable: 'gone', detail: `the bot does not see ${shownName(channel)}` }
      // Discord would answer with an empty list, as if there were no messages.
      if ((rights & READ_HISTORY.bit) === 0n)
        return {
          unreadable: 'forbidden',
          detail: `the bot lacks "${READ_HISTORY.name}" in ${shownName(channel)}`,
        }
      return null
    },
  }
}

function shownName({ name, id }: ChannelFacts): string {
  return name === null ? id : `#${name}`
}

export function placeName(channel: ChannelFacts | undefined): { readonly name?: string } {
  return channel?.name === undefined || channel.name === null ? {} : { name: `#${channel.name}` }
}
