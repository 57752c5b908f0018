// How turns end, one condition at a time: silence, giving up, evidence here and elsewhere, reactions and messages.
import { describe, expect, it } from 'vitest'
import { AGAIN, opened, own, REDELIVER_MS, rowOf, WAIT } from './fixtures/settling-scene.ts'

describe('silence', () => {
  it('is offered again while attempts are left, as a repeat, and the lane is woken', async () => {
    const { settling, holds, board, clock, moves, woken, states } = opened()
    const row = rowOf('t', { attempts: 2 })
    settling.watchSilence(board(row), row)
    await clock.advance(REDELIVER_MS - 1)
    expect(moves).toEqual([])
    await clock.advance(1)
    expect(moves).toEqual([{ turn: 't', to: 'queued', repeat: true }])
    expect([woken, states, holds.flight('t')]).toEqual([['s'], ['t queued'], null])
  })

  it('is given up after the last attempt, and at once where the agent lives on', async () => {
    for (const [redelivery, attempts, reason] of [
      [AGAIN, 3, 'max_attempts'],
      [WAIT, 1, 'agent_silent'],
    ] as const) {
      const { settling, board, clock, moves, said } = opened(redelivery)
      const row = rowOf('t', { attempts })
      settling.watchSilence(board(row), row, clock.now() - 4_000)
      await clock.advance(REDELIVER_MS - 4_000)
      expect(moves).toEqual([{ turn: 't', to: 'failed', reason }])
      expect(said).toEqual(['ended failed', expect.stringContaining('was not answered')])
    }
  })

  it('is not watched where it means nothing, and only of what is in flight', async () => {
    const { settling, board, clock, moves } = opened({ ...AGAIN, afterTimeout: false })
    const row = rowOf('t')
    const hold = board(row)
    settling.watchSilence(hold, row)
    await clock.advance(REDELIVER_MS * 2)
    const other = opened()
    other.settling.watchSilence(other.board(row), rowOf('elsewhere'))
    await other.clock.advance(REDELIVER_MS * 2)
    expect([moves, other.moves]).toEqual([[], []])
  })

  it('is none while what the agent said is being written', async () => {
    const { settling, board, clock, moves, world } = opened()
    const row = rowOf('t')
    settling.watchSilence(board(row), row)
    let written: (value?: unknown) => void = () => undefined
    world.before = () =>
      new Promise((resolve) => {
        written = resolve
      })
    const saying = settling.settle('t', 'answered', { sends: [own('yes')] })
    await clock.advance(REDELIVER_MS * 3)
    expect(moves).toEqual([])
    written()
    await saying
    expect(moves).toEqual([{ turn: 't', to: 'answered' }])
    await clock.advance(REDELIVER_MS * 3)
    expect(moves).toHaveLength(1)
  })

  it('a move that comes too late drops the lane, and nothing is told', async () => {
    const { settling, holds, board, clock, world, states } = opened()
    const row = rowOf('t')
    settling.watchSilence(board(row), row)
    world.moved = 'stale'
    await clock.advance(REDELIVER_MS)
    expect([holds.get('s'), holds.wasLost('t'), states]).toEqual([undefined, true, []])
  })

  it('where nothing tells that the agent took it the sender is told, but not of one that was seen', async () => {
    for (const [state, words] of [
      ['handed', 1],
      ['seen', 0],
    ] as const) {
      const { settling, board, clock, said, world } = opened({
        ...AGAIN,
        afterTimeout: false,
        unseenTold: true,
      })
      const row = rowOf('t', { state })
      world.row = rowOf('t')
      settling.watchSilence(board(row), row)
      await clock.advance(5_000)
      expect([state, said.length]).toEqual([state, words])
    }
  })
})

