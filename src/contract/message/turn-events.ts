// An agent's reports about its work on a turn, stored beside it for the console: in order, bounded, pruned with bodies.

export interface NewTurnEvent {
  readonly turn: string
  /**
   * `error`: trouble that the agent reported before it ended. A turn that ends without an answer fails with the last
   * one.
   */
  readonly kind: 'tool_call' | 'tool_result' | 'error'
  /** The agent's own id of the call. It pairs a result with its call. */
  readonly call: string | null
  readonly name: string | null
  /** Arguments or result, as display text without secrets. */
  readonly text: string
  /** The same key again is the same event. */
  readonly key: string | null
}

export interface TurnEventRow {
  /** Position within the turn, from 1. */
  readonly n: number
  readonly at: number
  /** `omitted`: there were more than a turn keeps. */
  readonly kind: NewTurnEvent['kind'] | 'omitted'
  readonly call: string | null
  readonly name: string | null
  /** Null once pruned. */
  readonly text: string | null
}

/** The number of events per turn, and the length of each. */
export const TURN_EVENTS_KEPT = 200
export const TURN_EVENT_CHARS = 4_096
