// Migration 13: completeness. How far each integration was compared with its platform's history, a mark for each place,
// the keys of drops that left no row, and when a late message was really said.
import type { Migration } from './migration.ts'

export const history: Migration = {
  number: 13,
  name: 'history',
  statements: [
    `CREATE TABLE history_links (
      integration TEXT PRIMARY KEY, began_at BIGINT NOT NULL, until_at BIGINT, compared_at BIGINT,
      state TEXT NOT NULL, detail TEXT)`,
    `CREATE TABLE history_marks (
      integration TEXT NOT NULL, place TEXT NOT NULL, position TEXT NOT NULL, at BIGINT NOT NULL,
      PRIMARY KEY (integration, place))`,
    `CREATE TABLE dropped_messages (
      integration TEXT NOT NULL, conversation TEXT NOT NULL, message_id TEXT NOT NULL, edit_version BIGINT NOT NULL,
      at BIGINT NOT NULL, PRIMARY KEY (integration, message_id, conversation, edit_version))`,
    'CREATE INDEX dropped_messages_age ON dropped_messages (integration, at)',
    'ALTER TABLE turns ADD COLUMN late_at BIGINT',
  ],
}
