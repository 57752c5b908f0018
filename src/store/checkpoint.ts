// A checkpoint of the ledger: all that its entries up to a position told, so that they can go. It stands in an entry of
// the ledger, where the chain vouches for it; `meta` has a copy, for finding it without reading the whole ledger.
import { firstRow, run, type Steps, text } from './statement.ts'

export const CHECKPOINT = { kind: 'audit', ref: 'ledger', to: 'checkpoint' } as const

export interface Checkpoint {
  /** The last position that is gone. */
  readonly through: number
  /** When that was. */
  readonly at: number
  /** How many entries went, in all. */
  readonly entries: number
  readonly head: string
  /** Chain → how far it had come, and its head there. */
  readonly chains: Readonly<Record<string, readonly [n: number, mac: string]>>
  /** `integration\nname\nreason` → count. */
  readonly counts: Readonly<Record<string, number>>
  readonly grants: readonly string[]
  /** The highest positions that entries had told of: later ones may tell of them without their birth. */
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
