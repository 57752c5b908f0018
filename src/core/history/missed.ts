// Finds the entries of a history page that the inbox does not know. Pure.
import type { HistoryEntry, InboundMessage, MessageKey } from '../../contract/index.ts'

export type KnownVersion = MessageKey & { readonly editVersion: number }

export interface Missed {
  readonly event: InboundMessage
  readonly at: number
  /**
   * The edit that the text already includes. It is received together with the message, so it counts as known when the
   * live link brings it.
   */
  readonly includes?: InboundMessage
}

/**
 * Returns the missed entries. An unknown message is received as its first version with its present text. A known
 * message that was edited since is received as that edit. Entries older than `since` were never ours.
 */
export function missedIn(
  entries: readonly HistoryEntry[],
  known: readonly KnownVersion[],
  since: number,
): readonly Missed[] {
  const versions = new Map<string, number[]>()
  for (const one of known) {
    if (one.editVersion < 0) continue
    const key = keyOf(one)
    const others = versions.get(key)
    if (others) others.push(one.editVersion)
    else versions.set(key, [one.editVersion])
  }
  const missed: Missed[] = []
  for (const { event, at } of entries) {
    if (event === null || at < since) continue
    const present = event.editVersion ?? 0
    const before = versions.get(keyOf(event))
    // The same message twice on one page counts once.
    if (before === undefined) versions.set(keyOf(event), [0, present])
    else before.push(present)
    if (before === undefined) {
      const first = { ...event, kind: 'message', editVersion: 0, at } as const
      const edit = { ...event, kind: 'edit', editVersion: present, at, included: true } as const
      missed.push({ at, event: first, ...(present === 0 ? {} : { includes: edit }) })
    } else if (present > 0 && before.slice(0, -1).every((version) => version < present))
      missed.push({ at, event: { ...event, kind: 'edit', editVersion: present, at } })
  }
  return missed
}

const keyOf = ({ conversation, messageId }: MessageKey) => JSON.stringify([conversation, messageId])

/** Returns the keys to look up. */
export function keysOf(entries: readonly HistoryEntry[]): readonly MessageKey[] {
  return entries.flatMap(({ event }) =>
    event === null ? [] : [{ conversation: event.conversation, messageId: event.messageId }],
  )
}
