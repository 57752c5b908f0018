// erasePerson: erases the content of a person's messages and of the answers to them. Rows, keys and counters stay, so a
// redelivery is still a duplicate. The entry names the rows and not the person, so verify detects content that was
// removed otherwise.
import {
  type ErasedWindow,
  type Identity,
  type PersonCursor,
  RESTING_REASONS,
} from '../../../contract/index.ts'
import { toRanges } from '../../ranges.ts'
import { readPerson } from '../../reads/person.ts'
import { firstRow, rows, run, type Steps, whole } from '../../statement.ts'
import { oneByOne, recordFact, type VerbContext } from '../../verb-context.ts'
import { forgetSteps } from '../turns/turn-steps.ts'
import { emptyInputs } from '../upkeep/upkeep.ts'

export interface EraseCall {
  readonly who: Identity
  readonly cursor: PersonCursor
  readonly by: string
}

const OPEN = ['queued', 'handed', 'sending']

export const erasePerson = oneByOne(function* (
  context: VerbContext,
  { who, cursor, by }: EraseCall,
): Steps<ErasedWindow> {
  const { tag } = context
  const found = yield* readPerson(tag, who, cursor)
  const isOpen = ({ state, reason }: { state: string; reason: string | null }) =>
    OPEN.includes(state) || (state === 'seen' && !RESTING_REASONS.includes(reason))
  const settled = found.turns.filter((turn) => !isOpen(turn))
  const turns = settled.filter((turn) => turn.body !== null).map((turn) => turn.seq)
  const sends = found.sends.filter((send) => !isOpen(send) && send.op !== null).map((send) => send.seq)
  if (turns.length > 0) yield* run('UPDATE turns SET body = NULL WHERE seq @any($1)', [turns])
  yield* forgetSteps(settled.map((turn) => turn.seq))
  const events = yield* eraseEvents(settled.map((turn) => turn.seq))
  if (sends.length > 0) {
    yield* run('UPDATE outbox SET op = NULL, claim = NULL WHERE seq @any($1)', [sends])
    yield* run('UPDATE notification_log SET message = NULL WHERE send @any($1)', [sends])
    yield* eraseClaims(sends)
  }
  const approvals = yield* eraseInputs(settled.map((turn) => turn.id))
  const prompts = yield* erasePrompts(settled.map((turn) => turn.id))
  yield* run('DELETE FROM pairings WHERE integration = $1 AND sender = $2', [who.integration, who.sender])
  yield* eraseFromLists(who)
  if (turns.length + sends.length + approvals.length + events.length + prompts.length > 0)
    recordFact(
      context,
      { kind: 'audit', ref: 'bodies', to: 'erased' },
      {
        by,
        turns: toRanges(turns),
        outbox: toRanges([...new Set([...sends, ...prompts])].sort((one, other) => one - other)),
        approvals: toRanges(approvals),
        events: toRanges(events),
      },
    )
  const open =
    found.turns.filter(isOpen).length +
    found.sends.filter(isOpen).length +
    (yield* stillAsked(settled.map((turn) => turn.id)))
  return {
    turns: turns.length,
    sends: sends.length + prompts.length,
    approvals: approvals.length,
    open,
    next: found.next,
  }
})

/** The search text of conversations, and the reasons why a person was asked for in theirs. */
function* eraseFromLists({ integration, sender }: Identity): Steps<void> {
  yield* run(`UPDATE conversations SET words = '' WHERE integration = $1 AND sender = $2 AND words <> ''`, [
    integration,
    sender,
  ])
  yield* run(
    `UPDATE takeovers SET asked_reason = NULL, asked_summary = NULL WHERE integration = $1 AND conversation = $2
     AND state = 'ended'`,
    [integration, sender],
  )
}

/**
 * A claim carries the agent's label for one of these messages. If a route uses the claim, only the label is erased.
 */
