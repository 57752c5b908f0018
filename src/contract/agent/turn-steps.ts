// The journal of a loop in this process. Every model call and every tool call of a turn is a separate step, recorded
// before the next begins. A crash loses at most the current step. Pruned and erased with the turn.

/** Tokens of model calls. `input` contains all input, whether read from a cache, written to one, or neither. */
export interface TokenUsage {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** In millionths of the currency of `prices`; absent: no prices. */
  readonly costMicros?: number
}

export const NO_TOKENS: TokenUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

/**
 * `summary`: replaces older history. `model`: one whole answer of the model. `call`: a started tool. `result`: its
 * result.
 */
export type TurnStepKind = 'summary' | 'model' | 'call' | 'result'

export interface TurnStep {
  /** Position within the turn, from 1. */
  readonly n: number
  readonly at: number
  readonly kind: TurnStepKind
  /** Plain data, as the loop wrote it. */
  readonly body: unknown
}

export interface NewTurnStep extends Omit<TurnStep, 'at'> {
  readonly turn: string
  /** The cost of the step. The same commit adds it to the turn and to the agent's day. */
  readonly usage?: TokenUsage & { readonly agent: string; readonly model: string }
}

/** An earlier turn of a session, with its steps and answers. */
export interface PastTurn {
  readonly turn: string
  readonly sender: { readonly id: string; readonly name?: string }
  readonly at: number
  readonly source: string
  /** Null once pruned or erased. */
  readonly text: string | null
  readonly attachments: readonly string[]
  readonly state: string
  readonly steps: readonly TurnStep[]
  /** The answers that were sent. */
  readonly said: readonly string[]
}

export interface UsageRow extends TokenUsage {
  readonly agent: string
  /** UTC, `2026-11-16`. */
  readonly day: string
  readonly model: string
  readonly calls: number
}

/** What a loop in this process may read and write of its own turns. */
export interface TurnJournal {
  steps(turn: string): Promise<readonly TurnStep[]>
  /**
   * Stores a step. False: the position is taken, because another loop works on the turn. The caller must stop at once.
   */
  add(step: NewTurnStep): Promise<boolean>
  /** Returns earlier turns of the session that were handed over, newest first. */
  past(session: string, before: string, limit: number): Promise<readonly PastTurn[]>
  /** Returns the agent's tokens on a day, over all models and nodes. */
  spent(agent: string, day: string): Promise<TokenUsage>
}
