// The loop under both queues: a lane that is being handled is not requested again.
import { describe, expect, it } from 'vitest'
import type { Hint, Work } from '../../contract/index.ts'
import { createTestClock } from '../../testing/test-clock.ts'
import { createDrain } from './drain.ts'

const LANE: Work = { lane: 'one', scope: 'demo' }
const quiet = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet }

function scene(
  take: (lanes: readonly Work[]) => Promise<void> = async () => undefined,
  kind: 'turns' | 'sends' = 'turns',
  pressed: () => boolean = () => false,
) {
  const clock = createTestClock()
  const taken: string[] = []
  const finish: (() => void)[] = []
  const rounds: { lanes: number; pressed: boolean }[] = []
  let hint: (hint: Hint, from: string | null) => void = () => undefined
  let within: (hints: readonly Hint[]) => void = () => undefined
  const took: number[] = []
  const drain = createDrain<Work>(
    {
      kind,
      share: 1 / 8,
      reachable: () => ['demo'],
      isMine: () => false,
      async take(lanes, pressed) {
        rounds.push({ lanes: lanes.length, pressed })
        taken.push(...lanes.map((work) => work.lane))
        await take(lanes)
        return lanes
      },
      handle: () => new Promise((resolve) => finish.push(resolve)),
    },
    {
      store: {
        findWork: async () => [],
        onHint: (listen) => (hint = listen),
        onCommit: (listen) => (within = listen),
      },
      clock,
      log: quiet,
      pressure: { now: pressed, took: (lanes) => void took.push(lanes) },
    },
  )
  return {
    clock,
    taken,
    finish,
    drain,
    rounds,
    hint: (told: Hint, from: string | null = null) => hint(told, from),
    commit: (told: readonly Hint[]) => within(told),
    took,
  }
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

  it('[I6.clean-stop] a stop waits for what is being taken, and what was taken is handled', async () => {
    let taken: () => void = () => undefined
    const { clock, finish, drain } = scene(() => new Promise((resolve) => (taken = resolve)))
    drain.wake(LANE)
    await clock.advance(1)
    let stopped = false
    const stopping = drain.stop().then(() => {
      stopped = true
    })
    await clock.settle()
    expect({ stopped, handled: finish.length }).toEqual({ stopped: false, handled: 0 })
    taken()
    await stopping
    expect(finish).toHaveLength(1)
    finish.shift()?.()
    await clock.advance(60_000)
    expect(finish).toEqual([])
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

  it('lets intake go first: while messages come in fast it takes a share of their lanes, and the rest when it is quiet', async () => {
    let pressed = true
    const { clock, taken, rounds, hint, drain } = scene(undefined, 'turns', () => pressed)
    for (let at = 0; at < 24; at++) hint({ kind: 'turns', lane: `lane ${at}`, scope: 'demo' })
    await clock.advance(6)
    expect(rounds).toEqual([{ lanes: 3, pressed: true }])
    await clock.advance(5)
    expect(rounds[1]).toEqual({ lanes: 1, pressed: true })
    pressed = false
    await clock.advance(5)
    expect(rounds[2]).toEqual({ lanes: 20, pressed: false })
    expect(new Set(taken).size).toBe(24)
    drain.stop()
  })

  it('[I23.lone-commits] takes a lane within the commit that hints at it, and is not woken for it again', async () => {
    const { clock, taken, finish, hint, commit, drain } = scene()
    const told: Hint = { kind: 'turns', lane: 'one', scope: 'demo' }
    commit([told, { ...told, kind: 'sends' }, { ...told, lane: 'two', scope: 'away' }])
    // The lane is requested before the commit continues. Its own hint arrives after that.
    expect(taken).toEqual(['one'])
    hint(told)
    expect(drain.isWanted('one')).toBe(false)
    // A later hint counts, even if it arrives before the answer to the take.
    hint(told)
    expect(drain.isWanted('one')).toBe(true)
    await clock.advance(1)
    commit([told])
    finish.shift()?.()
    await clock.advance(1)
    expect(taken).toEqual(['one', 'one'])
    drain.stop()
  })

  it('[I23.lone-commits] whoever brought the work hears of it before the lane is handled', async () => {
    const { clock, finish, commit, drain } = scene()
    commit([{ kind: 'turns', lane: 'one', scope: 'demo' }])
    await Promise.resolve().then(() => Promise.resolve())
    expect(finish).toHaveLength(0)
    await clock.advance(0)
    expect(finish).toHaveLength(1)
    drain.stop()
  })

  it('[I23.patient-pressure] takes nothing within a commit under pressure, and tells how much it takes', async () => {
    const { clock, taken, hint, commit, took, drain } = scene(undefined, 'turns', () => true)
    const told: Hint = { kind: 'turns', lane: 'one', scope: 'demo' }
    commit([told])
    expect(taken).toEqual([])
    hint(told)
    await clock.advance(6)
    expect([taken, took]).toEqual([['one'], [1]])
    drain.stop()
  })

  it('is not woken by the news that something was settled', async () => {
    const { clock, taken, hint, drain } = scene(undefined, 'sends')
    hint({ kind: 'sends', lane: 'one', scope: 'demo', settled: true })
    await clock.advance(1)
    expect(taken).toEqual([])
    hint({ kind: 'sends', lane: 'one', scope: 'demo' })
    await clock.advance(1)
    expect(taken).toEqual(['one'])
    drain.stop()
  })

  it('leaves what another node put into a lane to that node, unless the lane is being taken here', async () => {
    let answer: () => void = () => undefined
    const { clock, taken, finish, hint, drain } = scene(
      () => new Promise((resolve) => (answer = resolve)),
      'sends',
    )
    const told: Hint = { kind: 'sends', lane: 'one', scope: 'demo' }
    hint(told, 'b/1')
    await clock.advance(1)
    expect(taken).toEqual([])
    drain.wake(LANE)
    await clock.advance(1)
    // The commit may have given us the lane before the other node's row. Only its hint was faster than our answer.
    hint(told, 'b/1')
    answer()
    await clock.settle()
    finish.shift()?.()
    await clock.advance(1)
    expect(taken).toEqual(['one', 'one'])
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
