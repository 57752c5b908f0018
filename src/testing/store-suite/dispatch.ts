// Store suite: lanes and turns. Taking, settling, fencing, redelivery, operators, expiry.
import { describe, expect, it } from 'vitest'
import { defined } from '../../contract/index.ts'
import {
  counts,
  LEASE_MS,
  type MakeStoreFixture,
  mustTake,
  openBeforeEach,
  queueOne,
  receiveOne,
  send,
  takeTurn,
} from './fixture.ts'

export function describeDispatch(make: MakeStoreFixture): void {
  describe('dispatch', () => {
    const { fixture, store, reopen } = openBeforeEach(make)

    it('[S2.order-in-session] hands over oldest first, as many as the window lets through', async () => {
      const turns = [await queueOne(store), await queueOne(store), await queueOne(store)]
      const lane = turns[0]?.lane ?? ''
      const first = await mustTake(store, { lane, window: 2 })
      expect(first.handed.map((turn) => turn.id)).toEqual([turns[0]?.id, turns[1]?.id])
      expect(first).toMatchObject({ token: 1, more: true, empty: false, leftover: [] })
      expect(first.handed[0]).toMatchObject({ state: 'handed', attempts: 1 })
      const full = await mustTake(store, { lane, token: first.token, window: 2 })
      expect(full).toMatchObject({ handed: [], more: true, empty: false })
      const done = { lane, token: 1, turn: turns[0]?.id ?? '', to: 'answered' } as const
      expect(await store.moveTurns([done])).toEqual(['moved'])
      const next = await mustTake(store, { lane, token: 1, window: 2 })
      expect(next.handed.map((turn) => turn.id)).toEqual([turns[2]?.id])
      expect(next.more).toBe(false)
    })

    it('[S2.states-forward] moves only as the table allows; what is already there or beyond is a noop', async () => {
      const { id, lane } = await queueOne(store)
      const { token } = await mustTake(store, { lane })
      const move = (to: 'queued' | 'seen' | 'answered' | 'failed') =>
        store.moveTurns([{ lane, token, turn: id, to }])
      expect(await move('seen')).toEqual(['moved'])
      expect(await move('seen')).toEqual(['noop'])
      expect(await move('answered')).toEqual(['moved'])
      for (const to of ['seen', 'queued', 'failed', 'answered'] as const)
        expect(await move(to)).toEqual(['noop'])
      expect(await store.moveTurns([{ lane, token, turn: 't_zzzzzz_1', to: 'seen' }])).toEqual(['noop'])
      expect(await counts(store)).toEqual({ received: 1, answered: 1 })
      expect(await mustTake(store, { lane, token })).toMatchObject({ empty: true, more: false })
    })

    it('[S6.channel-ack-rests] what was acknowledged takes no room, is left behind for nobody, and its body may be pruned', async () => {
      const first = await queueOne(store)
      const second = await queueOne(store)
      const { lane } = first
      const { token } = await mustTake(store, { lane })
      const move = (to: 'seen' | 'answered', reason?: 'acknowledged') =>
        store.moveTurns([{ lane, token, turn: first.id, to, ...defined({ reason }) }])
      expect(await move('seen')).toEqual(['moved'])
      expect(await move('seen', 'acknowledged')).toEqual(['moved'])
      expect(await move('seen', 'acknowledged')).toEqual(['noop'])
      expect(await move('seen')).toEqual(['noop'])
      expect(await store.turn(first.id)).toMatchObject({ state: 'seen', reason: 'acknowledged' })
      const next = await mustTake(store, { lane, token })
      expect(next).toMatchObject({ leftover: [], handed: [{ id: second.id }] })
      const states = ['handed', 'seen'] as const
      expect(await store.turns({ states, limit: 9 })).toHaveLength(2)
      expect(await store.turns({ states, resting: false, limit: 9 })).toMatchObject([{ id: second.id }])
      await store.moveTurns([{ lane, token, turn: second.id, to: 'answered' }])
      expect(await mustTake(store, { lane, token })).toMatchObject({ empty: true })
      await store.releaseLanes('turns', [{ lane, token }])
      expect(await store.findWork('turns', ['kate'], { limit: 5 })).toEqual([])
      expect(await counts(store)).toEqual({ received: 2, seen: 1, answered: 1 })
      await fixture.clock.advance(10_000)
      expect(await store.pruneBodies(5_000, 100)).toBe(2)
      expect(await store.acceptFor([], { turn: first.id, to: 'answered' })).toMatchObject({
        outcome: 'accepted',
      })
      expect(await store.turn(first.id)).toMatchObject({ state: 'answered', reason: null })
    })

    it('several moves of one turn in one call end where the last one leads', async () => {
      const { id, lane } = await queueOne(store)
      const { token } = await mustTake(store, { lane })
      const moves = (['seen', 'answered', 'seen'] as const).map((to) => ({ lane, token, turn: id, to }))
      expect(await store.moveTurns(moves)).toEqual(['moved', 'moved', 'noop'])
      expect(await store.turn(id)).toMatchObject({ state: 'answered' })
    })

    it('[I14.revoked-turn] [I14.revoked-counts] what may not be handed over any more is refused: it counts as refused, for good', async () => {
      const { lane, id } = await queueOne(store)
      const { token } = await mustTake(store, { lane })
      const away = { lane, token, turn: id, to: 'refused', reason: 'revoked', uncounted: true } as const
      expect(await store.moveTurns([away])).toEqual(['moved'])
      expect(await store.turn(id)).toMatchObject({ state: 'refused', reason: 'revoked', attempts: 0 })
      for (const to of ['queued', 'handed', 'seen', 'answered', 'failed'] as const)
        expect([to, ...(await store.moveTurns([{ lane, token, turn: id, to }]))]).toEqual([to, 'noop'])
      expect(await store.operateTurn(id, 'retry', 'me')).toBeNull()
      expect(await store.verify()).toMatchObject({
        ok: true,
        conservation: { received: 1, accounted: 1, ok: true },
      })
    })

    it('a failed turn is not brought back by its connector', async () => {
      const { id, lane } = await queueOne(store)
      const { token } = await mustTake(store, { lane })
      await store.moveTurns([{ lane, token, turn: id, to: 'failed', reason: 'agent_failed', detail: 'boom' }])
      expect(await store.moveTurns([{ lane, token, turn: id, to: 'queued', repeat: true }])).toEqual(['noop'])
      expect(await counts(store)).toEqual({ received: 1, 'failed:agent_failed': 1 })
    })

    it('[S13.lane-lock] a lane has one owner until its lease ends; then the token grows', async () => {
      const other = await fixture.open('two')
      const { id, lane } = await queueOne(store)
      const mine = await mustTake(store, { lane })
      expect(await takeTurn(other, { lane })).toEqual({
        lane,
        outcome: 'busy',
        retryAt: fixture.clock.now() + LEASE_MS,
      })
      await fixture.clock.advance(LEASE_MS)
      const theirs = await mustTake(other, { lane })
      expect(theirs.token).toBe(mine.token + 1)
      expect(theirs.leftover.map((turn) => turn.id)).toEqual([id])
      expect(theirs.handed).toEqual([])
      expect((await takeTurn(store, { lane, token: mine.token })).outcome).toBe('lost')
      expect(await store.renewLanes('turns', [{ lane, token: mine.token }], LEASE_MS)).toEqual([false])
      expect(await other.renewLanes('turns', [{ lane, token: theirs.token }], LEASE_MS)).toEqual([true])
    })

    it('[S13.settle-token] [I2.lane-fencing] a stale token writes nothing, not even what comes with it', async () => {
      const other = await fixture.open('two')
      const { id, lane } = await queueOne(store)
      const mine = await mustTake(store, { lane })
      await fixture.clock.advance(LEASE_MS)
      await mustTake(other, { lane })
      const before = await store.ledger({ afterSeq: 0, limit: 100 })
      const move = { lane, token: mine.token, turn: id, to: 'answered' } as const
      expect(await store.moveTurns([move])).toEqual(['stale'])
      expect(await store.accept([send({ turn: id })], [move])).toEqual({ outcome: 'stale', sends: [] })
      await store.releaseLanes('turns', [{ lane, token: mine.token }])
      expect(await store.sends({ limit: 5 })).toEqual([])
      expect(await store.turn(id)).toMatchObject({ state: 'handed' })
      expect(await store.ledger({ afterSeq: 0, limit: 100 })).toEqual(before)
      expect((await takeTurn(store, { lane })).outcome).toBe('busy')
    })

    it('[S2.redeliver-restart] what was handed is offered again after a restart, marked by whoever knows', async () => {
      const { id, lane } = await queueOne(store)
      await mustTake(store, { lane })
      await store.close()
      await fixture.clock.advance(LEASE_MS)
      await reopen('one')
      const again = await mustTake(store, { lane })
      expect(again.leftover).toMatchObject([{ id, state: 'handed', attempts: 1 }])
      const back = { lane, token: again.token, turn: id, to: 'queued', repeat: true, resume: true } as const
      expect(await store.moveTurns([back])).toEqual(['moved'])
      const offered = await mustTake(store, { lane, token: again.token })
      expect(offered.handed).toMatchObject([{ id, repeat: true, resume: true, attempts: 2 }])
    })

    it('[I6.unheard-take] what a take handed whose answer was lost is found, and nothing overtakes it', async () => {
      const first = await queueOne(store)
      const { lane } = first
      const { token } = await mustTake(store, { lane, window: 3 })
      const second = await queueOne(store)
      await mustTake(store, { lane, token, window: 3 }) // nobody hears of this one
      await queueOne(store)
      const again = await mustTake(store, { lane, token, window: 3, known: [first.id] })
      expect(again.handed).toEqual([])
      expect(again.leftover).toMatchObject([{ id: second.id, state: 'handed' }])
      const all = await mustTake(store, { lane, token, window: 3, known: [first.id, second.id] })
      expect(all.leftover).toEqual([])
      expect(all.handed).toHaveLength(1)
    })

    it('an attempt that nobody took does not count', async () => {
      const { id, lane } = await queueOne(store)
      const { token } = await mustTake(store, { lane })
      const back = { lane, token, turn: id, to: 'queued', uncounted: true } as const
      expect(await store.moveTurns([back])).toEqual(['moved'])
      expect(await store.turn(id)).toMatchObject({ state: 'queued', attempts: 0, repeat: false })
      const again = await mustTake(store, { lane, token })
      expect(again.handed).toMatchObject([{ id, attempts: 1 }])
    })

    it('waits where it was told to', async () => {
      const { id, lane } = await queueOne(store)
      const { token } = await mustTake(store, { lane })
      await store.moveTurns([{ lane, token, turn: id, to: 'queued', notBeforeMs: 5_000 }])
      const retryAt = fixture.clock.now() + 5_000
      expect(await takeTurn(store, { lane, token })).toEqual({ lane, outcome: 'later', retryAt })
      await store.releaseLanes('turns', [{ lane, token }])
      expect(await takeTurn(store, { lane })).toEqual({ lane, outcome: 'later', retryAt })
      expect(await store.findWork('turns', ['kate'], { limit: 5 })).toEqual([])
      await fixture.clock.advance(5_000)
      expect(await store.findWork('turns', ['kate'], { limit: 5 })).toEqual([{ lane, scope: 'kate' }])
      expect((await mustTake(store, { lane })).token).toBe(token + 1)
    })

    it('a release gives the lane to the next, and tokens only grow', async () => {
      const other = await fixture.open('two')
      const { lane } = await queueOne(store)
      const mine = await mustTake(store, { lane })
      await store.releaseLanes('turns', [{ lane, token: mine.token }])
      const theirs = await mustTake(other, { lane })
      expect(theirs.token).toBe(2)
      await other.releaseLanes('turns', [{ lane, token: theirs.token }])
      expect((await mustTake(store, { lane })).token).toBe(3)
    })

    it('accept writes answers and evidence together', async () => {
      const { id, lane } = await queueOne(store)
      const { token } = await mustTake(store, { lane })
      const result = await store.accept(
        [send({ turn: id, text: 'yes' })],
        [{ lane, token, turn: id, to: 'answered' }],
      )
      expect(result).toMatchObject({ outcome: 'accepted', sends: [{ state: 'queued', repeated: false }] })
      expect(await store.turn(id)).toMatchObject({ state: 'answered' })
      // Evidence that comes twice is no reason to lose the words.
      const again = await store.accept([send({ text: 'more' })], [{ lane, token, turn: id, to: 'answered' }])
      expect(again.outcome).toBe('accepted')
      expect(await store.sends({ limit: 5 })).toHaveLength(2)
    })

    it('[I14.clock-back] a clock that was set back: what waits for a time is moved back with it, once', async () => {
      const HOUR_MS = 3_600_000
      const { id, lane } = await queueOne(store)
      const { token } = await mustTake(store, { lane })
      const back = { lane, token, turn: id, to: 'queued', notBeforeMs: 20_000 } as const
      await store.accept(
        [send({ dueAt: fixture.clock.now() }), send({ dueAt: fixture.clock.now() + 60_000 })],
        [],
      )
      await store.moveTurns([back])
      const lease = await store.lease('link:tg', LEASE_MS)
      expect(await store.settleClock()).toBe(0)
      fixture.clock.jump(fixture.clock.now() - HOUR_MS)
      expect(await takeTurn(store, { lane, token })).toMatchObject({ outcome: 'later' })
      expect(await store.settleClock()).toBe(HOUR_MS)
      expect(await store.settleClock()).toBe(0)
      const sends = async () => (await store.findWork('sends', ['demo'], { limit: 5 })).length
      expect(await sends()).toBe(1)
      expect(await takeTurn(store, { lane, token })).toMatchObject({ outcome: 'later' })
      fixture.clock.jump(fixture.clock.now() + 20_000)
      expect(await takeTurn(store, { lane, token })).toMatchObject({ outcome: 'taken' })
      const other = await fixture.open('two')
      expect((await other.lease('link:tg', LEASE_MS))?.token).toBeGreaterThan(lease?.token ?? 0)
      expect(await store.verify()).toMatchObject({ ok: true })
    })

    it('[I14.one-answer] a sole answer to a turn that is answered writes nothing; the very same one gets its rows', async () => {
      const { id, lane } = await queueOne(store)
      const { token } = await mustTake(store, { lane })
      const reply = (text: string, idempotencyKey: string) =>
        send({ turn: id, session: lane, text, cause: 'reply', idempotencyKey })
      const move = { lane, token, turn: id, to: 'answered', sole: true } as const
      const first = await store.accept([reply('yes', 'k1')], [move])
      expect(first).toMatchObject({ outcome: 'accepted', sends: [{ state: 'queued', repeated: false }] })
      expect(await store.accept([reply('no', 'k2')], [move])).toEqual({ outcome: 'ended', sends: [] })
      const { lane: _lane, token: _token, ...anywhere } = move
      expect(await store.acceptFor([reply('no', 'k3')], anywhere)).toEqual({ outcome: 'stale', sends: [] })
      const [row] = first.sends
      const again = { sends: [{ id: row?.id, repeated: true }] }
      expect(await store.accept([reply('yes', 'k1')], [move])).toMatchObject({ outcome: 'ended', ...again })
      expect(await store.acceptFor([reply('yes', 'k1')], anywhere)).toMatchObject({
        outcome: 'stale',
        ...again,
      })
      // What is said besides is kept.
      const more = await store.accept(
        [send({ turn: id, text: 'more' })],
        [{ lane, token, turn: id, to: 'answered' }],
      )
      expect(more.outcome).toBe('accepted')
      expect(await counts(store)).toEqual({ received: 1, answered: 1, 'send:queued': 2 })
    })

    it('[S2.no-lie-given-up] accept gives nothing up that has ended, and says nothing of it', async () => {
      const { id, lane } = await queueOne(store)
      const { token } = await mustTake(store, { lane })
      const failed = { lane, token, turn: id, to: 'failed', reason: 'agent_silent' } as const
      // In one commit: the second meets what the first has done.
      const [said, givenUp] = await Promise.all([
        store.accept([send({ turn: id, text: 'yes' })], [{ lane, token, turn: id, to: 'answered' }]),
        store.accept([send({ turn: id, text: 'not answered' })], [failed]),
      ])
      expect(said).toMatchObject({ outcome: 'accepted', sends: [{ state: 'queued' }] })
      expect(givenUp).toEqual({ outcome: 'ended', sends: [] })
      expect(await store.accept([send({ turn: id })], [failed])).toEqual({ outcome: 'ended', sends: [] })
      expect(await store.turn(id)).toMatchObject({ state: 'answered', reason: null })
      expect(await store.sends({ limit: 5 })).toHaveLength(1)
    })

    it('[S2.agent-removed] turns of all agents but some are found, and given up also while they wait', async () => {
      const kates = await queueOne(store, { conversation: 'c1' })
      const pauls = await queueOne(store, { conversation: 'c2', agent: 'paul' })
      await receiveOne(store, { state: 'refused', reason: 'no_binding', agent: null, body: null })
      const of = async (...not: string[]) =>
        (await store.turns({ agent: { not }, states: ['queued', 'handed', 'seen'], limit: 5 })).map(
          ({ id }) => id,
        )
      expect(await of('kate', 'paul')).toEqual([])
      expect(await of('kate')).toEqual([pauls.id])
      expect(await of()).toEqual([pauls.id, kates.id])
      const move = { turn: pauls.id, to: 'failed', reason: 'agent_removed' } as const
      expect(await store.acceptFor([send()], move)).toEqual({ outcome: 'stale', sends: [] })
      const given = await store.acceptFor([send()], { ...move, waiting: true })
      expect(given).toMatchObject({ outcome: 'accepted', sends: [{ state: 'queued' }] })
      expect(await store.turn(pauls.id)).toMatchObject({ state: 'failed', reason: 'agent_removed' })
      expect(await of('kate')).toEqual([])
    })

    it('finds lanes with work page by page, and not those that are held', async () => {
      const lanes: string[] = []
      for (let at = 0; at < 7; at++) lanes.push((await queueOne(store, { conversation: `c${at}` })).lane)
      await queueOne(store, { conversation: 'c1' })
      const elsewhere = await queueOne(store, { agent: 'paul' })
      await mustTake(store, { lane: lanes[3] ?? '' })
      const found: string[] = []
      for (let after: string | undefined; ; ) {
        const page = await store.findWork('turns', ['kate'], {
          limit: 2,
          ...defined({ after }),
        })
        found.push(...page.map((work) => work.lane))
        after = page.at(-1)?.lane
        if (page.length < 2) break
      }
      expect([...found].sort()).toEqual(lanes.filter((_, at) => at !== 3).sort())
      const both = await store.findWork('turns', ['kate', 'paul'], { limit: 20 })
      expect(both).toContainEqual({ lane: elsewhere.lane, scope: 'paul' })
      expect(both).toHaveLength(7)
      expect(await store.openTurns()).toEqual([
        { agent: 'kate', state: 'handed', count: 1 },
        { agent: 'kate', state: 'queued', count: 7 },
        { agent: 'paul', state: 'queued', count: 1 },
      ])
    })

    it('an operator brings a failed turn back as a repeat, and cancels an open one', async () => {
      const { id, lane } = await queueOne(store)
      expect(await store.operateTurn(id, 'retry', 'op')).toBeNull()
      const { token } = await mustTake(store, { lane })
      await store.moveTurns([{ lane, token, turn: id, to: 'failed', reason: 'max_attempts' }])
      expect(await store.operateTurn(id, 'cancel', 'op')).toBeNull()
      expect(await store.operateTurn(id, 'retry', 'op')).toMatchObject({
        state: 'queued',
        attempts: 0,
        repeat: true,
      })
      expect(await store.turn(id)).toMatchObject({ state: 'queued', attempts: 0, repeat: true })
      expect(await counts(store)).toEqual({ received: 1, queued: 1 })
      expect(await store.operateTurn(id, 'cancel', 'op')).toMatchObject({
        state: 'failed',
        reason: 'cancelled',
      })
      expect(await store.operateTurn('t_nowhere_1', 'retry', 'op')).toBeNull()
    })

    it('[S2.queue-expiry] what waits too long expires with a reason; what is in hand does not', async () => {
      const old = await queueOne(store)
      const held = await queueOne(store, { conversation: 'c2' })
      await mustTake(store, { lane: held.lane })
      await fixture.clock.advance(1_000)
      const young = await queueOne(store)
      await receiveOne(store, { state: 'refused' })
      expect((await store.overdueTurns(500, 10)).map((turn) => turn.id)).toEqual([old.id])
      const all = [old, held, young].map(({ id }) => ({ id, words: [send({ text: `gone: ${id}` })] }))
      expect((await store.expireTurns(500, all)).map((turn) => turn.id)).toEqual([old.id])
      expect((await store.sends({ limit: 5 })).map(({ op }) => op)).toEqual([
        { kind: 'text', text: `gone: ${old.id}` },
      ])
      expect(await store.turn(old.id)).toMatchObject({ state: 'expired', reason: 'queue_expired' })
      expect(await store.turn(young.id)).toMatchObject({ state: 'queued' })
      expect(await store.expireTurns(500, all)).toEqual([])
      expect(await store.overdueTurns(500, 10)).toEqual([])
      expect(await store.sends({ limit: 5 })).toHaveLength(1)
      expect(await store.operateTurn(old.id, 'retry', 'op')).toMatchObject({ state: 'queued', repeat: false })
      // It waits anew, also when it was in hand meanwhile.
      expect(await store.overdueTurns(500, 10)).toEqual([])
      const { lane, token } = await mustTake(store, { lane: old.lane })
      await store.moveTurns([{ lane, token, turn: old.id, to: 'queued' }])
      expect(await store.expireTurns(500, all)).toEqual([])
      await fixture.clock.advance(501)
      expect((await store.expireTurns(500, all)).map((turn) => turn.id)).toContain(old.id)
    })
  })
}
