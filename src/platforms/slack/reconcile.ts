// Did a post whose answer was lost arrive? Its row's id stands in the metadata of the message, and the history is asked. Two
// looks with a pause between: a request may still be on its way when the connection is gone.
import type { Clock, PlatformAdapter, Receipt } from '../../contract/index.ts'
import type { SlackClient } from './client.ts'
import type { DirectChats } from './direct-chats.ts'
import type { SlackMessage } from './parse.ts'
import { METADATA_TYPE } from './send.ts'
import { isStamp } from './stamps.ts'

type Reconcile = NonNullable<PlatformAdapter['reconcile']>

const PAGE = 200
const MOST_PAGES = 5

export function createReconcile(deps: {
  readonly client: SlackClient
  readonly chats: DirectChats
  readonly clock: Clock
  readonly settleMs: number
}): Reconcile {
  const { client, chats, clock } = deps

  /** Undefined: it is not there. Null: the history goes on beyond what was read. */
  const find = async (
    channel: string,
    thread: string | undefined,
    key: string,
  ): Promise<string | null | undefined> => {
    const method = thread === undefined ? 'conversations.history' : 'conversations.replies'
    let cursor: string | undefined
    for (let page = 0; page < MOST_PAGES; page++) {
      const params = { channel, ts: thread, limit: PAGE, include_all_metadata: true, cursor }
      const { answer } = await client.call(method, params, { repeatable: true })
      const messages = Array.isArray(answer.messages) ? (answer.messages as readonly SlackMessage[]) : []
      const found = messages.find((message) => isOf(message, key))
      if (found !== undefined) return String(found.ts)
      const next = (answer.response_metadata as { readonly next_cursor?: unknown } | undefined)?.next_cursor
      if (typeof next !== 'string' || next === '' || answer.has_more === false) return undefined
      cursor = next
    }
    return null
  }

  return async ({ to, op, key }) => {
    // Making these twice shows the same.
    if (op.kind === 'edit' || op.kind === 'react') return { outcome: 'absent' }
    // A file carries no metadata: nobody can tell it from another of that name.
    if (op.kind !== 'text' && op.kind !== 'prompt') return { outcome: 'unknown' }
    const channel = await chats.channelOf(to.conversation)
    for (let look = 0; look < 2; look++) {
      if (look > 0) await new Promise<void>((resolve) => void clock.after(deps.settleMs, resolve))
      const found = await find(channel, to.thread, key)
      if (typeof found === 'string')
        return { outcome: 'sent', receipt: receipt(found, channel, to.conversation) }
      if (found === null) return { outcome: 'unknown' }
    }
    return { outcome: 'absent' }
  }
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
