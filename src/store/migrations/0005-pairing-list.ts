// Migration 5: codes that made room for others are set aside (listed_at NULL), so that their strangers stay known.
import type { Migration } from './migration.ts'

export const pairingList: Migration = {
  number: 5,
  name: 'pairing-list',
  statements: [
    'ALTER TABLE pairings ADD COLUMN listed_at BIGINT',
    'UPDATE pairings SET listed_at = created_at',
    'CREATE INDEX pairings_listed ON pairings (integration, listed_at, created_at)',
  ],
}