describe('evidence', () => {
  it('thanks once, with the first sign; a failure is no reason for thanks', async () => {
    const { settling, board, said, states } = opened()
    board(rowOf('a'))
    board(rowOf('b'))
    await settling.settle('a', 'seen')
    await settling.settle('a', 'answered', { sends: [own('yes')] })
    await settling.settle('b', 'failed', { sends: [own('no')] })
    expect(said).toEqual(['thanks a', 'ended answered', 'yes', 'ended failed', 'no'])
    expect(states).toEqual(['a seen', 'a answered', 'b failed'])
  })

  it('[I22.ask-over] an end is told to whoever keeps its questions, where it asked or was interrupted', async () => {
    const { settling, holds, board, calls } = opened()
    for (const row of [rowOf('a', { attempts: 1 }), rowOf('b', { attempts: 1 }), rowOf('c', { attempts: 2 })])
      board(row)
    for (const flight of [holds.flight('b')?.flight]) if (flight) flight.asked = true
    await settling.settle('b', 'seen')
    expect(calls).toEqual([])
    for (const turn of ['a', 'b', 'c']) await settling.settle(turn, 'answered')
    expect(calls).toEqual(['asker over b', 'asker over c'])
  })

  it('the ids are those of the agent’s own words, and its end is told with its text and why', async () => {
    const { settling, board, ends } = opened()
    board(rowOf('a'))
    const answer = { sends: [own('yes')], text: 'yes', said: true as const }
    expect(await settling.settle('a', 'answered', answer)).toEqual({ ok: true, ids: ['o2'] })
    board(rowOf('b'))
    await settling.settle('b', 'failed', { reason: 'agent_failed', detail: '' })
    board(rowOf('c'))
    await settling.settle('c', 'failed', { reason: 'agent_failed', detail: 'boom' })
    expect(ends).toEqual([
      { to: 'answered', text: 'yes' },
      { to: 'failed', reason: 'agent_failed' },
      { to: 'failed', reason: 'agent_failed', detail: 'boom' },
    ])
  })

  it('a seen turn stays in flight with its time anew where the agent lives on; elsewhere nobody waits', async () => {
    for (const [redelivery, silent] of [
      [WAIT, true],
      [AGAIN, false],
    ] as const) {
      const { settling, holds, board, clock, moves } = opened(redelivery)
      const row = rowOf('t')
      settling.watchSilence(board(row), row)
      await clock.advance(REDELIVER_MS - 1)
      await settling.settle('t', 'seen')
      await clock.advance(REDELIVER_MS - 1)
      expect(moves).toEqual([{ turn: 't', to: 'seen' }])
      expect(holds.flight('t')).not.toBeNull()
      await clock.advance(1)
      expect(moves.length === 2).toBe(silent)
    }
  })

  it('one that was said for is marked so; a landing wakes a lane with more, else an empty one rests', async () => {
    const { settling, holds, board, woken } = opened()
    const hold = board(rowOf('a'))
    board(rowOf('b'))
    await settling.settle('a', 'seen', { said: true })
    expect(holds.flight('a')?.flight.said).toBe(true)
    expect(holds.flight('b')?.flight.said).toBe(false)
    await settling.settle('a', 'answered')
    expect([woken, hold.restingSince]).toEqual([[], null])
    await settling.settle('b', 'answered')
    expect([woken, hold.restingSince]).toEqual([[], expect.any(Number)])
    board(rowOf('c'))
    hold.restingSince = null
    hold.more = true
    await settling.settle('c', 'answered')
    expect([woken, hold.restingSince]).toEqual([['s'], null])
  })

  it('a lane that was lost is dropped; what ended elsewhere lands; that very answer gets its rows', async () => {
    const { settling, holds, board, world, states } = opened()
    board(rowOf('a'))
    world.outcome = 'ended'
    expect(await settling.settle('a', 'answered', { sole: true })).toEqual({ ok: false })
    expect([holds.flight('a'), holds.get('s')?.lane]).toEqual([null, 's'])
    board(rowOf('b'))
    world.standing = [{ id: 'o7' }]
    expect(await settling.settle('b', 'answered', { sole: true })).toEqual({ ok: true, ids: ['o7'] })
    world.standing = []
    board(rowOf('c'))
    world.outcome = 'stale'
    expect(await settling.settle('c', 'answered')).toEqual({ ok: false })
    expect([holds.get('s'), holds.wasLost('c'), states]).toEqual([undefined, true, []])
  })
})

