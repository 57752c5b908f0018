// The states of turns, sends and approvals, and which moves are allowed.
//
// A turn is one inbound message on its way through an agent:
//   queued ──▶ handed ──▶ seen ──▶ answered
// `handed` is written before the hand-over, so a crash in between makes a marked repeat, never an unmarked one.
// `seen` and `answered` need evidence from the agent. A handed turn may go back to `queued` when the connector
// knows that it was not taken. handed → handed (reason `taken`) notes that an agent which lives on without us has it.
// seen → seen (reason `acknowledged`): the agent said that it will not answer at once, or at all. Such a turn rests: it is
// no longer waited for nor offered again, and can still be answered. Reason `one_way`: nothing can be answered there, so it
// rests once its host has it: `handed` without evidence (it expires with the queue), `seen` with it. `consumed` is born so and never moves, or it is where a
// queued turn ends whose message was deleted (reason `withdrawn`). `refused` is born so,
// too, or it is where a turn ends that was not handed over when its sender, chat, integration or binding was no longer let
// in (reason `revoked`): access is asked again at hand-over.

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

/** In flight, and nobody waits for it: the agent acknowledged it, or it came one way and its host has it. */
export const RESTING_REASONS: readonly (string | null)[] = ['acknowledged', 'one_way']

/** It is in nobody's way: no part of a window, not offered again, and it can still be answered. */
export function isResting(turn: { readonly state: TurnState; readonly reason: string | null }): boolean {
  return (turn.state === 'seen' || turn.state === 'handed') && RESTING_REASONS.includes(turn.reason)
}

// A send is one message to a platform:
//   queued ──▶ sending ──▶ sent
// `sending` is written before the platform is called. A try that may have arrived without a confirmation stays `sending`
// with the reason `outcome_open`: the platform is asked what became of it, or it is sent again with a note. What nobody can
// tell in the end is `unknown`, never silently repeated. `deduplicated` is born so. sent → failed: the
// platform itself said later that it did not arrive.
export const SEND_STATES = ['queued', 'sending', 'sent', 'deduplicated', 'failed', 'unknown'] as const
export type SendState = (typeof SEND_STATES)[number]

const SEND_MOVES: Record<SendState, readonly SendState[]> = {
  // unknown when it was queued in a backup that is restored; sent by the platform's word on an earlier try
  queued: ['sending', 'failed', 'unknown', 'sent'],
  sending: ['queued', 'sending', 'sent', 'failed', 'unknown'], // itself: an answer's beginning is shown
  sent: ['failed'], // by the platform's own later word (a bounce), never back
  deduplicated: [],
  failed: ['queued', 'failed'], // outbox retry, or buried
  unknown: ['queued', 'failed', 'sent'], // by policy, or by the operator
}

export function sendMayMove(from: SendState, to: SendState): boolean {
  return SEND_MOVES[from].includes(to)
}

// An approval is a tool call that waits for a person's yes or no:
//   pending ──▶ decided ──▶ passing ──▶ relayed | undeliverable        pending ──▶ expired | withdrawn
// `passing` is committed before the verdict is written to the asking host. A row found `passing` after a crash may have been
// used, so no later call gets its yes. passing → decided: the connector had nobody to write it to, so nothing was written.
// "Allowed" is shown only at `relayed`: the verdict was written to the asking host.
export const APPROVAL_STATES = [
  'pending',
  'decided',
  'passing',
  'relayed',
  'undeliverable',
  'expired',
  'withdrawn',
] as const
/** The verdict is not given or not passed on: the id is taken, and nothing of it is pruned. */
export const OPEN_APPROVAL_STATES = [
  'pending',
  'decided',
  'passing',
] as const satisfies readonly ApprovalState[]
export type ApprovalState = (typeof APPROVAL_STATES)[number]

// A claim is offered by a message of an agent that speaks first:
//   open ──▶ claimed (a tap, or the next plain message)        open ──▶ kept ("Keep my chat")
// `passed`: another one took the plain message, or its session could not be reached; a tap still counts.
const CLAIM_STATES = ['open', 'passed', 'claimed', 'kept'] as const
export type ClaimState = (typeof CLAIM_STATES)[number]
