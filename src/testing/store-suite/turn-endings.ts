// Store suite: how turns end. Answered once, given up, refused, expired, cancelled and brought back by an operator.
import { describe, expect, it } from 'vitest'
import {
  counts,
  type MakeStoreFixture,
  mustTake,
  openBeforeEach,
  queueOne,
  receiveOne,
  send,
} from './fixture.ts'

export function describeTurnEndings(make: MakeStoreFixture): void {
  describe('turn endings', () => {
    const { fixture, store } = openBeforeEach(make)

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

    it('accept writes answers and evidence together', async () => {
      const { id, lane } = await queueOne(store)
      const { token } = await mustTake(store, { lane })
      const result = await store.accept(
        [send({ turn: id, text: 'yes' })],
        [{ lane, token, turn: id, to: 'answered' }],
      )
      expect(result).toMatchObject({ outcome: 'accepted', sends: [{ state: 'queued', repeated: false }] })
      expect(await store.turn(id)).toMatchObject({ state: 'answered' })
      // The turn is answered already, but the second message must not be lost.
      const again = await store.accept([send({ text: 'more' })], [{ lane, token, turn: id, to: 'answered' }])
      expect(again.outcome).toBe('accepted')
      expect(await store.sends({ limit: 5 })).toHaveLength(2)
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
      // Only a repeated sole answer gets its rows back. A late message with a failure was not said.
      const failed = { lane, token, turn: id, to: 'failed' } as const
      expect(await store.accept([reply('yes', 'k1')], [failed])).toEqual({ outcome: 'ended', sends: [] })
      // A further message besides the answer is kept.
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
      // Both are in one commit, so the second sees what the first did.
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
      // Its waiting time starts anew, also if it was handed over meanwhile.
      expect(await store.overdueTurns(500, 10)).toEqual([])
      const { lane, token } = await mustTake(store, { lane: old.lane })
      await store.moveTurns([{ lane, token, turn: old.id, to: 'queued' }])
      expect(await store.expireTurns(500, all)).toEqual([])
      await fixture.clock.advance(501)
      expect((await store.expireTurns(500, all)).map((turn) => turn.id)).toContain(old.id)
    })
  })
}
