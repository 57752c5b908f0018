// The part of verify that explains missing bodies: the ledger records a pruning, or the body was removed by hand.
import { type LedgerEntry, rowId } from '../../contract/index.ts'
import { fromRanges } from '../ranges.ts'
import { parsed } from './replay.ts'

export type PrunedTable = 'turns' | 'outbox' | 'approvals'
const TABLES = ['turns', 'outbox', 'approvals'] as const

export interface PruneCheck {
  expect(entry: LedgerEntry): void
  /** A row that once had a body has none. */
  absent(table: PrunedTable, seq: number): void
  /** An event without its body: pruned by age, or erased with its turn. */
  absentEvent(at: number, turn: number): void
  /** An event that does not exist. Its turn must have been deleted. */
  missingEvent(turn: number): void
  /** Returns the first missing body or event that no pruning explains; null: none. */
  unexplained(): string | null
}

export function createPruneCheck(tag: string): PruneCheck {
  const found = { turns: createMarks(), outbox: createMarks(), approvals: createMarks() }
  const told = { turns: createMarks(), outbox: createMarks(), approvals: createMarks() }
  const gone = createMarks()
  const missing = createMarks()
  const erased = createMarks()
  const emptied = createTimes()
  let eventsBefore = Number.NEGATIVE_INFINITY
  return {
    expect(entry) {
      if (entry.kind !== 'audit') return
      const detail = parsed(entry.detail)
      if (entry.ref === 'rows' && entry.to === 'pruned')
        for (const [from, to] of fromRanges(String(detail.turns ?? ''))) gone.set(from, to)
      if (entry.ref !== 'bodies' || (entry.to !== 'pruned' && entry.to !== 'erased')) return
      for (const table of TABLES) {
        for (const [from, to] of fromRanges(String(detail[table] ?? ''))) told[table].set(from, to)
      }
      if (entry.to === 'erased')
        for (const [from, to] of fromRanges(String(detail.events ?? ''))) erased.set(from, to)
      else eventsBefore = Math.max(eventsBefore, Number(detail.before ?? Number.NEGATIVE_INFINITY))
    },
    absent: (table, seq) => found[table].set(seq, seq),
    absentEvent: (at, turn) => emptied.set(turn, at),
    missingEvent: (turn) => missing.set(turn, turn),
    unexplained() {
      for (const table of TABLES) {
        const seq = found[table].firstNotIn(told[table])
        if (seq !== null) return `row ${seq} of ${table} lost its content, and no pruning tells of it`
      }
      const turn = missing.firstNotIn(gone)
      if (turn !== null) return `an event of ${rowId('t', tag, turn)} is missing`
      return emptied.every((of, at) => at < eventsBefore || erased.has(of))
        ? null
        : 'an event lost its content, and no pruning tells of it'
    },
  }
}

/** Turn → the time of its youngest event. */
function createTimes() {
  let times = new Float64Array(1024)
  return {
    set(seq: number, at: number): void {
      if (seq >= times.length) {
        const larger = new Float64Array(Math.max(times.length * 2, seq + 1))
        larger.set(times)
        times = larger
      }
      times[seq] = Math.max(times[seq] ?? 0, at)
    },
    every: (holds: (seq: number, at: number) => boolean) =>
      times.every((at, seq) => at === 0 || holds(seq, at)),
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
