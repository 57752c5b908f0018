// The journal of a loop that runs in this process: every model call and every tool call of a turn is a step of its own,
// recorded before the next begins, so that a crash loses at most the one under way. Pruned and erased with the turn.

/** Tokens of model calls. All input, whether it was read from a cache, written to one, or neither, is in `input`. */
export interface TokenUsage {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** In millionths of the currency in which `prices` are written; absent: none are. */
  readonly costMicros?: number
}

export const NO_TOKENS: TokenUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

/** `summary`: of what fell out of the history. `model`: a whole answer of the model. `call`: a tool was started. `result`: what came of it. */
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
  /** What the step cost: added to the turn's and to the agent's day in the same commit. */
  readonly usage?: TokenUsage & { readonly agent: string; readonly model: string }
}

/** An earlier turn of a session, with what was done and said for it. */
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
  /** What was sent as an answer to it. */
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
  /** False: that position is taken. Somebody else works on the turn: whoever is told so stops, and does nothing more. */
  add(step: NewTurnStep): Promise<boolean>
  /** Turns of the session before this one that were handed over, newest first. */
  past(session: string, before: string, limit: number): Promise<readonly PastTurn[]>
  /** Tokens of the agent on a day, by all models and nodes. */
  spent(agent: string, day: string): Promise<TokenUsage>
}
