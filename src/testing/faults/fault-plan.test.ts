// Fault plans: which calls get which fault, and the validation of a plan from a file.
import { describe, expect, it } from 'vitest'
import { createFaultPlan, type FaultRule, parseFaultRules } from './fault-plan.ts'

const run = (rules: readonly FaultRule[], calls: readonly string[], seed?: number) => {
  const plan = createFaultPlan(rules, seed)
  return calls.map((method) => plan.next(method)?.do ?? '-')
}
const six = Array.from({ length: 6 }, () => 'sendMessage')

describe('[I5.fault-plan] fault plans', () => {
  it('choose by count, by turns, at most so often, and by name', () => {
    expect(run([{ on: 'sendMessage', nth: 2, do: 'error' }], six)).toEqual(['-', 'error', '-', '-', '-', '-'])
    expect(run([{ on: 'SENDMESSAGE', nth: [1, 3], do: 'error' }], six)).toEqual([
      'error',
      '-',
      'error',
      '-',
      '-',
      '-',
    ])
    expect(run([{ on: '*', every: 3, do: 'slow' }], six)).toEqual(['-', '-', 'slow', '-', '-', 'slow'])
    expect(run([{ on: '*', times: 1, do: 'slow' }], six)).toEqual(['slow', '-', '-', '-', '-', '-'])
    expect(run([{ on: 'getMe', do: 'slow' }], six)).toEqual(['-', '-', '-', '-', '-', '-'])
  })

  it('draw from a seed, so that they can be played again', () => {
    const rules: FaultRule[] = [{ on: '*', probability: 0.5, do: 'deaf' }]
    const many = Array.from({ length: 200 }, () => 'x')
    expect(run(rules, many, 7)).toEqual(run(rules, many, 7))
    expect(run(rules, many, 7)).not.toEqual(run(rules, many, 8))
    const hits = run(rules, many, 7).filter((one) => one === 'deaf').length
    expect(hits).toBeGreaterThan(60)
    expect(hits).toBeLessThan(140)
  })

  it.each([
    [{}, 'a fault plan is a list'],
    [[5], 'rule 1 is not an object'],
    [[{ do: 'slow' }], 'rule 1 needs "on"'],
    [[{ on: 'x', do: 'slow', when: 1 }], 'unknown key "when"'],
    [[{ on: 'x', do: 'slow', every: '2' }], '"every" is not a number'],
    [[{ on: 'x', do: 'slow', nth: 0 }], '"nth" is a whole number from 1'],
  ])('%j is refused: %s', (value, problem) => {
    expect(() => parseFaultRules(value)).toThrow(problem)
  })

  it('are taken as a list or under "faults"', () => {
    const rules = [{ on: 'x', do: 'slow' }]
    expect(parseFaultRules(rules)).toEqual(rules)
    expect(parseFaultRules({ faults: rules })).toEqual(rules)
  })
})
