// The places of Slack whose history can be read: the bot's channels and chats, and threads.
import {
  defined,
  type HistoryPlace,
  type HistoryReader,
  type PlacesPage,
  type Unlisted,
} from '../../contract/index.ts'
import type { SlackAnswer, SlackClient } from './api/client.ts'
import { isRefusal } from './api/refusals.ts'
import type { Self } from './api/self.ts'
import type { SlackMessage } from './parse.ts'
import { isStamp, stampMs } from './stamps.ts'

const KINDS: readonly { readonly type: string; readonly scope: string; readonly name: string }[] = [
  { type: 'public_channel', scope: 'channels', name: 'channels' },
  { type: 'private_channel', scope: 'groups', name: 'private channels' },
  { type: 'mpim', scope: 'mpim', name: 'group messages' },
  { type: 'im', scope: 'im', name: 'direct chats' },
]
const PAGE = 200

export function createPlaces(
  client: SlackClient,
  self: () => Promise<Self>,
): (page: string | undefined) => Promise<PlacesPage> {
  // Kinds that this token cannot list, found out by trying if Slack does not report its scopes.
  const refused = new Set<string>()
  let method = 'users.conversations'

  const list = async (types: readonly string[], cursor: string | undefined): Promise<SlackAnswer> => {
    const params = { types: types.join(','), exclude_archived: true, limit: PAGE, cursor }
    return (await client.call(method, params, { repeatable: true })).answer
  }

  const ask = async (page: string | undefined): Promise<PlacesPage> => {
    const { scopes } = await self()
    const types = KINDS.filter(({ scope }) => scopes === null || scopes.includes(`${scope}:read`))
      .map(({ type }) => type)
      .filter((type) => !refused.has(type))
    const unlisted = page === undefined ? unlistedBy(scopes, refused) : []
    if (types.length === 0) return { places: [], unlisted }
    try {
      return { ...pageOf(await list(types, page)), unlisted }
    } catch (thrown) {
      // The other kinds are still listed.
      if (isRefusal(thrown, 'missing_scope')) {
        const [scope] = /\b(channels|groups|mpim|im)(?=:read)/.exec(thrown.message) ?? []
        const kind = KINDS.find((one) => one.scope === scope && types.includes(one.type))
        refused.add(kind?.type ?? types.at(-1) ?? '')
        return ask(undefined)
      }
      if (isRefusal(thrown, 'unknown_method') && method !== 'conversations.list') {
        method = 'conversations.list'
        return ask(undefined)
      }
      throw thrown
    }
  }
  return ask
}

/** Kinds that are received, or may be, and cannot be listed. Their completeness is unknown. */
function unlistedBy(scopes: readonly string[] | null, refused: ReadonlySet<string>): readonly Unlisted[] {
  const has = (scope: string) => scopes === null || scopes.includes(scope)
  return KINDS.filter(
    ({ type, scope }) =>
      has(`${scope}:history`) && (refused.has(type) || (scopes !== null && !has(`${scope}:read`))),
  ).map(({ scope, name }) => ({
    detail: `${name}: missing_scope: the bot needs ${scope}:read to list them`,
    lasting: true,
  }))
}

function pageOf(answer: SlackAnswer): PlacesPage {
  const list = Array.isArray(answer.channels) ? (answer.channels as readonly Record<string, unknown>[]) : []
  const places = list.flatMap(({ id, name, is_member, is_archived }): HistoryPlace[] =>
    typeof id !== 'string' || is_member === false || is_archived === true
      ? []
      : [{ id, ...(typeof name === 'string' ? { name: `#${name}` } : {}) }],
  )
  const next = nextCursor(answer)
  return { places, ...defined({ next }) }
}

export function nextCursor({ response_metadata }: SlackAnswer): string | undefined {
  const next = (response_metadata as { readonly next_cursor?: unknown } | null | undefined)?.next_cursor
  return typeof next === 'string' && next !== '' ? next : undefined
}

export function placeOf(conversation: string, thread: string | undefined): HistoryPlace | null {
  if (!/^[CDG]/.test(conversation)) return null
  if (thread !== undefined) return isStamp(thread) ? { id: `${conversation}/${thread}` } : null
  // The bot's direct chats are listed only while they are open.
  return conversation.startsWith('D') ? { id: conversation } : null
}

/**
 * A reply belongs to the history of its thread. All else, also the first message of a thread, belongs to its channel.
 */
export const livePlace: NonNullable<HistoryReader['livePlace']> = ({ conversation, thread, messageId }) => {
  if (!/^[CDG]/.test(conversation)) return null
  if (thread === undefined || thread === messageId) return { id: conversation }
  return isStamp(thread) ? { id: `${conversation}/${thread}` } : null
}

/** Returns the threads whose first message reports replies. */
export function threadsIn(messages: readonly SlackMessage[], channel: string): readonly HistoryPlace[] {
  return messages.flatMap(({ ts, latest_reply, reply_count }): HistoryPlace[] => {
    if (!isStamp(ts)) return []
    if (isStamp(latest_reply)) return [{ id: `${channel}/${ts}`, activeAt: stampMs(latest_reply) }]
    return Number(reply_count) > 0 ? [{ id: `${channel}/${ts}` }] : []
  })
}
