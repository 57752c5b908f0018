// Store suite: the outbox. Idempotency, order, due times, parts of a long message, operators.
import { describe, expect, it } from 'vitest'
import type { SendMove } from '../../contract/index.ts'
import {
  counts,
  LEASE_MS,
  type MakeStoreFixture,
  mustTakeSend,
  openBeforeEach,
  send,
  takeSend,
} from './fixture.ts'

const LANE = 'demo:c1'

export function describeOutlet(make: MakeStoreFixture): void {
  describe('outlet', () => {
    const { fixture, store } = openBeforeEach(make)
    const move = async (id: string, token: number, to: SendMove['to'], rest: Partial<SendMove> = {}) =>
      (await store.moveSends([{ lane: LANE, token, id, to, ...rest }]))[0]

    it('the same idempotency key of the same agent gives the first row', async () => {
      const [first] = await store.enqueue([send({ idempotencyKey: 'k', text: 'one' })])
      const again = await store.enqueue([
        send({ idempotencyKey: 'k', text: 'two' }),
        send({ idempotencyKey: 'k' }),
      ])
      expect(again).toEqual([
        { ...first, repeated: true },
        { ...first, repeated: true },
      ])
      const [other] = await store.enqueue([send({ idempotencyKey: 'k', agent: 'paul' })])
      expect(other?.repeated).toBe(false)
      expect(await counts(store)).toEqual({ 'send:queued': 2 })
    })

    it('[S2.sent-means-confirmed] sends one at a time, oldest first, and keeps the platform’s ids', async () => {
      const [one, two] = await store.enqueue([send({ text: 'one' }), send({ text: 'two' })])
      const first = await mustTakeSend(store, { lane: LANE })
      expect(first.sending).toMatchObject({ id: one?.id, state: 'sending', attempts: 1, op: { text: 'one' } })
      expect(first.nextDueAt).toBe(fixture.clock.now())
      expect((await mustTakeSend(store, { lane: LANE, token: 1 })).sending).toBeNull()
      expect(await move(one?.id ?? '', 1, 'sent', { platformIds: ['p1', 'p2'] })).toBe('moved')
      expect(await move(one?.id ?? '', 1, 'sent')).toBe('noop')
      expect(await store.send(one?.id ?? '')).toMatchObject({ state: 'sent', platformIds: ['p1', 'p2'] })
      const second = await mustTakeSend(store, { lane: LANE, token: 1 })
      expect(second).toMatchObject({ sending: { id: two?.id }, nextDueAt: null })
    })

    it('several moves of one send in one call end where the last one leads', async () => {
      const [row] = await store.enqueue([send()])
      const id = row?.id ?? ''
      const { token } = await mustTakeSend(store, { lane: LANE })
      const moved = { lane: LANE, token, id }
      const moves = [
        { ...moved, to: 'unknown', reason: 'unconfirmed' } as const,
        { ...moved, to: 'failed', reason: 'buried', detail: 'gone' } as const,
      ]
      expect(await store.moveSends(moves)).toEqual(['moved', 'moved'])
      expect(await store.send(id)).toMatchObject({ state: 'failed', detail: 'gone' })
    })

    it('a reminder waits for its time and delays no other send', async () => {
      const dueAt = fixture.clock.now() + 5_000
      await store.enqueue([send({ text: 'later', dueAt })])
      expect(await store.findWork('sends', ['demo'], { limit: 5 })).toEqual([])
      const idle = await mustTakeSend(store, { lane: LANE })
      expect(idle).toMatchObject({ sending: null, nextDueAt: dueAt })
      await store.enqueue([send({ text: 'now' })])
      const busy = await mustTakeSend(store, { lane: LANE, token: idle.token })
      expect(busy).toMatchObject({ sending: { op: { text: 'now' } }, nextDueAt: dueAt })
      await move(busy.sending?.id ?? '', idle.token, 'sent')
      await store.releaseLanes('sends', [{ lane: LANE, token: idle.token }])
      await fixture.clock.advance(5_000)
      expect(await store.findWork('sends', ['demo'], { limit: 5 })).toEqual([{ lane: LANE, scope: 'demo' }])
      expect((await mustTakeSend(store, { lane: LANE })).sending).toMatchObject({ op: { text: 'later' } })
    })

    it('[S13.settle-token] what a dead node was sending is left over, and its token is worth nothing', async () => {
      const other = await fixture.open('two')
      const [row] = await store.enqueue([send(), send()])
      const mine = await mustTakeSend(store, { lane: LANE })
      expect(await takeSend(other, { lane: LANE })).toMatchObject({ outcome: 'busy' })
      await fixture.clock.advance(LEASE_MS)
      const theirs = await mustTakeSend(other, { lane: LANE })
      expect(theirs).toMatchObject({ sending: null, unsettled: [{ id: row?.id, state: 'sending' }] })
      expect(await move(row?.id ?? '', mine.token, 'sent')).toBe('stale')
      expect(
        await other.moveSends([
          { lane: LANE, token: theirs.token, id: row?.id ?? '', to: 'unknown', reason: 'unconfirmed' },
        ]),
      ).toEqual(['moved'])
      expect(await counts(store)).toEqual({ 'send:unknown:unconfirmed': 1, 'send:queued': 1 })
    })

    it('waits where the platform asked for it, and can replace what is sent', async () => {
      const [row] = await store.enqueue([send()])
      const id = row?.id ?? ''
      const { token } = await mustTakeSend(store, { lane: LANE })
      const op = { kind: 'text', text: 'answer (may be a duplicate)' } as const
      expect(await move(id, token, 'queued', { notBeforeMs: 3_000, reason: 'platform_busy', op })).toBe(
        'moved',
      )
      expect(await takeSend(store, { lane: LANE, token })).toMatchObject({
        outcome: 'later',
        retryAt: fixture.clock.now() + 3_000,
      })
      await fixture.clock.advance(3_000)
      expect((await mustTakeSend(store, { lane: LANE, token })).sending).toMatchObject({
        op,
        attempts: 2,
        reason: null,
      })
    })

    it('when a part fails for good the parts behind it fail with it; a retry takes up there again', async () => {
      const parts = await store.enqueue(
        [0, 1, 2].map((part) => send({ group: 'g', part, text: `part ${part}` })),
      )
      await store.enqueue([send({ text: 'another' })])
      const [zero, one, two] = parts.map((part) => part.id)
      const { token } = await mustTakeSend(store, { lane: LANE })
      await move(zero ?? '', token, 'sent')
      await mustTakeSend(store, { lane: LANE, token })
      await move(one ?? '', token, 'failed', { reason: 'platform_rejected', detail: 'too long' })
      expect(await store.send(two ?? '')).toMatchObject({
        state: 'failed',
        reason: 'platform_rejected',
        detail: 'too long',
      })
      const next = await mustTakeSend(store, { lane: LANE, token })
      expect(next.sending).toMatchObject({ op: { text: 'another' } })
      await move(next.sending?.id ?? '', token, 'sent')
      expect(await store.operateSend(one ?? '', 'retry', 'op')).toMatchObject({
        state: 'queued',
        attempts: 0,
      })
      expect((await mustTakeSend(store, { lane: LANE, token })).sending).toMatchObject({ id: one })
      expect(await store.send(two ?? '')).toMatchObject({ state: 'queued', reason: 'operator_retry' })
      expect(await store.operateSend(zero ?? '', 'retry', 'op')).toBeNull()
    })

    it('an operator buries what is unknown or waits, and nothing brings it back but a retry', async () => {
      const [row] = await store.enqueue([send()])
      const id = row?.id ?? ''
      const { token } = await mustTakeSend(store, { lane: LANE })
      await move(id, token, 'unknown', { reason: 'unconfirmed' })
      expect(await store.operateSend(id, 'bury', 'op')).toMatchObject({ state: 'failed', reason: 'buried' })
      expect(await move(id, token, 'queued')).toBe('noop')
      expect(await store.operateSend(id, 'bury', 'op')).toBeNull()
      expect(await store.operateSend(id, 'retry', 'op')).toMatchObject({ state: 'queued' })
      expect(await store.operateSend('o_nowhere_1', 'retry', 'op')).toBeNull()
    })

    it('an operator buries what failed, the parts behind it too; what the platform said of it stays', async () => {
      const parts = [0, 1, 2].map((part) => send({ group: 'g', part }))
      const [zero, one, two] = (await store.enqueue(parts)).map((row) => row.id)
      const { token } = await mustTakeSend(store, { lane: LANE })
      await move(zero ?? '', token, 'sent')
      await mustTakeSend(store, { lane: LANE, token })
      await move(one ?? '', token, 'failed', { reason: 'platform_rejected', detail: 'too long' })
      const buried = { state: 'failed', reason: 'buried', detail: 'too long' }
      expect(await store.operateSend(one ?? '', 'bury', 'op')).toMatchObject(buried)
      expect(await store.send(two ?? '')).toMatchObject(buried)
      expect(await store.operateSend(two ?? '', 'bury', 'op')).toBeNull()
      expect(await store.operateSend(zero ?? '', 'bury', 'op')).toBeNull()
      expect((await store.verify()).ok).toBe(true)
    })

    it('work of several integrations comes lane by lane, page after page', async () => {
      const places = ['b:c2', 'a:c9', 'c:c1', 'a:c1', 'b:c1']
      for (const place of places) {
        const [integration = '', conversation = ''] = place.split(':')
        await store.enqueue([send({ to: { integration, conversation } })])
      }
      const scopes = ['c', 'a', 'b']
      const first = await store.findWork('sends', scopes, { limit: 3 })
      expect(first.map(({ lane }) => lane)).toEqual(['a:c1', 'a:c9', 'b:c1'])
      const rest = await store.findWork('sends', scopes, { limit: 3, after: 'b:c1' })
      expect(rest).toEqual([
        { lane: 'b:c2', scope: 'b' },
        { lane: 'c:c1', scope: 'c' },
      ])
    })
  })
}
