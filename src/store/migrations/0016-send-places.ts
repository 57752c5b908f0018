// Migration 16: where a send that was tried again stands in the transcript.
import type { Migration } from './migration.ts'

export const sendPlaces: Migration = {
  number: 16,
  name: 'send-places',
  statements: [
    // Null: at its own position. Few have one, so an index of those alone costs the others nothing.
    'ALTER TABLE outbox ADD COLUMN place BIGINT',
    'CREATE INDEX outbox_placed ON outbox (place) WHERE place IS NOT NULL',
  ],
}
