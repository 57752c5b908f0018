// Discord's history, for the comparison with the inbox. After a known message it is read forwards. Without one it is
// read backwards from the newest message to the requested time, because ids need not contain the time.
import {
  createBoundedMap,
  defined,
  type HistoryEntry,
  type HistoryPage,
  type HistoryPlace,
  type HistoryReader,
  type KnownConversation,
  SwitchboardError,
} from '../../contract/index.ts'
import { type Place, placeOfFacts } from './api/channel-cache.ts'
import type { DiscordClient } from './api/client.ts'
import { isRefusal, isStatus } from './api/refusals.ts'
import { compareIds, isSnowflake, snowflakeMs } from './api/snowflakes.ts'
import { createPlaces, type PlacesDeps, placeName } from './history-places.ts'
import { type DiscordMessage, editVersionOf, type ParseContext, sentAt, spoken } from './parse.ts'

const PAGE = 100
const MOST_GATHERED = 5_000
const KEPT = 200
const KEPT_MS = 10 * 60_000

type Stamped = DiscordMessage & { readonly id: string }

interface Kept {
  readonly after: string
  readonly messages: readonly Stamped[]
  readonly until: number
}

export interface HistoryDeps extends PlacesDeps {
  readonly client: DiscordClient
  readonly context: (place: Place, message: DiscordMessage) => Promise<ParseContext>
}

export function createHistory(deps: HistoryDeps): HistoryReader {
  const { client, cache, clock } = deps
  const kept = createBoundedMap<string, Kept>(KEPT)
  const ids = { tellTime: false }

  const page = async (channel: string, query: string): Promise<readonly Stamped[]> => {
    const list: readonly DiscordMessage[] = await client.list(
      `/channels/${channel}/messages?limit=${PAGE}${query}`,
    )
    const messages = list.filter((message): message is Stamped => isSnowflake(message.id))
    for (const message of messages.slice(0, 1))
      ids.tellTime = Math.abs(snowflakeMs(message.id) - sentAt(message)) < 3_600_000
    return messages.toSorted((a, b) => compareIds(a.id, b.id))
  }

  /**
   * Reads backwards from the oldest of `start` (none: from the newest) until `isFar`. Returns the messages oldest
   * first. If there are too many, only the oldest are kept. The others are read forwards afterwards; then `cut` is
   * true.
   */
  const gatherBack = async (
    channel: string,
    start: readonly Stamped[],
    isFar: (message: Stamped) => boolean,
  ): Promise<{ readonly messages: readonly Stamped[]; readonly cut: boolean }> => {
    let gathered = start
    let cut = false
    for (;;) {
      const [oldest] = gathered
      if (oldest !== undefined && isFar(oldest)) break
      const more = await page(channel, oldest === undefined ? '' : `&before=${oldest.id}`)
      const older = more.filter(({ id }) => oldest === undefined || compareIds(id, oldest.id) < 0)
      cut ||= older.length + gathered.length > MOST_GATHERED
      gathered = [...older, ...gathered].slice(0, MOST_GATHERED)
      if (more.length < PAGE) break
      // Some compatible servers return the same page for ever. Then it is unknown what lies before it.
      if (older.length === 0)
        throw new SwitchboardError('platform_unavailable', 'Discord: the pages of a history do not move on')
    }
    return { messages: gathered.filter((message) => !isFar(message)), cut }
  }

  const readAfter = async (channel: string, after: string) => {
    const isOld = ({ id }: Stamped) => compareIds(id, after) <= 0
    const messages = (await page(channel, `&after=${after}`)).filter((message) => !isOld(message))
    if (messages.length < PAGE) return { messages, more: false }
    // Discord returns the oldest messages after it. Compatible servers may return the newest, with others between.
    const { messages: whole } = await gatherBack(channel, messages, isOld)
    return { messages: whole, more: true }
  }

  const fresh = async (channel: string, after: string | null, since: number) => {
    if (after !== null && isSnowflake(after)) return readAfter(channel, after)
    const { messages, cut } = await gatherBack(channel, [], (message) => sentAt(message) < since)
    return { messages, more: cut }
  }

  const entryOf = async (message: Stamped, place: Place): Promise<HistoryEntry> => {
    const at = sentAt(message)
    try {
      const event = spoken(message, await deps.context(place, message))
      if (event?.messageId === undefined) return { position: message.id, at, event: null }
      const version = editVersionOf(message)
      const edited = version === 0 ? {} : { editVersion: version }
      return {
        position: message.id,
        at,
        event: { ...event, kind: 'message', messageId: message.id, ...edited },
      }
    } catch {
      return { position: message.id, at, event: null }
    }
  }

  const { places, problemOf } = createPlaces(deps, () => ids.tellTime)

  const placeOf = ({ conversation, thread }: KnownConversation): HistoryPlace | null => {
    if (!isSnowflake(conversation)) return null
    if (thread !== undefined) return isSnowflake(thread) ? { id: `${conversation}/${thread}` } : null
    return { id: conversation, ...placeName(cache.known(conversation)) }
  }

  return {
    places,
    placeOf,
    // The first message of a thread is in its channel.
    livePlace: ({ conversation, thread, messageId }) =>
      placeOf({ conversation, ...(thread === messageId ? {} : defined({ thread })) }),

    async read({ place, after, since, limit }): Promise<HistoryPage> {
      const channel = place.id.split('/').at(-1) ?? ''
      if (!isSnowflake(channel)) return { unreadable: 'gone', detail: 'that is no channel of Discord' }
      try {
        const facts = await cache.channel(channel)
        const problem = await problemOf(facts)
        if (problem !== null) return problem
        const rest = kept.get(channel)
        const isStill = rest !== undefined && rest.after === after && rest.until > clock.now()
        const found = isStill ? { messages: rest.messages, more: true } : await fresh(channel, after, since)
        const messages = found.messages.slice(0, limit)
        const left = found.messages.slice(limit)
        const last = messages.at(-1)?.id
        if (last === undefined || left.length === 0) kept.delete(channel)
        else kept.set(channel, { after: last, messages: left, until: clock.now() + KEPT_MS })
        const where = placeOfFacts(facts)
        const entries: HistoryEntry[] = []
        for (const message of messages) entries.push(await entryOf(message, where))
        // Kept messages do not prove that nothing came since. At their end Discord is asked once more.
        return { entries, more: messages.length > 0 && (left.length > 0 || found.more) }
      } catch (thrown) {
        // A thread that was never created has no history, so nothing was missed there.
        if (isRefusal(thrown, 10003, 10004, 50001)) {
          cache.forget(channel)
          return { unreadable: 'gone', detail: thrown.message }
        }
        // Without a code of Discord's, the server lacks the route.
        if (isStatus(thrown, 403, 404, 405, 501)) return { unreadable: 'forbidden', detail: thrown.message }
        throw thrown
      }
    },
  }
}
