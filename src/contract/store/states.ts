// The states of turns, sends and approvals, and which moves are allowed.
//
// A turn is one inbound message on its way through an agent:
//
//   queued ──▶ handed ──▶ seen ──▶ answered
//
// `handed` is written before the hand-over, so a crash in between makes a marked repeat, never an unmarked one. `seen`
// and `answered` need evidence from the agent. A handed turn may return to `queued` when the connector knows that it
// was not taken. handed → handed (reason `taken`) records that an agent that outlives the daemon has it.
//
// seen → seen (reason `acknowledged`): the agent reported that it will not answer at once, or at all. Such a turn
// rests: it is neither waited for nor offered again, and can still be answered. Reason `one_way`: no answer is possible
// there, so the turn rests once its host has it. It is `handed` without evidence (and expires with the queue), or
// `seen` with it.
//
// `consumed` is an initial state that never moves. It is also the end of a queued turn whose message was deleted
// (reason `withdrawn`). `refused` is an initial state, too. It is also the end of a turn that was not handed over
// because its sender, chat, integration or binding lost access (reason `revoked`): access is checked again at
// hand-over.

export const TURN_STATES = [
  'queued',
  'handed',
  'seen',
  'answered',
  'refused',
  'consumed',
  'failed',
  'expired',
] as const
export type TurnState = (typeof TURN_STATES)[number]

export const OPEN_TURN_STATES = ['queued', 'handed', 'seen'] as const satisfies readonly TurnState[]

const TURN_MOVES: Record<TurnState, readonly TurnState[]> = {
  queued: ['handed', 'refused', 'consumed', 'failed', 'expired'],
  handed: ['queued', 'handed', 'seen', 'answered', 'refused', 'failed', 'expired'],
  seen: ['queued', 'seen', 'answered', 'failed', 'expired'],
  answered: [],
  refused: [],
  consumed: [],
  failed: ['queued'], // an operator's retry
  expired: ['queued'], // likewise
}

export function turnMayMove(from: TurnState, to: TurnState): boolean {
  return TURN_MOVES[from].includes(to)
}

/** In flight, but not waited for: the agent acknowledged it, or it is one-way and its host has it. */
export const RESTING_REASONS: readonly (string | null)[] = ['acknowledged', 'one_way']

/** Whether a turn rests: it is not counted in a window, not offered again, and can still be answered. */
export function isResting(turn: { readonly state: TurnState; readonly reason: string | null }): boolean {
  return (turn.state === 'seen' || turn.state === 'handed') && RESTING_REASONS.includes(turn.reason)
}

// A send is one message to a platform:
//
//   queued ──▶ sending ──▶ sent
//
// `sending` is written before the platform is called. An attempt that may have arrived without a confirmation stays
// `sending` with the reason `outcome_open`: the platform is asked about it, or it is sent again with a note. If its
// result remains unknown, it ends as `unknown` and is never silently repeated. `deduplicated` is an initial state. sent
// → failed: the platform itself reported later that it did not arrive.
export const SEND_STATES = ['queued', 'sending', 'sent', 'deduplicated', 'failed', 'unknown'] as const
export type SendState = (typeof SEND_STATES)[number]

const SEND_MOVES: Record<SendState, readonly SendState[]> = {
  // unknown for a queued row of a restored backup; sent by the platform's report about an earlier attempt
  queued: ['sending', 'failed', 'unknown', 'sent'],
  sending: ['queued', 'sending', 'sent', 'failed', 'unknown'], // itself: an answer's beginning is shown
  sent: ['failed'], // by the platform's own later report (a bounce), never back
  deduplicated: [],
  failed: ['queued', 'failed'], // outbox retry, or buried
  unknown: ['queued', 'failed', 'sent'], // by policy, or by the operator
}

export function sendMayMove(from: SendState, to: SendState): boolean {
  return SEND_MOVES[from].includes(to)
}

// An approval is a tool call that waits for a person to allow or deny it:
//
//   pending ──▶ decided ──▶ passing ──▶ relayed | undeliverable        pending ──▶ expired | withdrawn
//
// `passing` is committed before the verdict is written to the asking host. A row found in `passing` after a crash may
// have been used, so no later call gets its allow. passing → decided: the connector had no host to write it to, so
// nothing was written. "Allowed" is shown only at `relayed`: the verdict was written to the asking host.
export const APPROVAL_STATES = [
  'pending',
  'decided',
  'passing',
  'relayed',
  'undeliverable',
  'expired',
  'withdrawn',
] as const
/** The verdict is not given or not passed on. The id is taken, and nothing of the row is pruned. */
export const OPEN_APPROVAL_STATES = [
  'pending',
  'decided',
  'passing',
] as const satisfies readonly ApprovalState[]
export type ApprovalState = (typeof APPROVAL_STATES)[number]

// A claim is offered by a message of an agent that writes first:
//
//   open ──▶ claimed (a tap, or the next plain message)        open ──▶ kept ("Keep my chat")
//
// `passed`: another claim took the plain message, or the session could not be reached; a tap still counts.
const CLAIM_STATES = ['open', 'passed', 'claimed', 'kept'] as const
export type ClaimState = (typeof CLAIM_STATES)[number]
