// All migrations, in order. To add one: a new numbered file and a line here; never edit one that was released.
import { river } from './0001-river.ts'
import { sending } from './0002-sending.ts'
import { turnEvents } from './0003-turn-events.ts'
import { nodes } from './0004-nodes.ts'
import { pairingList } from './0005-pairing-list.ts'
import { files } from './0006-files.ts'
import { turnRetries } from './0007-turn-retries.ts'
import { scheduleTimes } from './0008-schedule-times.ts'
import { approvalTurns } from './0009-approval-turns.ts'
import { statusLines } from './0010-status-lines.ts'
import { turnSteps } from './0011-turn-steps.ts'
import { tokenUse } from './0012-token-use.ts'
import { history } from './0013-history.ts'
import { fileOrders } from './0014-file-orders.ts'
import { laterWords } from './0015-later-words.ts'
import { sendPlaces } from './0016-send-places.ts'
import { takeovers } from './0017-takeovers.ts'
import { stuckSends } from './0018-stuck-sends.ts'
import { turnsAside } from './0019-turns-aside.ts'
import { takeoverPlaces } from './0020-takeover-places.ts'
import { pairingEnds } from './0021-pairing-ends.ts'
import { approvalPassing } from './0022-approval-passing.ts'
import { agentTrouble } from './0023-agent-trouble.ts'
import { inputTries } from './0024-input-tries.ts'
import { openOutcomes } from './0025-open-outcomes.ts'
import { restingTurns } from './0026-resting-turns.ts'
import type { Migration } from './migration.ts'

export const MIGRATIONS: readonly Migration[] = [
  river,
  sending,
  turnEvents,
  nodes,
  pairingList,
  files,
  turnRetries,
  scheduleTimes,
  approvalTurns,
  statusLines,
  turnSteps,
  tokenUse,
  history,
  fileOrders,
  laterWords,
  sendPlaces,
  takeovers,
  stuckSends,
  turnsAside,
  takeoverPlaces,
  pairingEnds,
  approvalPassing,
  agentTrouble,
  inputTries,
  openOutcomes,
  restingTurns,
]
export { META_TABLE, pendingMigrations } from './migration.ts'
