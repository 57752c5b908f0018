// The address for notices to a turn's sender.
import type { TurnRow } from '../../contract/index.ts'
import type { NoticeTarget } from '../notices.ts'
import { rowAddress } from '../signals.ts'

export function noticeTarget(row: TurnRow): NoticeTarget {
  return { to: rowAddress(row), platform: row.platform, agent: row.agent, session: row.session, turn: row.id }
}
