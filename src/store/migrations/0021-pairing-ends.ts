// Migration 21: codes that ended, found among thousands that did not: every stranger's message looks for them.
import type { Migration } from './migration.ts'

export const pairingEnds: Migration = {
  number: 21,
  name: 'pairing-ends',
  statements: ['CREATE INDEX pairings_ends ON pairings (integration, expires_at)'],
}
