// Approvals: asked, decided by a compare-and-set with one winner, and settled when the verdict was passed on.
import type { ApprovalRow, ApprovalState, Decide, NewApproval, NewSend } from '../../../contract/index.ts'
import { APPROVAL_COLUMNS, approvalRow } from '../../codec.ts'
import { firstRow, reserve, run, type Steps } from '../../statement.ts'
import { hint, oneByOne, recordFact, type Verb, type VerbContext } from '../../verb-context.ts'
import { enqueueSends } from '../sends/enqueue.ts'

export interface AskCall {
  readonly approval: NewApproval
  readonly prompts: readonly NewSend[]
}

/**
 * Writes row and prompts in one commit. `collision`: the id's approval still waits for its verdict, or for the verdict
 * to be passed on.
 */
export const ask = oneByOne(function* (
  context: VerbContext,
  { approval, prompts }: AskCall,
): Steps<'asked' | 'collision'> {
  const [seq] = yield* reserve('approvals', 1)
  const written = yield* run(
    `INSERT INTO approvals (seq, id, host_id, agent, session, turn, ask, input_hash, state, created_at, expires_at, asker)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'pending', $9, $10, $11)
     ON CONFLICT (id) WHERE state IN ('pending','decided','passing') DO NOTHING`,
    [
      seq ?? 0,
      approval.id,
      approval.hostId,
      approval.agent,
      approval.session,
      approval.turn,
      JSON.stringify(approval.ask),
      approval.inputHash,
      context.now,
      approval.expiresAt,
      context.owner,
    ],
  )
  if (written === 0) return 'collision'
  recordFact(
    context,
    { kind: 'approval', ref: approval.id, to: 'pending', digest: approval.inputHash },
    { agent: approval.agent, session: approval.session, tool: approval.ask.toolName },
  )
  hint(context, { kind: 'approval', id: approval.id })
  yield* enqueueSends(context, prompts)
  return 'asked'
})

export interface Decided {
  readonly won: boolean
  readonly approval: ApprovalRow | null
}

export interface DecideCall {
  readonly decide: Decide
  readonly words: readonly NewSend[]
}

/** The messages to the chats are in the commit of the verdict, so neither exists without the other. */
export const decide = oneByOne(function* (
  context: VerbContext,
  { decide, words }: DecideCall,
): Steps<Decided> {
  const decided = yield* decideApproval(context, decide)
  if (decided.won) yield* enqueueSends(context, words)
  return decided
})

/**
 * Moves pending → decided, or → expired when the time ran out. Only the first decision wins, and a person's decision
 * must be in time.
 */
export function* decideApproval(context: VerbContext, call: Decide): Steps<Decided> {
  const to = call.cause === 'expired' ? 'expired' : 'decided'
  const after = call.cause === 'person' ? context.now : 0
  const won =
    (yield* run(
      `UPDATE approvals SET state = $2, behavior = $3, cause = $4, decided_by = $5, decided_via = $6,
       decided_at = $7 WHERE id = $1 AND state = 'pending' AND expires_at > $8`,
      [call.id, to, call.behavior, call.cause, call.by, call.via, context.now, after],
    )) > 0
  const approval = yield* latestApproval(call.id)
  if (won && approval) {
    recordFact(
      context,
      { kind: 'approval', ref: call.id, from: 'pending', to, digest: approval.inputHash },
      { behavior: call.behavior, cause: call.cause, by: call.by, via: call.via },
    )
    hint(context, { kind: 'approval', id: call.id })
  }
  return { won, approval }
}

export interface SettleCall {
  readonly id: string
  readonly to: SettledTo
  readonly words: readonly NewSend[]
}

type SettledTo = 'passing' | 'decided' | 'relayed' | 'undeliverable' | 'withdrawn'

const BEFORE: Readonly<Record<SettledTo, readonly ApprovalState[]>> = {
  withdrawn: ['pending'],
  passing: ['decided'],
  decided: ['passing'],
  relayed: ['decided', 'passing'],
  undeliverable: ['decided', 'passing'],
}

export const settleApproval = oneByOne(function* (
  context: VerbContext,
  { id, to, words }: SettleCall,
): Steps<ApprovalRow | null> {
  const before = yield* latestApproval(id)
  if (!before || !BEFORE[to].includes(before.state)) return null
  // A withdrawn question ends now, without a decision.
  const endedAt = to === 'withdrawn' ? context.now : null
  const changed = yield* run(
    'UPDATE approvals SET state = $2, decided_at = COALESCE(decided_at, $4) WHERE seq = $1 AND state = $3',
    [before.seq, to, before.state, endedAt],
  )
  if (changed === 0) return null
  const approval = { ...before, state: to, decidedAt: before.decidedAt ?? endedAt }
  recordFact(context, { kind: 'approval', ref: id, from: before.state, to, digest: before.inputHash })
  // While the verdict is being passed on nothing has ended, so no other node has work.
  if (to !== 'passing' && to !== 'decided') hint(context, { kind: 'approval', id })
  yield* enqueueSends(context, words)
  return approval
})

/** The ledger records the verdict and its end, but not which node passes it on. */
export const adopt: Verb<string, void> = oneByOne(function* (context, id) {
  yield* run(`UPDATE approvals SET asker = $2 WHERE id = $1 AND state IN ('pending','decided','passing')`, [
    id,
    context.owner,
  ])
})

/** Returns the newest row of an id, because ids are reused. */
export function* latestApproval(id: string): Steps<ApprovalRow | null> {
  const row = yield* firstRow(
    `SELECT ${APPROVAL_COLUMNS} FROM approvals WHERE id = $1 ORDER BY seq DESC LIMIT 1`,
    [id],
  )
  return row ? approvalRow(row) : null
}
