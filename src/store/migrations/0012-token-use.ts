// Migration 12: when a token was used last. Of those that are there already nobody knows: 0, not null, which says "never".
import type { Migration } from './migration.ts'

export const tokenUse: Migration = {
  number: 12,
  name: 'token-use',
  statements: ['ALTER TABLE tokens ADD COLUMN last_used_at BIGINT', 'UPDATE tokens SET last_used_at = 0'],
}
