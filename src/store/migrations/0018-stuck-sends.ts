// Migration 18: sends that need a person, found among millions that do not.
import type { Migration } from './migration.ts'

export const stuckSends: Migration = {
  number: 18,
  name: 'stuck-sends',
  statements: [
    // Few are in it, so the others pay nothing for it.
    `CREATE INDEX outbox_stuck ON outbox (seq) WHERE state IN ('failed','unknown')`,
  ],
}
