// Held lanes and their turns in flight: boarding and landing, loss, a clock that is set back, and an agent that leaves.
import { describe, expect, it } from 'vitest'
import { SwitchboardError, type TurnMove, type TurnRow } from '../../../contract/index.ts'
import { createTestClock } from '../../../testing/test-clock.ts'
import { createLaneHolds } from './lane-holds.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet }

function opened() {
  const timers = createTestClock(10_000_000)
  let setBackMs = 0
  const renewed: number[] = []
  const released: string[] = []
  const moved: TurnMove[] = []
  const writes: number[] = []
  const typing: boolean[] = []
  let away = false
  const holds = createLaneHolds({
    clock: { now: () => timers.now() - setBackMs, after: timers.after },
    log: quiet,
    leaseMs: 15_000,
    signal: (_to, signal) => void (signal.kind === 'typing' && typing.push(signal.on)),
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
        writes.push(moves.length)
        if (away) throw new SwitchboardError('store_unavailable', 'away')
        moved.push(...moves)
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
  return { holds, timers, renewed, released, moved, writes, typing, setBack, goAway }
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

const rowOf = (id: string) =>
  ({ id, integration: 'demo', conversation: 'c', thread: null, agent: 'demo' }) as TurnRow

describe('turns in flight', () => {
  it('typing is shown while one is in flight, again and again, and ends with the last', async () => {
    const { holds, timers, typing } = opened()
    const hold = holds.take('s', 'demo', 1, timers.now())
    holds.board(hold, rowOf('a'))
    await timers.advance(4_000)
    expect(typing).toEqual([true, true])
    holds.board(hold, rowOf('b'))
    holds.land(hold, 'a')
    expect(typing).toEqual([true, true, true])
    holds.land(hold, 'b')
    holds.land(hold, 'b')
    await timers.advance(10_000)
    expect(typing).toEqual([true, true, true, false])
    await holds.stop()
  })

  it('landing cancels the wait for evidence, and nobody finds it in flight any more', async () => {
    const { holds, timers } = opened()
    const hold = holds.take('s', 'demo', 1, timers.now())
    holds.board(hold, rowOf('a'))
    const rang: string[] = []
    const found = holds.flight('a')
    expect(found).toMatchObject({
      hold,
      flight: { offered: false, written: false, said: false, speaking: 0 },
    })
    if (found) found.flight.cancelTimeout = timers.after(1_000, () => void rang.push('rang'))
    holds.land(hold, 'a')
    expect(holds.flight('a')).toBeNull()
    await timers.advance(1_000)
    expect(rang).toEqual([])
    await holds.stop()
  })

  it('one that boards again is not lost any more, nor made ready or judged', async () => {
    const { holds, timers } = opened()
    const first = holds.take('s', 'demo', 1, timers.now())
    holds.board(first, rowOf('a'))
    holds.drop(first)
    expect(holds.wasLost('a')).toBe(true)
    const again = holds.take('s', 'demo', 2, timers.now())
    again.ready.add('a')
    again.judged.add('a')
    holds.board(again, rowOf('a'))
    expect([holds.wasLost('a'), again.ready.size, again.judged.size]).toEqual([false, 0, 0])
    // A late hand-over in the lost lane does not affect the new flight.
    holds.board(first, rowOf('b'))
    holds.board(again, rowOf('b'))
    holds.land(first, 'b')
    expect(holds.flight('b')?.hold).toBe(again)
    expect(holds.flight('a')?.hold).toBe(again)
    await holds.stop()
  })
})

describe('a lane that is taken again', () => {
  it('is the same hold under the same token, and a new one under another', async () => {
    const { holds, timers } = opened()
    const hold = holds.take('s', 'demo', 1, timers.now())
    hold.putBacks = 2
    expect(holds.before('s')).toEqual({ held: hold, putBacks: 2, askedAt: timers.now() })
    expect(holds.before('elsewhere')).toEqual({ held: undefined, putBacks: 0, askedAt: timers.now() })
    expect(holds.take('s', 'demo', 1, timers.now())).toBe(hold)
    holds.board(hold, rowOf('a'))
    const next = holds.take('s', 'demo', 2, timers.now())
    expect(next).not.toBe(hold)
    expect([next.flights.size, hold.flights.size]).toEqual([0, 0])
    await holds.stop()
  })

  it('a take in doubt keeps the lane from being given back', async () => {
    const { holds, timers, released } = opened()
    holds.doubt('elsewhere')
    const hold = holds.take('s', 'demo', 1, timers.now())
    holds.rest(hold)
    holds.doubt('s')
    expect(hold.doubtful).toBe(true)
    await timers.advance(3_000)
    expect(released).toEqual([])
    await holds.stop()
  })

  it('whoever listens hears which turns were lost with it', async () => {
    const { holds, timers } = opened()
    const heard: unknown[] = []
    holds.onLost((lane, agent, turns) => heard.push([lane, agent, turns]))
    const hold = holds.take('s', 'demo', 1, timers.now())
    holds.board(hold, rowOf('a'))
    holds.drop(hold)
    holds.drop(undefined)
    expect(heard).toEqual([['s', 'demo', ['a']]])
    await holds.stop()
  })
})

describe('an agent that goes, and a stop', () => {
  it('put back what nobody was offered, uncounted; what was offered is left to its hand-over', async () => {
    for (const end of ['releaseAgent', 'stop'] as const) {
      const { holds, timers, moved, released } = opened()
      const hold = holds.take('s', 'demo', 7, timers.now())
      for (const id of ['offered', 'waiting']) holds.board(hold, rowOf(id))
      const offered = holds.flight('offered')
      if (offered) offered.flight.offered = true
      let handedOver: () => void = () => undefined
      hold.handingOver = new Promise((resolve) => {
        handedOver = resolve
      })
      const ending = end === 'stop' ? holds.stop() : holds.releaseAgent('demo')
      await timers.settle()
      const back = { lane: 's', token: 7, turn: 'waiting', to: 'queued', uncounted: true }
      expect([end, moved]).toEqual([end, [back]])
      expect([end, [...hold.flights.keys()], released]).toEqual([end, ['offered'], []])
      handedOver()
      await ending
      expect([end, released]).toEqual([end, ['s']])
      await holds.stop()
      expect([end, timers.pending()]).toEqual([end, 0])
    }
  })

  it('a hand-over that hangs is waited for a second when the agent goes, ten when all stops; others keep their lanes', async () => {
    const { holds, timers, released, writes } = opened()
    for (const agent of ['demo', 'far']) {
      const hold = holds.take(`lane of ${agent}`, agent, 1, timers.now())
      hold.handingOver = new Promise(() => undefined)
    }
    const leaving = holds.releaseAgent('demo')
    await timers.advance(999)
    expect(released).toEqual([])
    await timers.advance(1)
    await leaving
    expect(released).toEqual(['lane of demo'])
    const stopping = holds.stop()
    await timers.advance(9_999)
    expect(released).toEqual(['lane of demo'])
    await timers.advance(1)
    await stopping
    expect(released).toEqual(['lane of demo', 'lane of far'])
    // There was nothing to put back.
    expect(writes).toEqual([])
  })
})
