// Many lanes and many scopes: lanes that wait for one scope delay no other, and a scope that starts sweeps only its own
// lanes.
import { describe, expect, it } from 'vitest'
import type { Work } from '../../contract/index.ts'
import { createTestClock } from '../../testing/test-clock.ts'
import { createDrain } from './drain.ts'
import { createRoundRobinLanes } from './round-robin-lanes.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet }

function scene() {
  const clock = createTestClock()
  const reachable: string[] = []
  const asked: string[][] = []
  const rounds: string[][] = []
  const drain = createDrain<Work>(
    {
      kind: 'sends',
      share: 1 / 3,
      reachable: () => reachable,
      async take(lanes) {
        rounds.push(lanes.map(({ lane }) => lane))
        return lanes
      },
      handle: async () => undefined,
    },
    {
      store: {
        async findWork(_kind, scopes) {
          asked.push([...scopes])
          return []
        },
        onHint: () => undefined,
      },
      clock,
      log: quiet,
    },
  )
  return { clock, reachable, asked, rounds, drain }
}

describe('many scopes', () => {
  it('[I23.sweep-one-scope] each that can be reached anew is asked for once, and no other with it', async () => {
    const { clock, reachable, asked, drain } = scene()
    for (let at = 0; at < 200; at += 1) {
      reachable.push(`hook-${at}`)
      drain.sweep(`hook-${at}`)
      // Each starts at its own time.
      await clock.advance(1)
    }
    expect(asked.flat()).toHaveLength(200)
    expect(new Set(asked.flat()).size).toBe(200)
    await drain.stop()
  })

  it('[I23.sweep-one-scope] those that come at once are asked for together, and one that cannot be reached is not', async () => {
    const { clock, reachable, asked, drain } = scene()
    reachable.push('one', 'two', 'three')
    for (const scope of ['one', 'two', 'gone']) drain.sweep(scope)
    await clock.advance(1)
    expect(asked).toEqual([['one', 'two']])
    drain.sweep()
    await clock.advance(1)
    expect(asked.at(-1)).toEqual(['one', 'two', 'three'])
    await drain.stop()
  })

  it('[I23.lanes-dealt] a lane of a quiet scope is in the next round, though 5,000 of another wait', async () => {
    const { clock, rounds, drain } = scene()
    for (let at = 0; at < 5_000; at += 1) drain.wake({ lane: `dead:${at}`, scope: 'dead' })
    drain.wake({ lane: 'healthy:1', scope: 'healthy' })
    await clock.advance(0)
    expect(rounds[0]).toContain('healthy:1')
    expect(rounds[0]).toHaveLength(32)
    await drain.stop()
  })
})

describe('lanes that are dealt', () => {
  it('[I23.lanes-dealt] one of each scope in turn, the first come first within it, each once', () => {
    const lanes = createRoundRobinLanes()
    for (const lane of ['a1', 'a2', 'a3', 'a1']) lanes.add({ lane, scope: 'a' })
    lanes.add({ lane: 'b1', scope: 'b' })
    lanes.add({ lane: 'c1', scope: 'c' })
    expect(lanes.take(2).map(({ lane }) => lane)).toEqual(['a1', 'b1'])
    // The order of scopes continues where the last round ended.
    expect(lanes.take(10).map(({ lane }) => lane)).toEqual(['c1', 'a2', 'a3'])
    expect(lanes.isEmpty()).toBe(true)
  })
})
