// What a turn cost, from its result: tokens are of that turn, money is since the process began.
import type { TokenUsage } from '../../contract/index.ts'
import { type Fields, isFields, numberOf } from './wire.ts'

const MODEL_CHARS = 200

export interface TurnCost {
  readonly usage: TokenUsage
  readonly model: string
  /** What the process spent so far, in dollars. */
  readonly total: number
}

/** `before`: what the process had spent when its last result came. */
export function costOf(result: Fields, before: number): TurnCost {
  const used = isFields(result.usage) ? result.usage : {}
  const cacheRead = numberOf(used.cache_read_input_tokens)
  const cacheWrite = numberOf(used.cache_creation_input_tokens)
  const total = numberOf(result.total_cost_usd)
  const models = isFields(result.model_usage_since_last_result)
    ? result.model_usage_since_last_result
    : result.modelUsage
  return {
    usage: {
      input: numberOf(used.input_tokens) + cacheRead + cacheWrite,
      output: numberOf(used.output_tokens),
      ...{ cacheRead, cacheWrite },
      costMicros: Math.max(0, Math.round((total - before) * 1_000_000)),
    },
    model: (isFields(models) ? Object.keys(models)[0] : undefined)?.slice(0, MODEL_CHARS) ?? 'unknown',
    total: Math.max(total, before),
  }
}
