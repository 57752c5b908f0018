// What of a page of history was missed: the entries beside what the inbox knows. Pure.
import type { HistoryEntry, InboundMessage, MessageKey } from '../../contract/index.ts'

export type KnownVersion = MessageKey & { readonly editVersion: number }

export interface Missed {
  readonly event: InboundMessage
  readonly at: number
  /** The edit that its text includes: received with it, so that it counts as known when the live link brings it. */
  readonly includes?: InboundMessage
}

/**
 * An unknown message is its first version with its present text; a known one edited since is that edit. What is older
 * than `since` was never ours, whatever the history yields.
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
    // The same message twice on one page is one.
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

/** The keys to ask for. */
export function keysOf(entries: readonly HistoryEntry[]): readonly MessageKey[] {
  return entries.flatMap(({ event }) =>
    event === null ? [] : [{ conversation: event.conversation, messageId: event.messageId }],
  )
}
