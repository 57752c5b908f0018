// Conversations for operators: every address with messages, by its last message; and the messages of one, with states,
// attempts, approvals and reports about the work.

import { SwitchboardError } from '../errors.ts'
import { type Address, parseAddress } from '../message/address.ts'
import type { Attachment } from '../message/message.ts'
import type { TurnEventRow } from '../message/turn-events.ts'
import type { TakeoverRow, TakeoverView } from '../platform/takeover.ts'
import type { ApprovalRow } from '../store/records.ts'
import type { SendRow } from '../store/send-records.ts'
import type { TurnRow } from '../store/turn-records.ts'
import type { ApprovalView, SendView, TurnEventView, TurnView } from './views.ts'

export interface ConversationFilter {
  readonly integration?: string
  readonly agent?: string
  /** Only live takeovers in this state. */
  readonly takeover?: 'held' | 'asked'
  /** Part of an id or a name, in any case. */
  readonly search?: string
  readonly sinceMs?: number
  readonly untilMs?: number
  readonly limit: number
  readonly before?: ConversationCursor
}

/** Newest first: the last row that was shown or read. */
export interface ConversationCursor {
  readonly at: number
  readonly address: string
}

export interface ConversationRow {
  readonly address: string
  readonly at: Address
  readonly platform: string
  readonly agent: string | null
  readonly turns: number
  readonly sends: number
  readonly firstAt: number
  readonly lastAt: number
  /** Null once the rows are pruned, or where there were none. */
  readonly lastTurn: TurnRow | null
  readonly lastSend: SendRow | null
  readonly takeover: TakeoverRow | null
}

export interface ConversationPage {
  readonly rows: readonly ConversationRow[]
  /** Null: no more rows. It may accompany a short page, because a search reads a limited number at a time. */
  readonly next: ConversationCursor | null
}

/** The positions where a page of a thread ended, newest first. */
export interface ThreadCursor {
  readonly turn: number
  readonly send: number
  readonly takeover: number
}

export type ThreadRow =
  | {
      readonly kind: 'turn'
      readonly turn: TurnRow
      readonly events: readonly TurnEventRow[]
      readonly approvals: readonly ApprovalRow[]
    }
  | { readonly kind: 'send'; readonly send: SendRow; readonly by: string | null }
  | { readonly kind: 'takeover'; readonly takeover: TakeoverRow; readonly marks: readonly TakeoverMark[] }

/** The events of a takeover. Events without messages in between form one entry, oldest first. */
export type TakeoverMark = 'asked' | 'taken' | 'ended'

export interface ThreadPage {
  readonly rows: readonly ThreadRow[]
  readonly next: ThreadCursor | null
}

export interface ConversationVerbs {
  /** Adds new rows to the list of conversations, some thousand at a time. True: more remain. */
  gatherConversations(): Promise<boolean>
  conversations(filter: ConversationFilter): Promise<ConversationPage>
  conversation(at: Address): Promise<ConversationRow | null>
  thread(at: Address, page: { readonly limit: number; readonly before?: ThreadCursor }): Promise<ThreadPage>
}

// ---- as operators see them ----------------------------------------------------------------------------------

export interface ConversationView {
  readonly address: string
  readonly integration: string
  readonly platform: string
  readonly conversation: string
  readonly thread: string | null
  /** The agent of the last turn. */
  readonly agent: string | null
  /** From the last turn. */
  readonly sender: string | null
  readonly sender_name: string | null
  readonly chat: 'direct' | 'group' | null
  /** The platform's name for it, from the last turn: the subject of a mail, the name of a group or channel. */
  readonly label: string | null
  readonly first_at: string
  readonly last_at: string
  readonly turns: number
  readonly sends: number
  readonly last: {
    readonly direction: 'in' | 'out'
    readonly id: string
    readonly text: string | null
    readonly state: string
    readonly reason: string | null
    readonly at: string
  } | null
  readonly takeover: TakeoverView | null
}

export type ThreadItem =
  | (TurnView & {
      readonly kind: 'turn'
      readonly at: string
      readonly edit_version: number
      /** It was handed over before, so the next hand-over is marked. */
      readonly repeat: boolean
      readonly attachments: readonly Attachment[]
      readonly reply_to: string | null
      /** The takeover that ended it. */
      readonly takeover: string | null
      readonly events: readonly TurnEventView[]
      readonly approvals: readonly ApprovalView[]
    })
  | (SendView & {
      readonly kind: 'send'
      readonly at: string
      /** The author, for a holder's message. */
      readonly by: string | null
    })
  | (TakeoverView & {
      readonly kind: 'takeover'
      /** Time of the first of `marks`. */
      readonly at: string
      /** The events in this entry. Other events have their own entries. */
      readonly marks: readonly TakeoverMark[]
    })

// ---- cursors: plain text, naming the last row that was shown. An invented cursor only selects another page. ----

export function conversationCursor(next: ConversationCursor | null): string | null {
  return next === null ? null : `${next.at}~${next.address}`
}

/** Throws `input_invalid` for any other text. */
export function parseConversationCursor(text: string): ConversationCursor {
  const cut = text.indexOf('~')
  const at = text.slice(0, Math.max(cut, 0))
  if (!/^\d{1,15}$/.test(at)) throw notOurs()
  const address = text.slice(cut + 1)
  parseAddress(address)
  return { at: Number(at), address }
}

export function threadCursor(next: ThreadCursor | null): string | null {
  return next === null ? null : `${next.turn}.${next.send}.${next.takeover}`
}

/** Throws likewise. */
export function parseThreadCursor(text: string): ThreadCursor {
  const [, turn, send, takeover] = /^(\d{1,16})\.(\d{1,16})\.(\d{1,16})$/.exec(text)?.map(Number) ?? []
  if (turn === undefined || send === undefined || takeover === undefined) throw notOurs()
  if (![turn, send, takeover].every(Number.isSafeInteger)) throw notOurs()
  return { turn, send, takeover }
}

function notOurs(): SwitchboardError {
  return new SwitchboardError('input_invalid', 'before: is not a cursor of this list')
}
