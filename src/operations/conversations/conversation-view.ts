// Conversations, threads and takeovers as operators see them.
import {
  type ConversationRow,
  type ConversationView,
  DEFAULT_TAKEOVER,
  iso,
  isoOrNull,
  opText,
  type Settings,
  type TakeoverRow,
  type TakeoverView,
  type ThreadItem,
  type ThreadRow,
} from '../../contract/index.ts'
import { approvalView } from '../approval-view.ts'
import { sendView } from '../send-view.ts'
import { turnEventView, turnView } from '../turns/turn-view.ts'

/** For whom a view is made. */
export interface Viewer {
  readonly settings: () => Settings
  /** The name of the caller in the ledger. */
  readonly by: string
}

export function takeoverView(row: TakeoverRow, { settings, by }: Viewer): TakeoverView {
  const { takeoverTimeoutMs } = settings().tunables
  const timed = row.state === 'held' && row.lastWordAt !== null && takeoverTimeoutMs > 0
  return {
    id: row.id,
    address: row.address,
    integration: row.at.integration,
    conversation: row.at.conversation,
    thread: row.at.thread ?? null,
    agent: row.agent,
    state: row.state,
    asked: row.asked === null ? null : { ...row.asked, at: iso(row.asked.at) },
    holder: row.holder,
    holder_name: row.holderName,
    as: (settings().takeover ?? DEFAULT_TAKEOVER).as,
    since: isoOrNull(row.since),
    last_word_at: isoOrNull(row.lastWordAt),
    ends_at: timed ? iso((row.lastWordAt ?? 0) + takeoverTimeoutMs) : null,
    ended: row.ended === null ? null : { ...row.ended, at: iso(row.ended.at) },
    mine: row.state === 'held' && row.holder === by,
  }
}

export function conversationView(row: ConversationRow, viewer: Viewer): ConversationView {
  const { lastTurn, lastSend } = row
  return {
    address: row.address,
    integration: row.at.integration,
    platform: row.platform,
    conversation: row.at.conversation,
    thread: row.at.thread ?? null,
    agent: row.agent,
    sender: lastTurn?.sender ?? null,
    sender_name: lastTurn?.body?.senderName ?? null,
    chat: lastTurn?.body ? (lastTurn.body.chat ?? 'direct') : null,
    label: labelOf(lastTurn?.body?.meta ?? {}),
    first_at: iso(row.firstAt),
    last_at: iso(row.lastAt),
    turns: row.turns,
    sends: row.sends,
    last: lastOf(lastTurn, lastSend),
    takeover: row.takeover === null ? null : takeoverView(row.takeover, viewer),
  }
}

const SHOWN_CHARS = 300

/** Words of people, as everything that adapters tell: shown on one line, and never as more. */
function labelOf(meta: Readonly<Record<string, string>>): string | null {
  return (meta.subject ?? meta.channel_name ?? meta.chat_title)?.slice(0, SHOWN_CHARS) ?? null
}

function lastOf(
  turn: ConversationRow['lastTurn'],
  send: ConversationRow['lastSend'],
): ConversationView['last'] {
  if (send && (!turn || send.createdAt >= turn.receivedAt)) {
    // What was asked of an approver is for whoever may see it: `show` asks for that.
    const text = send.op === null || send.cause === 'prompt' ? null : opText(send.op).slice(0, SHOWN_CHARS)
    const { id, state, reason } = sendView(send)
    return { direction: 'out', id, text, state, reason, at: iso(send.createdAt) }
  }
  if (!turn) return null
  const text = turn.body?.text.slice(0, SHOWN_CHARS) ?? null
  const { id, state, reason } = turn
  return { direction: 'in', id, text, state, reason, at: iso(turn.receivedAt) }
}

export function threadItem(row: ThreadRow, viewer: Viewer): ThreadItem {
  switch (row.kind) {
    case 'takeover': {
      const { takeover, marks } = row
      const times = { asked: takeover.asked?.at, taken: takeover.since, ended: takeover.ended?.at }
      const at = iso(times[marks[0] ?? 'taken'] ?? 0)
      return { kind: 'takeover', at, ...takeoverView(takeover, viewer), marks }
    }
    case 'send':
      return { kind: 'send', at: iso(row.send.createdAt), ...sendView(row.send), by: row.by }
    case 'turn': {
      const { turn } = row
      return {
        kind: 'turn',
        at: iso(turn.receivedAt),
        ...turnView(turn),
        edit_version: turn.editVersion,
        repeat: turn.repeat,
        takeover: turn.takeover ?? null,
        attachments: turn.body?.attachments ?? [],
        reply_to: turn.body?.replyTo?.messageId ?? null,
        events: row.events.map(turnEventView),
        approvals: row.approvals.map(approvalView),
      }
    }
  }
}
