// The loop under both queues: a lane that is being handled is not asked for a second time.
import { describe, expect, it } from 'vitest'
import type { Work } from '../../contract/index.ts'
import { createTestClock } from '../../testing/test-clock.ts'
import { createDrain } from './drain.ts'

const LANE: Work = { lane: 'one', scope: 'demo' }
const quiet = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet }

function scene(take: (lanes: readonly Work[]) => Promise<void> = async () => undefined) {
  const clock = createTestClock()
  const taken: string[] = []
  const finish: (() => void)[] = []
  const drain = createDrain<Work>(
    {
      kind: 'turns',
      reachable: () => ['demo'],
      async take(lanes) {
        taken.push(...lanes.map((work) => work.lane))
        await take(lanes)
        return lanes
      },
      handle: () => new Promise((resolve) => finish.push(resolve)),
    },
    { store: { findWork: async () => [], onHint: () => undefined }, clock, log: quiet },
  )
  return { clock, taken, finish, drain }
}

describe('the drain', () => {
  it('[S2.order-in-session] asks for a lane again only when it has been handled, however often it is woken', async () => {
    const { clock, taken, finish, drain } = scene()
    drain.wake(LANE)
    await clock.advance(1)
    drain.wake(LANE)
    drain.wake(LANE)
    await clock.advance(100)
    expect(taken).toEqual(['one'])
    expect(drain.isWanted('one')).toBe(true)
    finish.shift()?.()
    await clock.advance(1)
    expect(taken).toEqual(['one', 'one'])
    expect(drain.isWanted('one')).toBe(false)
    drain.stop()
  })

  it('[S2.sessions-independent] takes other lanes while one is being handled', async () => {
    const { clock, taken, drain } = scene()
    drain.wake(LANE)
    await clock.advance(1)
    drain.wake({ lane: 'two', scope: 'demo' })
    await clock.advance(1)
    expect(taken).toEqual(['one', 'two'])
    drain.stop()
  })

  it('tries lanes again that could not be taken', async () => {
    let fails = 1
    const { clock, taken, drain } = scene(async () => {
      if (fails-- > 0) throw new Error('the store is away')
    })
    drain.wake(LANE)
    await clock.advance(1)
    await clock.advance(1_500)
    expect(taken).toEqual(['one', 'one'])
    drain.stop()
  })
})
