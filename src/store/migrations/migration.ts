// Migrations go forward only and are numbered without gaps. Each runs in one transaction with its mark in `meta`.
import { SwitchboardError } from '../../contract/index.ts'

export interface Migration {
  readonly number: number
  readonly name: string
  readonly statements: readonly string[]
  /** Run after the shared ones. */
  readonly sqliteOnly?: readonly string[]
  readonly postgresOnly?: readonly string[]
}

export const META_TABLE = 'CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)'

/** The statements that bring a database from `found` to now. Throws `store_corrupt` for one from a newer version. */
export function pendingMigrations(all: readonly Migration[], found: number): readonly Migration[] {
  const newest = all.at(-1)?.number ?? 0
  if (found > newest) {
    throw new SwitchboardError(
      'store_corrupt',
      `the database is at schema ${found}, this version knows ${newest}`,
      { hint: 'it was written by a newer version of Switchboard: run that version, or restore a backup' },
    )
  }
  return all.filter((migration) => migration.number > found)
}
