// Migration 25: sends whose outcome is open, and sends that were not delivered and of which the person has yet to hear.
import type { Migration } from './migration.ts'

export const openOutcomes: Migration = {
  number: 25,
  name: 'open-outcomes',
  statements: [
    'ALTER TABLE outbox ADD COLUMN open_outcome TEXT',
    // Of a row in `sending` with the reason `outcome_open`: when it is looked at next, and from when others go first.
    'ALTER TABLE outbox ADD COLUMN look_at BIGINT',
    'ALTER TABLE outbox ADD COLUMN yields_at BIGINT',
    // 0: the person is to be told; later: when that was.
    'ALTER TABLE outbox ADD COLUMN noticed_at BIGINT',
    'CREATE INDEX outbox_noticed ON outbox (integration, conversation, noticed_at) WHERE noticed_at IS NOT NULL',
    'CREATE INDEX outbox_unnoticed ON outbox (seq) WHERE noticed_at = 0',
  ],
}
