// Slack's history, for the comparison with the inbox. A channel is listed newest first, so all pages are read before
// the oldest message is known. A limit in the middle costs no second walk. A thread is listed oldest first, and read as
// far as requested.
import {
  createBoundedMap,
  type HistoryEntry,
  type HistoryPage,
  type HistoryReader,
  SwitchboardError,
} from '../../contract/index.ts'
import type { SlackClient } from './api/client.ts'
import type { Names } from './api/names.ts'
import { isRefusal } from './api/refusals.ts'
import type { Self } from './api/self.ts'
import { createPlaces, livePlace, nextCursor, placeOf, threadsIn } from './history-places.ts'
import { editVersionOf, type ParseContext, peopleIn, type SlackMessage, spoken } from './parse.ts'
import { isStamp, stampMicros, stampMs, stampOfMs } from './stamps.ts'

const PAGE = 200
/** This many messages before the mark are checked for new replies; in a quiet channel a whole page. */
const LOOK_BACK = 50
const WALKS_REMEMBERED = 200
/** The most messages of one place that are kept. The newest ones beyond it are found by the next walk. */
const MOST_GATHERED = 5_000
/** Kept messages are read again after this time, because they may have been edited or deleted. */
const KEPT_MS = 10 * 60_000

type Stamped = SlackMessage & { readonly ts: string }

/** How far a channel was read, newest first. */
interface Walk {
  readonly oldest: string
  readonly from: { readonly cursor?: string; readonly latest?: string }
  readonly gathered: readonly Stamped[]
}

/** Messages of a channel that were read and not returned yet, oldest first. */
interface Kept {
  readonly after: string
  readonly messages: readonly Stamped[]
  readonly until: number
}

interface Fresh {
  readonly messages: readonly Stamped[]
  readonly more: boolean
  /** Messages before the requested ones, only for the threads under them. */
  readonly older: readonly Stamped[]
}

interface Gathered {
  readonly fresh: readonly Stamped[]
  readonly older: readonly Stamped[]
}

export interface HistoryDeps {
  readonly client: SlackClient
  readonly self: () => Promise<Self>
  readonly names: Names
  readonly context: (self: Self) => ParseContext
}

