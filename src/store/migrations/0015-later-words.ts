// Migration 15: what a platform says of a send later: its receipt, and whether the agent has yet to hear that it failed.
import type { Migration } from './migration.ts'

export const laterWords: Migration = {
  number: 15,
  name: 'later-words',
  statements: [
    'ALTER TABLE outbox ADD COLUMN receipt TEXT',
    'ALTER TABLE outbox ADD COLUMN untold BIGINT',
    'CREATE INDEX outbox_untold ON outbox (session) WHERE untold = 1',
  ],
}
