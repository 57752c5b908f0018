// Store suite: lanes and turns. Taking, settling, fencing, redelivery.
import { describe, expect, it } from 'vitest'
import { defined } from '../../contract/index.ts'
import {
  counts,
  LEASE_MS,
  type MakeStoreFixture,
  mustTake,
  openBeforeEach,
  queueOne,
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
      expect(first).toMatchObject({ token: 1, more: true, empty: false, unsettled: [] })
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
      const updatedAt = fixture.clock.now()
      await fixture.clock.advance(10)
      for (const to of ['seen', 'queued', 'failed', 'answered'] as const)
        expect(await move(to)).toEqual(['noop'])
      expect(await store.turn(id)).toMatchObject({ state: 'answered', updatedAt })
      expect(await store.moveTurns([{ lane, token, turn: 't_zzzzzz_1', to: 'seen' }])).toEqual(['noop'])
      expect(await counts(store)).toEqual({ received: 1, answered: 1 })
      expect(await mustTake(store, { lane, token })).toMatchObject({ empty: true, more: false })
    })

    it('[S6.channel-ack-rests] an acknowledged turn takes no room, is not left over, and its body may be pruned', async () => {
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
      expect(next).toMatchObject({ unsettled: [], handed: [{ id: second.id }] })
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
      expect(theirs.unsettled.map((turn) => turn.id)).toEqual([id])
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

    it('[S2.redeliver-restart] a handed turn is offered again after a restart, marked by the caller', async () => {
      const { id, lane } = await queueOne(store)
      await mustTake(store, { lane })
      await store.close()
      await fixture.clock.advance(LEASE_MS)
      await reopen('one')
      const again = await mustTake(store, { lane })
      expect(again.unsettled).toMatchObject([{ id, state: 'handed', attempts: 1 }])
      const back = { lane, token: again.token, turn: id, to: 'queued', repeat: true, resume: true } as const
      expect(await store.moveTurns([back])).toEqual(['moved'])
      const offered = await mustTake(store, { lane, token: again.token })
      expect(offered.handed).toMatchObject([{ id, repeat: true, resume: true, attempts: 2 }])
    })

    it('[S2.redeliver-restart] the mark of a repeat stays until a caller removes it', async () => {
      const { id, lane } = await queueOne(store)
      const back = async (marks: { readonly repeat?: boolean; readonly resume?: boolean }) => {
        const { token } = await mustTake(store, { lane })
        await store.moveTurns([{ lane, token, turn: id, to: 'queued', ...marks }])
        const { repeat, resume } = (await store.turn(id)) ?? {}
        await store.releaseLanes('turns', [{ lane, token }])
        return [repeat, resume]
      }
      expect(await back({})).toEqual([false, false])
      expect(await back({ repeat: true, resume: true })).toEqual([true, true])
      expect(await back({})).toEqual([true, true])
      expect(await back({ repeat: false, resume: false })).toEqual([false, false])
    })

    it('[I6.unheard-take] what a take handed whose answer was lost is found, and nothing overtakes it', async () => {
      const first = await queueOne(store)
      const { lane } = first
      const { token } = await mustTake(store, { lane, window: 3 })
      const second = await queueOne(store)
      await mustTake(store, { lane, token, window: 3 }) // The caller loses this answer.
      await queueOne(store)
      const again = await mustTake(store, { lane, token, window: 3, known: [first.id] })
      expect(again.handed).toEqual([])
      expect(again.unsettled).toMatchObject([{ id: second.id, state: 'handed' }])
      const all = await mustTake(store, { lane, token, window: 3, known: [first.id, second.id] })
      expect(all.unsettled).toEqual([])
      expect(all.handed).toHaveLength(1)
    })

    it('an attempt that the agent did not take does not count', async () => {
      const { id, lane } = await queueOne(store)
      const { token } = await mustTake(store, { lane })
      const back = { lane, token, turn: id, to: 'queued', uncounted: true } as const
      expect(await store.moveTurns([back])).toEqual(['moved'])
      expect(await store.turn(id)).toMatchObject({ state: 'queued', attempts: 0, repeat: false })
      const again = await mustTake(store, { lane, token })
      expect(again.handed).toMatchObject([{ id, attempts: 1 }])
    })

    it('waits until its given time', async () => {
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
      const ask = { toolName: 'Bash', description: 'Run', input: 'ls' }
      const about = { id: 'abcde', hostId: null, agent: 'kate', session: lane, turn: id, ask, inputHash: 'h' }
      await store.ask({ ...about, expiresAt: fixture.clock.now() + 600_000 }, [])
      expect(await store.settleClock()).toBe(0)
      fixture.clock.jump(fixture.clock.now() - HOUR_MS)
      expect(await takeTurn(store, { lane, token })).toMatchObject({ outcome: 'later' })
      const hints: string[] = []
      store.onHint(({ kind }) => void hints.push(kind))
      expect(await store.settleClock()).toBe(HOUR_MS)
      // Waiting nodes look again at once.
      expect(hints).toContain('missed')
      expect(await store.settleClock()).toBe(0)
      expect((await store.approval('abcde'))?.expiresAt).toBe(fixture.clock.now() + 600_000)
      const sends = async () => (await store.findWork('sends', ['demo'], { limit: 5 })).length
      expect(await sends()).toBe(1)
      expect(await takeTurn(store, { lane, token })).toMatchObject({ outcome: 'later' })
      fixture.clock.jump(fixture.clock.now() + 20_000)
      expect(await takeTurn(store, { lane, token })).toMatchObject({ outcome: 'taken' })
      const other = await fixture.open('two')
      expect((await other.lease('link:tg', LEASE_MS))?.token).toBeGreaterThan(lease?.token ?? 0)
      expect(await store.verify()).toMatchObject({ ok: true })
    })

    it('[I35.a4-table] names the turn that messages wait behind, since when, and how many', async () => {
      const first = await queueOne(store)
      await queueOne(store)
      await queueOne(store)
      await queueOne(store, { conversation: 'elsewhere' })
      expect(await store.waitingBehind(fixture.clock.now() + 1)).toEqual([])
      const { token } = await mustTake(store, { lane: first.lane, window: 1 })
      const since = fixture.clock.now()
      await fixture.clock.advance(10)
      expect(await store.waitingBehind(since)).toEqual([])
      expect(await store.waitingBehind(since + 1)).toEqual([
        { agent: 'kate', turn: first.id, since, behind: 2 },
      ])
      const rests = { lane: first.lane, token, turn: first.id, to: 'seen', reason: 'acknowledged' } as const
      expect(await store.moveTurns([rests])).toEqual(['moved'])
      expect(await store.waitingBehind(fixture.clock.now() + 1)).toEqual([])
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
      expect(await store.queuedTurns()).toEqual([
        { agent: 'kate', count: 7 },
        { agent: 'paul', count: 1 },
      ])
    })
  })
}
