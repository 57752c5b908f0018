// Messages from Switchboard itself to a person, such as an offline agent or a message that was given up. They go
// through the outbox, and never to a place that takes no messages.

import { type Address, defined, type NewSend, type TurnRow, type Wording } from '../contract/index.ts'
import { type Words, wordsIn } from '../words/index.ts'
import { rowAddress } from './signals.ts'

export interface NoticeTarget {
  readonly to: Address
  readonly platform: string
  readonly agent: string | null
  readonly session: string | null
  readonly turn: string | null
}

/** The sender of a turn. */
export function noticeTarget(row: TurnRow): NoticeTarget {
  return { to: rowAddress(row), platform: row.platform, agent: row.agent, session: row.session, turn: row.id }
}

/** Chooses a text for the person at a target, from the words of that person's language. */
export type Say = (words: Words) => Wording

/** Returns a notice. Notices with the same key are sent once. */
export function notice(
  target: NoticeTarget,
  say: Say,
  idempotencyKey?: string,
  failure?: { readonly message: string; readonly code?: string },
): NewSend {
  return {
    ...target,
    op: { kind: 'text', text: say(wordsIn()), ...defined({ failure }) },
    cause: 'notice',
    ...defined({ idempotencyKey }),
  }
}

export interface UndeliveredCount {
  readonly failed: number
  readonly unknown: number
  readonly of: 'answer' | 'file' | 'question'
}

/**
 * Returns a notice about messages of a conversation that were not delivered, or may not have been. It quotes nothing
 * and is tried once.
 */
export function undeliveredNotice(target: NoticeTarget, count: UndeliveredCount): NewSend {
  const text = wordsIn().notices.undelivered(count)
  return { ...target, op: { kind: 'text', text, once: true }, cause: 'notice' }
}
