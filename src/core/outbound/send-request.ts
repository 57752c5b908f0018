// An outbox row as a request to its platform.
import { type OutboundOp, type SendRequest, type SendRow, withoutNulls } from '../../contract/index.ts'
import { rowAddress } from '../signals.ts'

export function requestOf(row: SendRow, op: OutboundOp): SendRequest {
  const turn = withoutNulls({ turn: row.turn })
  const part = row.group === null ? {} : { part: row.part }
  const shown = row.platformIds.length === 0 ? {} : { shown: row.platformIds }
  const seq = row.place ?? row.seq
  const at = Math.max(row.createdAt, row.dueAt)
  return { to: rowAddress(row), op, key: row.id, seq, at, cause: row.cause, ...turn, ...part, ...shown }
}
