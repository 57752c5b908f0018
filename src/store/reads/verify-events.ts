// The part of verify for agents' reports: every event in the ledger exists unchanged.
import { type LedgerEntry, rowSeq } from '../../contract/index.ts'
import { digestOf } from '../mac.ts'
import { rows, type Steps, text, textOrNull, whole } from '../statement.ts'
import { parsed } from './replay.ts'
import type { PruneCheck } from './verify-pruned.ts'
import type { Wrong } from './verify-rows.ts'

export interface EventCheck {
  expect(entry: LedgerEntry): void
  /** Compares the events expected since the last call. */
  compare(): Steps<Wrong | null>
}

export function createEventCheck(tag: string, prunes: PruneCheck): EventCheck {
  let expected = new Map<string, LedgerEntry>()
  let turns = new Set<number>()
  return {
    expect(entry) {
      if (entry.kind !== 'turn_event') return
      const turn = rowSeq('t', tag, entry.ref)
      if (turn === null) return
      turns.add(turn)
      expected.set(`${turn} ${String(parsed(entry.detail).n)}`, entry)
    },
    *compare() {
      if (turns.size === 0) return null
      const asked = [...turns]
      const waiting = expected
      expected = new Map()
      turns = new Set()
      let wrong: Wrong | null = null
      for (const row of yield* rows('SELECT turn, n, kind, body FROM turn_events WHERE turn @any($1)', [
        asked,
      ])) {
        const place = `${whole(row, 'turn')} ${whole(row, 'n')}`
        const entry = waiting.get(place)
        waiting.delete(place)
        const body = textOrNull(row, 'body')
        if (entry && body === null) prunes.absentEvent(entry.at, whole(row, 'turn'))
        // An unexpected event belongs to another page of the ledger.
        const same =
          !entry || (text(row, 'kind') === entry.to && (body === null || digestOf(body) === entry.digest))
        if (entry && !same) wrong ??= { seq: entry.seq, problem: `an event of ${entry.ref} was changed` }
      }
      // Events are deleted with their turn. A later entry records that deletion.
      for (const entry of waiting.values()) prunes.missingEvent(rowSeq('t', tag, entry.ref) ?? 0)
      return wrong
    },
  }
}