describe('a turn that is not in flight here', () => {
  it('is settled from here where nodes share the store, or where it rests or is answered; else not', async () => {
    const cases = [
      [false, rowOf('t'), false],
      [true, rowOf('t'), true],
      [false, rowOf('t', { state: 'seen', reason: 'acknowledged' }), true],
      [false, rowOf('t', { state: 'answered' }), true],
      [true, null, false],
    ] as const
    for (const [shared, row, ok] of cases) {
      const { settling, world, acceptedFor } = opened()
      Object.assign(world, { shared, row })
      expect([row?.state, (await settling.settle('t', 'answered')).ok]).toEqual([row?.state, ok])
      expect(acceptedFor).toEqual(ok ? [{ turn: 't', to: 'answered' }] : [])
    }
  })

  it('is not settled where it was lost with its lane', async () => {
    const { settling, holds, board, world, acceptedFor } = opened()
    holds.drop(board(rowOf('t')))
    Object.assign(world, { shared: true, row: rowOf('t') })
    expect(await settling.settle('t', 'answered')).toEqual({ ok: false })
    expect(acceptedFor).toEqual([])
  })

  it('is thanked for unless it was seen before or failed; a stale one tells nothing', async () => {
    const { settling, world, said, states, acceptedFor } = opened()
    Object.assign(world, { shared: true, row: rowOf('a') })
    const answer = { sends: [own('yes')], sole: true as const }
    expect(await settling.settle('a', 'answered', answer)).toEqual({ ok: true, ids: ['o2'] })
    world.row = rowOf('b', { state: 'seen' })
    await settling.settle('b', 'answered')
    world.row = rowOf('c')
    await settling.settle('c', 'failed', { reason: 'agent_failed' })
    expect(said).toEqual(['thanks a', 'ended answered', 'yes', 'ended answered', 'ended failed'])
    expect(acceptedFor[0]).toEqual({ turn: 'a', to: 'answered', sole: true })
    world.outcome = 'stale'
    expect(await settling.settle('c', 'answered')).toEqual({ ok: false })
    expect(states).toEqual(['a answered', 'b answered', 'c failed'])
  })

  it('that ended elsewhere lands here; one that was seen there waits on, one that is handed is left alone', async () => {
    const { settling, holds, board, clock, moves } = opened(WAIT)
    const hold = board(rowOf('t'))
    settling.settledElsewhere(hold, rowOf('t'))
    expect([holds.flight('t') !== null, clock.pending()]).toEqual([true, 2])
    settling.settledElsewhere(hold, rowOf('t', { state: 'seen' }))
    expect(holds.flight('t')).not.toBeNull()
    await clock.advance(REDELIVER_MS)
    expect(moves).toEqual([{ turn: 't', to: 'failed', reason: 'agent_silent' }])
    for (const end of [{ state: 'answered' }, { state: 'seen', reason: 'acknowledged' }] as const) {
      board(rowOf('u'))
      settling.settledElsewhere(hold, rowOf('u', end))
      expect([end.state, holds.flight('u')]).toEqual([end.state, null])
    }
  })
})

describe('giving up', () => {
  it('says so where it can; a rejection is passed on only if it was written', async () => {
    const { settling, board, world, said, calls } = opened()
    const row = rowOf('a')
    await settling.giveUp(board(row), row, 'agent_rejected', 'no')
    expect([said, calls]).toEqual([['ended failed', expect.stringContaining('(no)')], ['rejected a']])
    world.speaks = false
    await settling.giveUp(board(rowOf('b')), rowOf('b'), 'max_attempts')
    expect([said.slice(2), calls]).toEqual([['ended failed'], ['rejected a']])
    world.outcome = 'ended'
    await settling.giveUp(board(rowOf('c')), rowOf('c'), 'agent_rejected')
    expect(calls).toEqual(['rejected a'])
  })

  it('of a turn whose agent is gone tells whether it did', async () => {
    const { settling, world, states, acceptedFor } = opened()
    expect(await settling.giveUpRemoved(rowOf('t'))).toBe(true)
    expect(acceptedFor).toEqual([{ turn: 't', to: 'failed', reason: 'agent_removed', waiting: true }])
    world.outcome = 'stale'
    expect(await settling.giveUpRemoved(rowOf('t'))).toBe(false)
    expect(states).toEqual(['t failed'])
  })

  it('whoever may not speak any more is refused without a word; an attempt that was made is given back', async () => {
    const { settling, holds, board, world, moves, said, calls } = opened()
    const refused = { to: 'refused', reason: 'revoked' }
    await settling.revoke(board(rowOf('a', { state: 'queued' })), rowOf('a', { state: 'queued' }))
    await settling.revoke(board(rowOf('b')), rowOf('b'))
    expect(moves).toEqual([
      { turn: 'a', ...refused },
      { turn: 'b', ...refused, uncounted: true },
    ])
    expect([said, calls, holds.flight('a')]).toEqual([[], ['revoked a', 'revoked b'], null])
    world.moved = 'stale'
    await settling.revoke(board(rowOf('c')), rowOf('c'))
    expect([calls.length, holds.get('s')]).toEqual([2, undefined])
  })
})

describe('signs of life', () => {
  it('give it its time anew, and are written down only of an agent that lives on', async () => {
    for (const [redelivery, noted] of [
      [WAIT, ['t']],
      [AGAIN, []],
    ] as const) {
      const { settling, board, clock, moves, heardOf } = opened(redelivery)
      const row = rowOf('t')
      settling.watchSilence(board(row), row)
      await clock.advance(REDELIVER_MS - 1)
      await settling.heard('t', 'kate')
      await clock.advance(REDELIVER_MS - 1)
      expect([moves, heardOf]).toEqual([[], noted])
    }
  })

  it('an acknowledged turn rests where the connector says so, and is only seen elsewhere', async () => {
    for (const [redelivery, move, flies] of [
      [{ ...WAIT, acknowledged: 'rest' }, { turn: 't', to: 'seen', reason: 'acknowledged' }, false],
      [WAIT, { turn: 't', to: 'seen' }, true],
    ] as const) {
      const { settling, holds, board, moves } = opened(redelivery)
      board(rowOf('t'))
      await settling.acknowledge(rowOf('t'))
      expect([moves, holds.flight('t') !== null]).toEqual([[move], flies])
    }
  })
})
