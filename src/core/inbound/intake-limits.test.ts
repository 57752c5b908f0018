// The limits of intake: whose tokens a message takes, and when it gets them back.
import { expect, it } from 'vitest'
import { CONTINUE, type StepResult } from '../../contract/index.ts'
import { createTestClock } from '../../testing/index.ts'
import { createIntakeLimits, type Knock } from './intake-limits.ts'

const ONE = { rps: 0.001, burst: 1 }
const MANY = { rps: 0, burst: 0 }

const knock = (over: Partial<Knock>): Knock => ({
  integration: 'demo',
  sender: 'ann',
  known: true,
  free: false,
  floodLimit: MANY,
  senderLimit: MANY,
  ...over,
})
const refused = { decision: { go: 'refuse', reason: 'sender_not_allowed' } } as StepResult

it('[I36.limits-tested] [I14.stranger-bucket] strangers take no token of the flood guard of those who may talk', () => {
  const limits = createIntakeLimits({ clock: createTestClock(), shared: null })
  const stranger = limits.lookAlone(knock({ known: false, sender: 'eve', floodLimit: ONE }))
  expect(stranger.flood.over).toBe(false)
  stranger.pay(refused)
  expect(limits.lookAlone(knock({ known: false, sender: 'eve', floodLimit: ONE })).flood.over).toBe(true)
  expect(limits.lookAlone(knock({ floodLimit: ONE })).flood.over).toBe(false)
})

it.each([
  ['flood guard', { floodLimit: ONE }],
  ['sender', { senderLimit: ONE }],
] as const)(
  '[I36.limits-tested] [S2.dup-no-effects] a message that was not stored gives back its token of the %s',
  (_, limit) => {
    const limits = createIntakeLimits({ clock: createTestClock(), shared: null })
    const isOver = () => {
      const { flood, sender } = limits.lookAlone(knock(limit))
      return flood.over || sender.over
    }
    const paid = limits.lookAlone(knock(limit)).pay(CONTINUE)
    expect(isOver()).toBe(true)
    paid.undo()
    expect(isOver()).toBe(false)
  },
)
