// Store suite: takeovers. A person holds a place instead of the agent. One person wins, open turns there end, a person
// reads new messages, and no agent speaks there. Afterwards the next turn carries what was said.
import { describe, expect, it } from 'vitest'
import {
  type NewNotification,
  opText,
  PERSON_START,
  type PersonCursor,
  type TakeOrder,
} from '../../contract/index.ts'
import {
  counts,
  item,
  type MakeStoreFixture,
  mustTake,
  openBeforeEach,
  openTwoBeforeEach,
  queueOne,
  receiveOne,
  send,
} from './fixture.ts'

const AT = { integration: 'demo', conversation: 'c1' }
const order = (by: string, over: Partial<TakeOrder> = {}): TakeOrder => ({
  ...{ at: AT, platform: 'webhook', agent: 'kate', by, name: by.replace('user:', ''), force: false },
  ...over,
})
const words = (text: string) => send({ cause: 'takeover', agent: null, text })

export function describeTakeovers(make: MakeStoreFixture): void {
  describe('takeovers', () => {
    const { fixture, store } = openBeforeEach(make)

    it('[I21.one-winner] [I21.give] one holds it; force takes it, give ends it, each in the ledger', async () => {
      await queueOne(store)
      const first = await store.takeOver(order('user:ann'))
      expect([first.won, first.takeover.holderName, first.previous]).toEqual([true, 'ann', null])
      const second = await store.takeOver(order('user:bob'))
      expect([second.won, second.takeover.id, second.takeover.holder]).toEqual([
        false,
        first.takeover.id,
        'user:ann',
      ])
      expect((await store.takeOver(order('user:ann'))).takeover.id).toBe(first.takeover.id)
      const forced = await store.takeOver(order('user:bob', { force: true }))
      expect([forced.won, forced.previous?.ended?.how]).toEqual([true, 'forced'])
      const again = await store.takeOver(order('user:bob', { force: true }))
      expect([again.won, again.previous, again.takeover.id]).toEqual([true, null, forced.takeover.id])
      expect(await store.endTakeover({ at: AT, by: 'user:ann', how: 'given' })).toMatchObject({
        outcome: 'not_holder',
        takeover: { holder: 'user:bob' },
      })
      expect((await store.endTakeover({ at: AT, by: 'user:bob', how: 'given' })).outcome).toBe('ended')
      expect(await store.endTakeover({ at: AT, by: 'user:bob', how: 'given' })).toEqual({
        outcome: 'not_holder',
        takeover: null,
      })
      expect(await store.takeoverAt(AT)).toBeNull()
      const told = (await store.ledger({ afterSeq: 0, limit: 100 })).filter((one) => one.kind === 'takeover')
      expect(told.map(({ from, to }) => [from, to])).toEqual([
        ['', 'held'],
        ['held', 'ended'],
        ['', 'held'],
        ['held', 'ended'],
      ])
      expect(told.map(({ detail }) => JSON.parse(detail).how ?? '')).toEqual(['', 'forced', '', 'given'])
      expect((await store.pastTakeovers(AT, 9)).map(({ ended }) => ended?.how)).toContain('forced')
    })

    it('[I21.held-in] what comes there is consumed: held with its body, elsewhere nothing changes', async () => {
      await queueOne(store)
      const { takeover } = await store.takeOver(order('user:ann'))
      const held = await receiveOne(store, { text: 'is anybody there?', messageId: 'h1' })
      expect([held.state, held.reason]).toEqual(['consumed', 'held'])
      const row = await store.turn(held.id ?? '')
      expect([row?.body?.text, row?.takeover, row?.attempts]).toEqual(['is anybody there?', takeover.id, 0])
      expect((await receiveOne(store, { messageId: 'h1' })).duplicate).toBe(true)
      expect((await receiveOne(store, { conversation: 'c2' })).state).toBe('queued')
      expect((await receiveOne(store, { thread: 't1' })).state).toBe('queued')
      expect((await receiveOne(store, { state: 'refused' })).state).toBe('refused')
      await store.endTakeover({ at: AT, by: 'user:ann', how: 'given' })
      expect((await receiveOne(store)).state).toBe('queued')
      expect((await counts(store))['consumed:held']).toBe(2)
    })

    it('[I21.held-queued] [I21.held-running] what waits is held, what runs is cancelled and cannot be settled', async () => {
      const running = await queueOne(store)
      const { token } = await mustTake(store, { lane: running.lane })
      const waiting = await queueOne(store)
      const elsewhere = await queueOne(store, { conversation: 'c2' })
      const taken = await store.takeOver(order('user:ann'))
      expect(taken.queued).toEqual([waiting.id])
      expect(taken.running).toEqual([{ id: running.id, agent: 'kate' }])
      const states = await Promise.all([running, waiting, elsewhere].map(({ id }) => store.turn(id)))
      expect(states.map((one) => [one?.state, one?.reason ?? null, one?.takeover !== undefined])).toEqual([
        ['failed', 'cancelled', true],
        ['consumed', 'held', true],
        ['queued', null, false],
      ])
      const late = await store.accept(
        [send({ turn: running.id })],
        [{ lane: running.lane, token, turn: running.id, to: 'answered' }],
      )
      expect(late.outcome).toBe('stale')
      expect(await store.sends({ limit: 9 })).toEqual([])
    })

    it('[I21.held-out] [I21.held-late] no agent speaks there, nor for a turn that it ended, also afterwards', async () => {
      const { id, lane } = await queueOne(store)
      await mustTake(store, { lane })
      await store.takeOver(order('user:ann'))
      for (const cause of ['reply', 'send_message', 'notify_user', 'channel_send'] as const)
        await expect(store.enqueue([send({ cause })])).rejects.toMatchObject({ code: 'held' })
      for (const cause of ['notice', 'prompt', 'pairing'] as const)
        expect((await store.enqueue([send({ cause })]))[0]?.state).toBe('queued')
      expect((await store.enqueue([send({ to: { ...AT, conversation: 'c2' } })]))[0]?.state).toBe('queued')
      expect(await store.heldAgainst(AT, null)).toMatchObject({ holderName: 'ann' })
      await store.endTakeover({ at: AT, by: 'user:ann', how: 'given' })
      await expect(store.enqueue([send({ turn: id })])).rejects.toMatchObject({ code: 'held' })
      expect(await store.heldAgainst(AT, id)).toMatchObject({ state: 'ended' })
      expect(await store.heldAgainst(AT, null)).toBeNull()
      expect((await store.enqueue([send()]))[0]?.state).toBe('queued')
    })

    it('[I21.held-notified] what is told of another turn’s end is kept as failed, and the turn ends', async () => {
      await queueOne(store)
      await store.takeOver(order('user:ann'))
      const hook = await queueOne(store, { conversation: 'hook' })
      const { token } = await mustTake(store, { lane: hook.lane })
      const notification: NewNotification = {
        user: 'ann',
        agent: 'kate',
        session: null,
        channel: 'webhook:demo',
        message: 'done',
        urgency: 'normal',
        source: 'notify_on',
      }
      const told = send({ cause: 'notify_user', turn: hook.id, notification })
      const move = { lane: hook.lane, token, turn: hook.id, to: 'answered' } as const
      expect((await store.accept([told], [move])).outcome).toBe('accepted')
      expect((await store.turn(hook.id))?.state).toBe('answered')
      const [kept] = await store.sends({ limit: 9 })
      expect([kept?.state, kept?.reason, kept?.detail]).toEqual(['failed', 'held', 'held by ann'])
      const next = await queueOne(store, { conversation: 'other' })
      const taken = await mustTake(store, { lane: next.lane })
      const answer = { lane: next.lane, token: taken.token, turn: next.id, to: 'answered' } as const
      await expect(store.accept([send({ turn: next.id })], [answer])).rejects.toMatchObject({ code: 'held' })
      expect((await store.turn(next.id))?.state).toBe('handed')
    })

    it('[I21.say] [I21.say-once] only the holder writes, once for a key, and their time begins anew', async () => {
      await queueOne(store)
      expect(await store.sayHeld([words('hi')], { at: AT, by: 'user:ann' })).toEqual({
        outcome: 'not_holder',
        takeover: null,
      })
      const { takeover } = await store.takeOver(order('user:ann'))
      expect(await store.sayHeld([words('hi')], { at: AT, by: 'user:bob' })).toMatchObject({
        outcome: 'not_holder',
        takeover: { holder: 'user:ann' },
      })
      await fixture.clock.advance(60_000)
      const keyed = { ...words('hi'), idempotencyKey: 'k1' }
      const said = await store.sayHeld([keyed], { at: AT, by: 'user:ann' })
      const again = await store.sayHeld([keyed], { at: AT, by: 'user:ann' })
      if (said.outcome !== 'said' || again.outcome !== 'said') throw new Error('not said')
      expect([again.sends[0]?.id, again.sends[0]?.repeated]).toEqual([said.sends[0]?.id, true])
      const rows = await store.sends({ limit: 9 })
      expect(rows.map(({ cause, takeover: of, agent }) => [cause, of, agent])).toEqual([
        ['takeover', takeover.id, null],
      ])
      const live = await store.takeoverAt(AT)
      expect((live?.lastWordAt ?? 0) - (live?.since ?? 0)).toBe(60_000)
      const stale = {
        at: AT,
        id: takeover.id,
        lastWordAt: takeover.since ?? 0,
        by: 'x',
        how: 'timeout',
      } as const
      expect((await store.endTakeover(stale)).outcome).toBe('not_holder')
      expect((await store.endTakeover({ ...stale, lastWordAt: live?.lastWordAt ?? 0 })).outcome).toBe('ended')
    })

    it('[I21.context] [I21.context-once] what was said meanwhile comes with the next turn, and not again', async () => {
      const before = await queueOne(store, { text: 'my order?' })
      const first = await mustTake(store, { lane: before.lane })
      await store.takeOver(order('user:ann'))
      await fixture.clock.advance(10)
      await receiveOne(store, { text: 'hello?', sender: 'jo' })
      await fixture.clock.advance(10)
      await store.sayHeld([words('it is on its way')], { at: AT, by: 'user:ann' })
      await fixture.clock.advance(10)
      await receiveOne(store, { text: 'thanks', sender: 'jo' })
      await receiveOne(store, { conversation: 'c2', text: 'elsewhere' })
      await store.endTakeover({ at: AT, by: 'user:ann', how: 'given' })
      await fixture.clock.advance(10)
      const next = await queueOne(store, { text: 'one more thing' })
      const said = async (turn: string) =>
        (await store.heldWords(turn, 50)).map((word) =>
          word.kind === 'in'
            ? `${word.turn.sender}: ${word.turn.body?.text}`
            : `${word.by}: ${word.send.op ? opText(word.send.op) : ''}`,
        )
      expect(await said(next.id)).toEqual(['jo: hello?', 'ann: it is on its way', 'jo: thanks'])
      const other = await queueOne(store, { conversation: 'c2' })
      expect(await said(other.id)).toEqual([])
      const { token, handed } = await mustTake(store, { lane: next.lane })
      expect([handed.map(({ id }) => id), token > first.token]).toEqual([[next.id], true])
      expect(await said(next.id)).toHaveLength(3)
      await fixture.clock.advance(10)
      expect(await said((await queueOne(store)).id)).toEqual([])
    })

    it('[I23.held-look] a take names the turns from places that were held once: only those are looked up', async () => {
      const before = await queueOne(store)
      expect((await mustTake(store, { lane: before.lane })).afterTakeover ?? []).toEqual([])
      await store.takeOver(order('user:ann'))
      await store.endTakeover({ at: AT, by: 'user:ann', how: 'given' })
      const next = await queueOne(store)
      const calm = await queueOne(store, { conversation: 'c2' })
      const taken = await mustTake(store, { lane: next.lane })
      expect([taken.handed.map(({ id }) => id), taken.afterTakeover]).toEqual([[next.id], [next.id]])
      expect((await mustTake(store, { lane: calm.lane })).afterTakeover ?? []).toEqual([])
    })

    it('[I21.context] what was deleted meanwhile, or whose speaker was erased, is not in it', async () => {
      await queueOne(store, { text: 'waited' })
      await store.takeOver(order('user:ann'))
      await receiveOne(store, { text: 'my password is hunter2', sender: 'jo', messageId: 'p1' })
      await receiveOne(store, { text: 'I live in Oslo', sender: 'eve' })
      await receiveOne(store, { text: 'hello', sender: 'jo' })
      const gone = { kind: 'withdraw', at: AT, messageId: 'p1', sender: 'jo' } as const
      await receiveOne(store, {
        ...{ messageId: 'p1', editVersion: -1, sender: 'jo', state: 'consumed', reason: 'noted' },
        effects: [gone],
      })
      while (await store.gatherConversations());
      for (let cursor: PersonCursor | null = PERSON_START; cursor !== null; )
        cursor = (await store.erasePerson({ integration: 'demo', sender: 'eve' }, cursor, 'op')).next
      await store.endTakeover({ at: AT, by: 'user:ann', how: 'given' })
      const next = await queueOne(store)
      const words = await store.heldWords(next.id, 50)
      expect(words.map((word) => word.kind === 'in' && word.turn.body?.text)).toEqual(['waited', 'hello'])
    })

    it('[I21.handoff] a place is asked for once, taken from there, and put aside by give', async () => {
      await queueOne(store)
      const ask = {
        at: AT,
        platform: 'webhook',
        agent: 'kate',
        by: 'agent:kate',
        reason: 'angry',
        summary: null,
      }
      const asked = await store.askTakeover(ask)
      expect([asked.asked, asked.takeover.state]).toEqual([true, 'asked'])
      expect((await store.askTakeover({ ...ask, reason: 'again' })).asked).toBe(false)
      expect((await receiveOne(store)).state).toBe('queued')
      expect((await store.enqueue([send()]))[0]?.state).toBe('queued')
      const { takeover } = await store.takeOver(order('user:ann'))
      expect([takeover.id, takeover.asked?.reason]).toEqual([asked.takeover.id, 'angry'])
      expect(await store.takeovers({ state: 'asked' })).toEqual([])
      expect((await store.takeovers({ state: 'held' })).map(({ id }) => id)).toEqual([takeover.id])
      expect((await store.askTakeover(ask)).takeover.state).toBe('held')
      await store.endTakeover({ at: AT, by: 'user:ann', how: 'given' })
      await store.askTakeover(ask)
      const aside = await store.endTakeover({ at: AT, by: 'user:bob', how: 'given' })
      expect(aside).toMatchObject({ outcome: 'ended', takeover: { ended: { how: 'withdrawn' } } })
    })

    it('a retry by an operator is a new try, and a restart forgets nothing', async () => {
      const { id, lane } = await queueOne(store)
      await mustTake(store, { lane })
      await store.takeOver(order('user:ann'))
      const again = await fixture.open('one')
      expect((await again.receive([item({ messageId: 'after' })]))[0]?.reason).toBe('held')
      await again.endTakeover({ at: AT, by: 'user:ann', how: 'given' })
      expect((await again.operateTurn(id, 'retry', 'op'))?.state).toBe('queued')
      expect((await again.turn(id))?.takeover).toBeUndefined()
      const { token } = await mustTake(again, { lane })
      const move = { lane, token, turn: id, to: 'answered' } as const
      expect((await again.accept([send({ turn: id })], [move])).outcome).toBe('accepted')
    })
  })

  describe('takeovers of two nodes', () => {
    const { one, two } = openTwoBeforeEach(make)

    it('[I21.one-winner] of two who take it at once one holds it', async () => {
      await queueOne(one)
      const [ann, bob] = await Promise.all([one.takeOver(order('user:ann')), two.takeOver(order('user:bob'))])
      expect([ann.won, bob.won].filter(Boolean)).toHaveLength(1)
      expect(ann.takeover.id).toBe(bob.takeover.id)
      expect(await one.takeovers()).toHaveLength(1)
    })

    it('[I21.held-race] a turn that slipped in beside the take is held when it would be handed over', async () => {
      const { id, lane } = await queueOne(one)
      await two.takeOver(order('user:ann'))
      // A node that had not seen the takeover when it committed leaves a turn like this.
      const slipped = await receiveOne(one, { conversation: 'c9' })
      await two.takeOver(order('user:ann', { at: { ...AT, conversation: 'c9' } }))
      expect((await one.turn(slipped.id ?? ''))?.state).toBe('consumed')
      expect((await one.turn(id))?.state).toBe('consumed')
      const retried = await queueOne(one, { conversation: 'c10' })
      await one.operateTurn(retried.id, 'cancel', 'op')
      await two.takeOver(order('user:ann', { at: { ...AT, conversation: 'c10' } }))
      await one.operateTurn(retried.id, 'retry', 'op')
      const taken = await mustTake(one, { lane: retried.lane })
      expect([taken.handed, taken.more]).toEqual([[], true])
      expect(await one.turn(retried.id)).toMatchObject({ state: 'consumed', reason: 'held', attempts: 0 })
      expect(lane).not.toBe(retried.lane)
    })
  })
}
