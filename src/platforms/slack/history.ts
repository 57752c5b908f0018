// What stands in Slack, for whoever compares it with what was received: channels and chats that the bot is in, and threads.
// A page of Slack's begins with the newest; what was read of a place is kept until its oldest is reached, so that a limit in
// the middle costs no second walk.
import {
  createBoundedMap,
  type HistoryEntry,
  type HistoryPage,
  type HistoryPlace,
  type HistoryReader,
} from '../../contract/index.ts'
import type { SlackClient } from './client.ts'
import type { Names } from './names.ts'
import { editVersionOf, type ParseContext, peopleIn, type SlackMessage, spoken } from './parse.ts'
import { isRefusal } from './refusals.ts'
import type { Self } from './self.ts'
import { isStamp, stampMicros, stampMs, stampOfMs } from './stamps.ts'

const KINDS: readonly { readonly type: string; readonly scope: string }[] = [
  { type: 'public_channel', scope: 'channels' },
  { type: 'private_channel', scope: 'groups' },
  { type: 'mpim', scope: 'mpim' },
  { type: 'im', scope: 'im' },
]
const PAGE = 200
const WALKS_REMEMBERED = 200
/** More than this is not kept of one place: the newest of it are then found in the next walk. */
const MOST_GATHERED = 5_000

interface Walk {
  readonly oldest: string
  readonly cursor: string
  readonly gathered: readonly SlackMessage[]
}

export interface HistoryDeps {
  readonly client: SlackClient
  readonly self: () => Promise<Self>
  readonly names: Names
  readonly context: (self: Self) => ParseContext
}

export function createHistory({ client, self, names, context }: HistoryDeps): HistoryReader {
  const walks = createBoundedMap<string, Walk>(WALKS_REMEMBERED)

  /** All that is younger than `oldest`, oldest first. */
  const gather = async (id: string, channel: string, thread: string | undefined, oldest: string) => {
    const before = walks.get(id)
    let walk: Walk = before?.oldest === oldest ? before : { oldest, cursor: '', gathered: [] }
    const method = thread === undefined ? 'conversations.history' : 'conversations.replies'
    for (;;) {
      const cursor = walk.cursor === '' ? undefined : walk.cursor
      const params = { channel, ts: thread, oldest, limit: PAGE, cursor }
      const { answer } = await client.call(method, params, { repeatable: true })
      const page = Array.isArray(answer.messages) ? (answer.messages as readonly SlackMessage[]) : []
      const next = (answer.response_metadata as { readonly next_cursor?: unknown } | undefined)?.next_cursor
      const gathered = [...walk.gathered, ...page].slice(-MOST_GATHERED)
      if (typeof next !== 'string' || next === '' || answer.has_more === false) {
        walks.delete(id)
        return gathered
      }
      walk = { oldest, cursor: next, gathered }
      walks.set(id, walk)
    }
  }

  return {
    async places({ page }) {
      const { scopes } = await self()
      const types = KINDS.filter(({ scope }) => scopes === null || scopes.includes(`${scope}:read`)).map(
        ({ type }) => type,
      )
      if (types.length === 0) return { places: [] }
      const params = { types: types.join(','), exclude_archived: true, limit: PAGE, cursor: page }
      const { answer } = await client.call('users.conversations', params, { repeatable: true })
      const list = Array.isArray(answer.channels)
        ? (answer.channels as readonly Record<string, unknown>[])
        : []
      const next = (answer.response_metadata as { readonly next_cursor?: unknown } | undefined)?.next_cursor
      const places = list.flatMap(({ id, name }): HistoryPlace[] =>
        typeof id !== 'string' ? [] : [{ id, ...(typeof name === 'string' ? { name: `#${name}` } : {}) }],
      )
      return { places, ...(typeof next === 'string' && next !== '' ? { next } : {}) }
    },

    placeOf({ conversation, thread }) {
      if (!/^[CDG]/.test(conversation)) return null
      if (thread !== undefined) return isStamp(thread) ? { id: `${conversation}/${thread}` } : null
      // The bot's direct chats are listed only while they are open.
      return conversation.startsWith('D') ? { id: conversation } : null
    },

    async read({ place, after, since, limit }): Promise<HistoryPage> {
      const [channel = '', thread] = place.id.split('/')
      const oldest = after ?? stampOfMs(since)
      let messages: readonly SlackMessage[]
      try {
        messages = await gather(place.id, channel, thread, oldest)
      } catch (thrown) {
        if (isRefusal(thrown, 'channel_not_found', 'not_in_channel', 'thread_not_found', 'is_archived'))
          return { unreadable: 'gone', detail: thrown.message }
        if (isRefusal(thrown, 'missing_scope')) return { unreadable: 'forbidden', detail: thrown.message }
        throw thrown
      }
      const from = stampMicros(oldest)
      const fresh = messages
        .filter(
          (message): message is SlackMessage & { readonly ts: string } =>
            isStamp(message.ts) && stampMicros(message.ts) > from && message.ts !== thread,
        )
        .sort((a, b) => stampMicros(a.ts) - stampMicros(b.ts))
      const taken = fresh.slice(0, limit)
      await names.find([...new Set(taken.flatMap((message) => peopleIn(message)))].slice(0, 20))
      const parsing = context(await self())
      const entries = taken.map((message): HistoryEntry => entryOf(message, channel, parsing))
      const places = thread === undefined ? threadsIn(taken, channel) : []
      return { entries, more: fresh.length > taken.length, ...(places.length === 0 ? {} : { places }) }
    },
  }
}

function entryOf(
  message: SlackMessage & { readonly ts: string },
  channel: string,
  context: ParseContext,
): HistoryEntry {
  const { ts } = message
  const at = stampMs(ts)
  try {
    const event = spoken(message, channel, context)
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

/** Threads of which a message tells that they were answered. */
function threadsIn(messages: readonly SlackMessage[], channel: string): readonly HistoryPlace[] {
  return messages.flatMap(({ ts, latest_reply }) =>
    isStamp(ts) && isStamp(latest_reply) ? [{ id: `${channel}/${ts}`, activeAt: stampMs(latest_reply) }] : [],
  )
}
