// The part of verify that asks why a body is absent: it was pruned, and the ledger tells so, or somebody took it.
import type { LedgerEntry } from '../../contract/index.ts'
import { fromRanges } from '../ranges.ts'
import { parsed } from './replay.ts'

export type PrunedTable = 'turns' | 'outbox'

export interface PruneCheck {
  expect(entry: LedgerEntry): void
  /** A row that once had a body has none. */
  absent(table: PrunedTable, seq: number): void
  /** An event without its body. They are pruned by age alone. */
  absentEvent(at: number): void
  /** What no pruning explains. */
  unexplained(): string | null
}

export function createPruneCheck(): PruneCheck {
  const found = { turns: createMarks(), outbox: createMarks() }
  const told = { turns: createMarks(), outbox: createMarks() }
  let newestEvent = Number.NEGATIVE_INFINITY
  let eventsBefore = Number.NEGATIVE_INFINITY
  return {
    expect(entry) {
      if (entry.kind !== 'audit' || entry.ref !== 'bodies' || entry.to !== 'pruned') return
      const detail = parsed(entry.detail)
      for (const table of ['turns', 'outbox'] as const) {
        for (const [from, to] of fromRanges(String(detail[table] ?? ''))) told[table].set(from, to)
      }
      eventsBefore = Math.max(eventsBefore, Number(detail.before ?? Number.NEGATIVE_INFINITY))
    },
    absent: (table, seq) => found[table].set(seq, seq),
    absentEvent(at) {
      newestEvent = Math.max(newestEvent, at)
    },
    unexplained() {
      for (const table of ['turns', 'outbox'] as const) {
        const seq = found[table].firstNotIn(told[table])
        if (seq !== null) return `row ${seq} of ${table} lost its content, and no pruning tells of it`
      }
      return newestEvent < eventsBefore || newestEvent === Number.NEGATIVE_INFINITY
        ? null
        : 'an event lost its content, and no pruning tells of it'
    },
  }
}

/** One byte per row, as in the replay. */
function createMarks() {
  let bytes = new Uint8Array(1024)
  return {
    set(from: number, to: number): void {
      if (to >= bytes.length) {
        const larger = new Uint8Array(Math.max(bytes.length * 2, to + 1))
        larger.set(bytes)
        bytes = larger
      }
      bytes.fill(1, from, to + 1)
    },
    has: (seq: number) => bytes[seq] === 1,
    firstNotIn(others: { has(seq: number): boolean }): number | null {
      const found = bytes.findIndex((byte, seq) => byte === 1 && !others.has(seq))
      return found === -1 ? null : found
    },
  }
}
