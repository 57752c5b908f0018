// Migration 9: the approvals of a turn are found by it, however many there are.
import type { Migration } from './migration.ts'

export const approvalTurns: Migration = {
  number: 9,
  name: 'approval-turns',
  statements: ['CREATE INDEX approvals_turn ON approvals (turn, seq) WHERE turn IS NOT NULL'],
}
