// Upkeep of held lanes: when the wall clock is set back, and when an agent goes while the store is away.
import { describe, expect, it } from 'vitest'
import { SwitchboardError, type TurnRow } from '../../contract/index.ts'
import { createTestClock } from '../../testing/test-clock.ts'
import { createLaneHolds } from './lane-holds.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet }

function opened() {
  const timers = createTestClock(10_000_000)
  let setBackMs = 0
  const renewed: number[] = []
  const released: string[] = []
  let away = false
  const holds = createLaneHolds({
    clock: { now: () => timers.now() - setBackMs, after: timers.after },
    log: quiet,
    leaseMs: 15_000,
    signal: () => undefined,
    livesOn: (agent) => agent === 'far',
    store: {
      shared: true,
      async renewLanes(_kind, lanes) {
        renewed.push(lanes.length)
        return lanes.map(() => true)
      },
      async releaseLanes(_kind, lanes) {
        released.push(...lanes.map((lane) => lane.lane))
      },
      async moveTurns(moves) {
        if (away) throw new SwitchboardError('store_unavailable', 'away')
        return moves.map(() => 'moved')
      },
    },
  })
  const goAway = () => {
    away = true
  }
  const setBack = (ms: number) => {
    setBackMs = ms
  }
  return { holds, timers, renewed, released, setBack, goAway }
}

describe('a lane that is lost', () => {
  it('[I6.callback-across] makes late what is said here, unless the agent lives on and is asked by nobody else', () => {
    const { holds, timers } = opened()
    for (const agent of ['demo', 'far']) {
      const hold = holds.take(`lane of ${agent}`, agent, 1, timers.now())
      holds.board(hold, { id: `turn of ${agent}` } as TurnRow)
      holds.drop(hold)
    }
    expect(holds.wasLost('turn of demo')).toBe(true)
    expect(holds.wasLost('turn of far')).toBe(false)
  })
})

describe('lane holds and a clock that is set back', () => {
  it('[S13.lane-lock] a lane goes on being renewed, or another node would take it under our hands', async () => {
    const { holds, timers, renewed, setBack } = opened()
    holds.take('s', 'demo', 1, timers.now())
    setBack(3_600_000)
    await timers.advance(16_000)
    expect(renewed.length).toBeGreaterThanOrEqual(2)
    await holds.stop()
  })

  it('a lane that rests is given back all the same', async () => {
    const { holds, timers, released, setBack } = opened()
    holds.rest(holds.take('s', 'demo', 1, timers.now()))
    setBack(3_600_000)
    await timers.advance(3_000)
    expect(released).toEqual(['s'])
    await holds.stop()
  })
})

it('[I6.unheard-take] an agent that goes while the store refuses: its lanes are let go, not renewed for ever', async () => {
  const { holds, timers, renewed, released, goAway } = opened()
  const row = { id: 't', integration: 'demo', conversation: 'c', thread: null } as TurnRow
  holds.board(holds.take('s', 'demo', 1, timers.now()), row)
  goAway()
  const leaving = holds.releaseAgent('demo')
  await timers.advance(2_000)
  await leaving
  expect(holds.get('s')).toBeUndefined()
  expect(released).toEqual(['s'])
  await timers.advance(60_000)
  expect(renewed).toEqual([])
  await holds.stop()
})

it('[I6.woken-is-silent] a lease that ran out while the process slept is over, until it was renewed', async () => {
  const { holds, timers } = opened()
  const hold = holds.take('s', 'demo', 1, timers.now())
  await timers.advance(60_000)
  expect(holds.isOver(hold)).toBe(false)
  timers.jump(timers.now() + 15_000)
  expect(holds.isOver(hold)).toBe(true)
  await holds.stop()
})
