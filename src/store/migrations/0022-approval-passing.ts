// Migration 22: an approval whose verdict is being passed on is open, too: its id is taken, and it is found among the open ones.
import type { Migration } from './migration.ts'

export const approvalPassing: Migration = {
  number: 22,
  name: 'approval-passing',
  statements: [
    'DROP INDEX approvals_live',
    'DROP INDEX approvals_open',
    `CREATE UNIQUE INDEX approvals_live ON approvals (id) WHERE state IN ('pending','decided','passing')`,
    `CREATE INDEX approvals_open ON approvals (seq) WHERE state IN ('pending','decided','passing')`,
  ],
}
