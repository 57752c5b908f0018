// Finds out whether a post whose answer was lost arrived. Its metadata contains the row's id, and the history is
// searched.
import type { PlatformAdapter, Receipt, SendRequest } from '../../contract/index.ts'
import type { SlackClient } from './api/client.ts'
import type { DirectChats } from './api/direct-chats.ts'
import type { Self } from './api/self.ts'
import type { Uploads } from './api/uploads.ts'
import { isSelf, type SlackMessage } from './parse.ts'
import { cutOf } from './render.ts'
import { METADATA_TYPE } from './send.ts'
import { isStamp } from './stamps.ts'

type Reconcile = NonNullable<PlatformAdapter['reconcile']>

const PAGE = 200
const MOST_PAGES = 5

export function createReconcile(deps: {
  readonly client: SlackClient
  readonly chats: DirectChats
  readonly uploads: Pick<Uploads, 'find'>
  readonly self: () => Promise<Self>
}): Reconcile {
  const { client, chats, uploads } = deps

  /** Null: it is not there. Undefined: the history continues beyond the read part, or does not include metadata. */
  const find = async (channel: string, { to, op, key }: SendRequest): Promise<string | null | undefined> => {
    const { thread } = to
    const me = await deps.self()
    const written = op.kind === 'text' || op.kind === 'prompt' ? cutOf(op).text : null
    const method = thread === undefined ? 'conversations.history' : 'conversations.replies'
    let cursor: string | undefined
    for (let page = 0; page < MOST_PAGES; page++) {
      const params = { channel, ts: thread, limit: PAGE, include_all_metadata: true, cursor }
      const { answer } = await client.call(method, params, { repeatable: true })
      const messages = Array.isArray(answer.messages) ? (answer.messages as readonly SlackMessage[]) : []
      const found = messages.find((message) => isOf(message, key))
      if (found !== undefined) return String(found.ts)
      if (messages.some((message) => isSelf(message, me) && isUnmarked(message, written))) return undefined
      const next = (answer.response_metadata as { readonly next_cursor?: unknown } | undefined)?.next_cursor
      if (answer.has_more === false) return null
      // Some servers say that there is more, and name no page.
      if (typeof next !== 'string' || next === '') return answer.has_more === true ? undefined : null
      cursor = next
    }
    return undefined
  }

  return async (request) => {
    const { to, op, key } = request
    // Repeating these shows the same.
    if (op.kind === 'edit' || op.kind === 'react') return { outcome: 'absent' }
    if (op.kind === 'call') return { outcome: 'unknown' }
    const channel = await chats.channelOf(to.conversation)
    const isFile = op.kind === 'file' || (op.kind === 'text' && op.asFile !== undefined)
    const found = isFile ? await uploads.find(key, channel) : await find(channel, request)
    if (typeof found === 'string')
      return { outcome: 'sent', receipt: receipt(found, channel, to.conversation) }
    return { outcome: found === null ? 'absent' : 'unknown' }
  }
}

/** A message with our text, whose metadata a server did not return. It may be this one. */
function isUnmarked({ metadata, text }: SlackMessage, written: string | null): boolean {
  const { event_type, event_payload } = (metadata ?? {}) as Readonly<Record<string, unknown>>
  if (event_payload !== undefined && event_payload !== null) return false
  return event_type === METADATA_TYPE || text === written
}

function isOf({ metadata, ts }: SlackMessage, key: string): boolean {
  const { event_type, event_payload } = (metadata ?? {}) as {
    readonly event_type?: unknown
    readonly event_payload?: unknown
  }
  return (
    event_type === METADATA_TYPE &&
    isStamp(ts) &&
    (event_payload as { readonly id?: unknown } | undefined)?.id === key
  )
}

function receipt(ts: string, channel: string, conversation: string): Receipt {
  return { platformIds: [ts], ...(channel === conversation ? {} : { conversation: channel }) }
}
