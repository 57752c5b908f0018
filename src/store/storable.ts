// Texts that every database can store: no NUL (PostgreSQL refuses it) and no lone surrogate (UTF-8 has none). Strangers
// choose message and sender ids. A hostile id must not fail a commit or confuse the audit.
import type { NewTurn } from '../contract/index.ts'

// With the u flag a pair is one character, so only lone halves match.
const UNSTORABLE = /[\0\uD800-\uDFFF]/u
const ALL_UNSTORABLE = /[\0\uD800-\uDFFF]/gu

export function storable(text: string): string {
  return UNSTORABLE.test(text) ? text.replace(ALL_UNSTORABLE, '\uFFFD') : text
}

/** Returns the turn with all its unchanged texts made storable. */
export function storableTurn(turn: NewTurn): NewTurn {
  const { at } = turn
  const suspect = `${turn.sender}${turn.messageId}${at.conversation}${at.thread ?? ''}`
  if (!UNSTORABLE.test(suspect)) return turn
  const conversation = storable(at.conversation)
  return {
    ...turn,
    sender: storable(turn.sender),
    messageId: storable(turn.messageId),
    at: {
      integration: at.integration,
      conversation,
      ...(at.thread === undefined ? {} : { thread: storable(at.thread) }),
    },
  }
}
