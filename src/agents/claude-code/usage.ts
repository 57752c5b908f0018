// The cost of a turn, from its result. Token counts are of that turn; the money is the total since the process began.
import type { TokenUsage } from '../../contract/index.ts'
import { type Fields, isFields, numberOf } from './wire.ts'

const MODEL_CHARS = 200

export interface TurnCost {
  readonly usage: TokenUsage
  readonly model: string
  /** The total cost of the process so far, in dollars. */
  readonly total: number
}

/** `before`: the total at the previous result. */
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