function* eraseClaims(sends: readonly number[]): Steps<void> {
  const led = `SELECT 1 FROM routes WHERE routes.place = claims.place AND routes.message_id = claims.message_id`
  yield* run(`DELETE FROM claims WHERE send @any($1) AND NOT EXISTS (${led})`, [sends])
  yield* run('UPDATE claims SET label = agent WHERE send @any($1)', [sends])
  yield* run(
    `UPDATE routes SET label = agent WHERE EXISTS (SELECT 1 FROM claims
     WHERE claims.place = routes.place AND claims.message_id = routes.message_id AND claims.send @any($1))`,
    [sends],
  )
}

function* eraseEvents(turns: readonly number[]): Steps<readonly number[]> {
  if (turns.length === 0) return []
  const told = yield* rows('SELECT DISTINCT turn FROM turn_events WHERE turn @any($1) AND body IS NOT NULL', [
    turns,
  ])
  const seqs = told.map((row) => whole(row, 'turn')).sort((one, other) => one - other)
  if (seqs.length > 0) yield* run('UPDATE turn_events SET body = NULL WHERE turn @any($1)', [seqs])
  return seqs
}

function* eraseInputs(turns: readonly string[]): Steps<readonly number[]> {
  if (turns.length === 0) return []
  const asked = yield* rows(
    `SELECT seq, ask FROM approvals WHERE turn @any($1) AND state NOT IN ('pending','decided','passing')
     AND ask NOT LIKE '%"pruned":true}' ORDER BY seq`,
    [turns],
  )
  yield* emptyInputs(asked)
  return asked.map((row) => whole(row, 'seq'))
}

/**
 * The messages that showed such a call on any integration: prompts, outcomes, and the parts of "show all". A queued
 * one keeps its content until it is sent and counts as open. The next run erases it.
 */
function* erasePrompts(turns: readonly string[]): Steps<readonly number[]> {
  if (turns.length === 0) return []
  const shown = yield* rows(
    `SELECT o.seq FROM approvals a JOIN outbox o ON o.approval = a.id AND o.created_at >= a.created_at
     WHERE a.turn @any($1) AND o.op IS NOT NULL AND o.state NOT IN ('queued','sending') ORDER BY o.seq`,
    [turns],
  )
  const seqs = [...new Set(shown.map((row) => whole(row, 'seq')))]
  if (seqs.length > 0) yield* run('UPDATE outbox SET op = NULL, claim = NULL WHERE seq @any($1)', [seqs])
  return seqs
}

/** Such calls that still wait for an answer, and queued messages that show one of them. */
function* stillAsked(turns: readonly string[]): Steps<number> {
  if (turns.length === 0) return 0
  const asked = yield* firstRow(
    `SELECT COUNT(*) AS n FROM approvals WHERE turn @any($1) AND state IN ('pending','decided','passing')`,
    [turns],
  )
  const shown = yield* firstRow(
    `SELECT COUNT(*) AS n FROM approvals a JOIN outbox o ON o.approval = a.id AND o.created_at >= a.created_at
     WHERE a.turn @any($1) AND o.state IN ('queued','sending')`,
    [turns],
  )
  return whole(asked ?? {}, 'n') + whole(shown ?? {}, 'n')
}

/** Erases a user's notifications, including those that led to no message. */
export const eraseNotifications = oneByOne(function* (
  _context: VerbContext,
  { user, limit }: { readonly user: string; readonly limit: number },
): Steps<number> {
  return yield* run(
    `UPDATE notification_log SET message = NULL WHERE id IN
     (SELECT id FROM notification_log WHERE user_id = $1 AND message IS NOT NULL LIMIT $2)`,
    [user, limit],
  )
})

/** Deletes a file of the person in the store that all nodes share. */
export const forgetFile = oneByOne(function* (
  context: VerbContext,
  { integration, name }: { readonly integration: string; readonly name: string },
): Steps<void> {
  const parts = yield* run('DELETE FROM files WHERE integration = $1 AND name = $2', [integration, name])
  if (parts > 0) recordFact(context, { kind: 'audit', ref: 'files', to: 'erased' }, { parts: String(parts) })
})
