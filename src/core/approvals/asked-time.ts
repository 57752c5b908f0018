// How long a person was asked during a turn. The agent is not answerable for that time.
import type { ApprovalRow, Store } from '../../contract/index.ts'

const MOST_ASKED = 200

/** Returns the milliseconds since `since` in which at least one approval of the turn was open. */
export async function askedMsOf(
  store: Pick<Store, 'approvals'>,
  turn: string,
  since: number,
  now: number,
): Promise<number> {
  const rows = await store.approvals({ turn, limit: MOST_ASKED })
  const spans = rows.map((row) => [Math.max(row.createdAt, since), Math.min(endOf(row, now), now)] as const)
  let asked = 0
  let until = since
  for (const [from, to] of [...spans].sort(([one], [other]) => one - other)) {
    asked += Math.max(0, to - Math.max(from, until))
    until = Math.max(until, to)
  }
  return asked
}

function endOf(row: ApprovalRow, now: number): number {
  if (row.state === 'pending') return now
  return row.decidedAt ?? row.expiresAt
}
