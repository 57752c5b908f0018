// Migration 7: when an operator sent a turn round again. From then on it waits anew, however old the message is.
import type { Migration } from './migration.ts'

export const turnRetries: Migration = {
  number: 7,
  name: 'turn-retries',
  statements: ['ALTER TABLE turns ADD COLUMN retried_at BIGINT'],
}
