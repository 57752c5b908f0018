// What the asking host is told of a decision.
import type { ApprovalRow, Verdict } from '../../contract/index.ts'

export function verdictOf(row: ApprovalRow): Verdict {
  return {
    approval: row.id,
    session: row.session,
    turn: row.turn,
    behavior: row.behavior ?? 'deny',
    decidedBy: row.decidedBy ?? 'switchboard',
    cause: row.cause ?? 'person',
    ask: row.ask,
  }
}
