// The limits of a turn and of a day, in words for the person who waits.
import type { TokenUsage } from '../../contract/index.ts'
import type { LlmConfig } from './config.ts'
import type { OpenJournal } from './journal.ts'

const DAY_MS = 24 * 3_600_000

/** UTC. */
export function dayOf(now: number): string {
  return new Date(now).toISOString().slice(0, 10)
}

/** Returns why this turn may ask the model no more; null: it may. */
export function overTurn(journal: OpenJournal, { limits }: LlmConfig): string | null {
  const steps = journal.modelSteps().length
  if (steps >= limits.steps) return `it was stopped after ${steps} steps (limits.steps)`
  const tokens = journal.tokens()
  return tokens >= limits.tokens ? `it was stopped after ${tokens} tokens (limits.tokens)` : null
}

/** The same for the day. */
export function overDay(spent: TokenUsage, { limits }: LlmConfig, now: number): string | null {
  const tokens = spent.input + spent.output
  const tokensOver = limits.tokens_per_day !== undefined && tokens >= limits.tokens_per_day
  const costOver =
    limits.cost_per_day !== undefined && (spent.costMicros ?? 0) >= limits.cost_per_day * 1_000_000
  if (!tokensOver && !costOver) return null
  const leftMs = DAY_MS - (now % DAY_MS)
  const hours = Math.floor(leftMs / 3_600_000)
  const minutes = Math.ceil((leftMs % 3_600_000) / 60_000)
  return `the budget of the day is spent; a new one begins at 00:00 UTC, in ${hours > 0 ? `${hours} h ` : ''}${minutes} min`
}
