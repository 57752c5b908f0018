// Deliberate faults as data: which call of a fake platform gets which fault. The same plan gives the same faults,
// because a seed decides probabilities. So a failure can be replayed.
import { SwitchboardError } from '../../contract/index.ts'

export const FAULT_KINDS = {
  'rate-limit': 'refused with 429 and a time to wait; nothing is done',
  'drop-response': 'done, but the connection breaks before the answer',
  'drop-request': 'the connection breaks before anything is done',
  'half-open': 'done, but the answer never comes and the connection stays open',
  deaf: 'nothing is done, no answer comes, and the connection stays open',
  slow: 'done and answered, late',
  error: 'refused with a 5xx; nothing is done',
  malformed: 'done, but the answer cannot be read',
  conflict: 'refused with 409, as to a second poller',
  duplicate: 'updates come twice',
  reorder: 'updates come in the wrong order',
  'deaf-link':
    'from then on the live link stands and carries nothing; what it should have brought is not sent again',
  ghost: 'a connection of an earlier process takes its share of what comes, and nobody hears it',
  gap: 'what should have come is never sent: only the history has it',
} as const

export type FaultKind = keyof typeof FAULT_KINDS

export interface FaultRule {
  /** The method that fails, by the platform's name for it. `*` means every method. */
  readonly on: string
  /** Which calls of the method fail, counted from 1. If `every` and `probability` are absent too, all calls fail. */
  readonly nth?: number | readonly number[]
  readonly every?: number
  /** From 0 to 1. */
  readonly probability?: number
  /** The largest number of faults from this rule. */
  readonly times?: number
  readonly do: FaultKind
  /** For `rate-limit`: the seconds to wait. */
  readonly retryAfter?: number
  /** For `slow`: the delay. */
  readonly delayMs?: number
  /** For `error`: the HTTP status. */
  readonly status?: number
}

export interface FaultPlan {
  /** Counts a call and returns its fault, if any. */
  next(method: string): FaultRule | null
  /** The faults that happened so far, in order. */
  readonly fired: readonly { readonly on: string; readonly do: FaultKind }[]
}

export function createFaultPlan(rules: readonly FaultRule[] = [], seed = 1): FaultPlan {
  const calls = new Map<string, number>()
  const spent = new Map<FaultRule, number>()
  const fired: { on: string; do: FaultKind }[] = []
  const draw = randomFrom(seed)

  const applies = (rule: FaultRule, method: string, count: number): boolean => {
    if (rule.on !== '*' && rule.on.toLowerCase() !== method.toLowerCase()) return false
    if (rule.times !== undefined && (spent.get(rule) ?? 0) >= rule.times) return false
    if (rule.nth !== undefined) return [rule.nth].flat().includes(count)
    if (rule.every !== undefined) return count % rule.every === 0
    return rule.probability === undefined || draw() < rule.probability
  }

  return {
    fired,
    next(method) {
      const key = method.toLowerCase()
      const count = (calls.get(key) ?? 0) + 1
      calls.set(key, count)
      const rule = rules.find((one) => applies(one, method, count))
      if (rule === undefined) return null
      spent.set(rule, (spent.get(rule) ?? 0) + 1)
      fired.push({ on: method, do: rule.do })
      return rule
    },
  }
}

const NUMBERS = ['every', 'probability', 'times', 'retryAfter', 'delayMs', 'status'] as const
const KEYS = new Set(['on', 'nth', 'do', ...NUMBERS])

/**
 * Parses a plan from a file: a list of rules, or `{ faults: […] }`. Throws `input_invalid` with the rule's position.
 */
export function parseFaultRules(value: unknown): readonly FaultRule[] {
  const list = Array.isArray(value) ? value : (value as { faults?: unknown } | null)?.faults
  if (!Array.isArray(list)) throw invalid('a fault plan is a list of rules, or { "faults": [ … ] }')
  return list.map((rule: unknown, at) => {
    const where = `rule ${at + 1}`
    if (typeof rule !== 'object' || rule === null) throw invalid(`${where} is not an object`)
    const given = rule as Record<string, unknown>
    const unknown = Object.keys(given).find((key) => !KEYS.has(key))
    if (unknown !== undefined) throw invalid(`${where} has an unknown key "${unknown}"`)
    if (typeof given.on !== 'string' || given.on === '')
      throw invalid(`${where} needs "on", the method's name or *`)
    if (typeof given.do !== 'string' || !(given.do in FAULT_KINDS))
      throw invalid(`${where} needs "do", one of: ${Object.keys(FAULT_KINDS).join(', ')}`)
    for (const key of NUMBERS) {
      const number = given[key]
      if (number !== undefined && (typeof number !== 'number' || !(number >= 0)))
        throw invalid(`${where}: "${key}" is not a number of at least 0`)
    }
    const { nth } = given
    if (nth !== undefined && ![nth].flat().every((one) => Number.isInteger(one) && Number(one) > 0))
      throw invalid(`${where}: "nth" is a whole number from 1, or a list of them`)
    return rule as FaultRule
  })
}

function invalid(message: string): SwitchboardError {
  return new SwitchboardError('input_invalid', message)
}

// mulberry32 is small, has a seed and is random enough to choose calls.
function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
