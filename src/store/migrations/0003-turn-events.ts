// Migration 3: what agents tell of their work on a turn. The body holds call, name and text, and goes with other bodies.
import type { Migration } from './migration.ts'

export const turnEvents: Migration = {
  number: 3,
  name: 'turn-events',
  statements: [
    `CREATE TABLE turn_events (
      turn BIGINT NOT NULL, n INTEGER NOT NULL, at BIGINT NOT NULL, kind TEXT NOT NULL, body TEXT, idem TEXT,
      PRIMARY KEY (turn, n))`,
    'CREATE UNIQUE INDEX turn_events_idem ON turn_events (turn, idem) WHERE idem IS NOT NULL',
    'CREATE INDEX turn_events_kept ON turn_events (at) WHERE body IS NOT NULL',
  ],
}
