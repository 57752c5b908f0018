// A checkpoint of the ledger: the summary of all entries up to a position, so that they can be deleted. It is itself an
// entry of the ledger, so the chain covers it. `meta` holds a copy, to find it without reading the whole ledger.
import { firstRow, run, type Steps, text } from './statement.ts'

export const CHECKPOINT = { kind: 'audit', ref: 'ledger', to: 'checkpoint' } as const

export interface Checkpoint {
  /** The last deleted position. */
  readonly through: number
  /** The time of that entry. */
  readonly at: number
  /** The total number of deleted entries. */
  readonly entries: number
  readonly head: string
  /** Chain → its length at the checkpoint, and its head there. */
  readonly chains: Readonly<Record<string, readonly [n: number, mac: string]>>
  /** `integration\nname\nreason` → count. */
  readonly counts: Readonly<Record<string, number>>
  readonly grants: readonly string[]
  /** The highest positions in the deleted entries. Later entries may mention these rows without their first entry. */
  readonly turns: number
  readonly sends: number
}

const META = 'checkpoint'

export function* readCheckpoint(): Steps<{ readonly written: string; readonly at: Checkpoint } | null> {
  const row = yield* firstRow('SELECT value FROM meta WHERE name = $1', [META])
  if (!row) return null
  const written = text(row, 'value')
  return { written, at: JSON.parse(written) as Checkpoint }
}

export function* keepCheckpoint(written: string): Steps<void> {
  yield* run(
    'INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    [META, written],
  )
}