export function createHistory({ client, self, names, context }: HistoryDeps): HistoryReader {
  const walks = createBoundedMap<string, Walk>(WALKS_REMEMBERED)
  const kept = createBoundedMap<string, Kept>(WALKS_REMEMBERED)
  const places = createPlaces(client, self)

  const page = async (method: string, params: Readonly<Record<string, unknown>>) => {
    const { answer } = await client.call(method, { limit: PAGE, ...params }, { repeatable: true })
    const messages = (
      Array.isArray(answer.messages) ? (answer.messages as readonly SlackMessage[]) : []
    ).filter((message): message is Stamped => isStamp(message?.ts))
    const cursor = nextCursor(answer)
    const ended = answer.has_more === false || (cursor === undefined && answer.has_more !== true)
    return { messages, cursor, ended: ended || (cursor === undefined && messages.length === 0) }
  }

  /**
   * Returns all messages younger than `oldest`, oldest first, and the older ones that were read. A channel shows a new
   * reply only in the message above it, which may be before the mark.
   */
  const gather = async (channel: string, oldest: string): Promise<Gathered> => {
    const before = walks.get(channel)
    let walk: Walk = before?.oldest === oldest ? before : { oldest, from: {}, gathered: [] }
    for (;;) {
      const read = await page('conversations.history', { channel, ...walk.from }).catch((thrown: unknown) => {
        // The cursor is no longer valid, so the walk begins again.
        if (walk.from.cursor === undefined || !isRefusal(thrown, 'invalid_cursor')) throw thrown
        return null
      })
      if (read === null) {
        walk = { oldest, from: {}, gathered: [] }
        continue
      }
      const gathered = [...walk.gathered, ...read.messages].slice(-MOST_GATHERED)
      if (read.ended || isFarEnough(read.messages, gathered, oldest)) {
        walks.delete(channel)
        const older = gathered.filter(({ ts }) => stampMicros(ts) <= stampMicros(oldest))
        return { fresh: inOrder(gathered, oldest), older }
      }
      const last = read.messages.at(-1)?.ts
      const from = read.cursor === undefined ? { latest: last ?? oldest } : { cursor: read.cursor }
      if (isSamePlace(walk.from, from) || !movesBack(read.messages, walk.gathered)) {
        walks.delete(channel)
        throw standsStill()
      }
      walk = { oldest, from, gathered }
      walks.set(channel, walk)
    }
  }

  const inChannel = async (channel: string, oldest: string, limit: number): Promise<Fresh> => {
    const rest = kept.get(channel)
    const now = context(await self()).now
    const isStill = rest !== undefined && rest.after === oldest && rest.until > now
    const { fresh, older } = isStill ? { fresh: rest.messages, older: [] } : await gather(channel, oldest)
    const messages = fresh.slice(0, limit)
    const left = fresh.slice(limit)
    const after = messages.at(-1)?.ts
    if (after === undefined || left.length === 0) kept.delete(channel)
    else kept.set(channel, { after, messages: left, until: isStill ? rest.until : now + KEPT_MS })
    // Kept messages do not prove that nothing came since. At their end Slack is asked once more.
    return { messages, more: left.length > 0 || isStill, older }
  }

  const inThread = async (channel: string, thread: string, after: string, limit: number): Promise<Fresh> => {
    const messages: Stamped[] = []
    let from: { readonly cursor?: string; readonly oldest: string } = { oldest: after }
    for (;;) {
      const read = await page('conversations.replies', { channel, ts: thread, ...from })
      const before = messages.at(-1)?.ts ?? after
      messages.push(...inOrder(read.messages, before).filter(({ ts }) => ts !== thread))
      if (read.ended || messages.length > limit)
        return { messages: messages.slice(0, limit), more: messages.length > limit, older: [] }
      const last = messages.at(-1)?.ts ?? after
      // The first page may contain only the message above the thread.
      const standsAt = last === before && (from.cursor !== undefined || before !== after)
      const next = read.cursor === undefined ? { oldest: last } : { cursor: read.cursor, oldest: after }
      if (standsAt || isSamePlace(from, next)) throw standsStill()
      from = next
    }
  }

  return {
    places: ({ page: from }) => places(from),
    placeOf: ({ conversation, thread }) => placeOf(conversation, thread),
    livePlace,

    async read({ place, after, since, limit }): Promise<HistoryPage> {
      const [channel = '', thread] = place.id.split('/')
      // Slack's times are by its own clock.
      const oldest = after ?? stampOfMs(since - client.aheadMs())
      let fresh: Fresh
      try {
        fresh =
          thread === undefined
            ? await inChannel(channel, oldest, limit)
            : await inThread(channel, thread, oldest, limit)
      } catch (thrown) {
        if (isRefusal(thrown, 'channel_not_found', 'not_in_channel', 'thread_not_found', 'is_archived'))
          return { unreadable: 'gone', detail: thrown.message }
        if (isRefusal(thrown, 'missing_scope')) return { unreadable: 'forbidden', detail: thrown.message }
        throw thrown
      }
      const { messages, more, older } = fresh
      await names.find([...new Set(messages.flatMap((message) => peopleIn(message)))].slice(0, 20))
      const parsing = context(await self())
      const entries = messages.map(
        (message): HistoryEntry => entryOf(message, channel, { parsing, ahead: client.aheadMs() }),
      )
      const found = thread === undefined ? threadsIn([...messages, ...older], channel) : []
      return { entries, more, ...(found.length === 0 ? {} : { places: found }) }
    },
  }
}

/** Some compatible servers return the same page for ever. */
function isSamePlace(before: object, next: object): boolean {
  return JSON.stringify(before) === JSON.stringify(next)
}

/** Whether the page contains a message older than all before it. */
function movesBack(page: readonly Stamped[], before: readonly Stamped[]): boolean {
  const oldest = before.at(-1)
  if (oldest === undefined) return page.length > 0
  return page.some(({ ts }) => stampMicros(ts) < stampMicros(oldest.ts))
}

function standsStill(): SwitchboardError {
  return new SwitchboardError('platform_unavailable', 'Slack: the pages of a history do not move on')
}

function isFarEnough(page: readonly Stamped[], gathered: readonly Stamped[], oldest: string): boolean {
  const isOlder = ({ ts }: Stamped) => stampMicros(ts) <= stampMicros(oldest)
  return gathered.filter(isOlder).length >= LOOK_BACK || (page.length > 0 && page.every(isOlder))
}

/** Returns each message once, oldest first, without those up to `after`. */
function inOrder(messages: readonly Stamped[], after: string): readonly Stamped[] {
  const from = stampMicros(after)
  const each = new Map(messages.map((message) => [message.ts, message] as const))
  return [...each.values()]
    .filter(({ ts }) => stampMicros(ts) > from)
    .sort((a, b) => stampMicros(a.ts) - stampMicros(b.ts))
}

function entryOf(
  message: Stamped,
  channel: string,
  { parsing, ahead }: { readonly parsing: ParseContext; readonly ahead: number },
): HistoryEntry {
  const { ts } = message
  const at = stampMs(ts) + ahead
  try {
    const event = spoken(message, channel, parsing)
    if (event === null || event.messageId === undefined) return { position: ts, at, event: null }
    const version = editVersionOf(message)
    return {
      position: ts,
      at,
      event: { ...event, kind: 'message', messageId: ts, ...(version === 0 ? {} : { editVersion: version }) },
    }
  } catch {
    return { position: ts, at, event: null }
  }
}
