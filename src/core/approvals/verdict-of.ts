// Decisions as data: the verdict for the asking host, and the denial that Switchboard makes by itself.
import type { ApprovalRow, Decide, Verdict } from '../../contract/index.ts'

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

export function denial(id: string, cause: 'expired' | 'unreachable'): Decide {
  return { id, behavior: 'deny', cause, by: 'switchboard', via: 'switchboard' }
}
