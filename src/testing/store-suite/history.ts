// Store suite: completeness. How far a history was compared, marks that move with messages, which messages are known,
// and what pruning keeps. Also deletions, and the one row of an answer that is shown while it is written.
import { describe, expect, it } from 'vitest'
import {
  type Address,
  DELETED_VERSION,
  defined,
  HISTORY_ROWS_MS,
  type MarkMove,
  SwitchboardError,
  streamKey,
  streamLane,
} from '../../contract/index.ts'
import {
  counts,
  type ItemOptions,
  item,
  type MakeStoreFixture,
  mustTake,
  mustTakeSend,
  openBeforeEach,
  queueOne,
  receiveOne,
  send,
} from './fixture.ts'

const DAY_MS = 24 * 3_600_000
const AT: Address = { integration: 'demo', conversation: 'c1' }

export function describeHistory(make: MakeStoreFixture): void {
  describe('completeness', () => {
    const { fixture, store, reopen } = openBeforeEach(make)
    const now = () => fixture.clock.now()
    const markAt = (position: string, more: Partial<MarkMove> = {}): MarkMove => ({
      ...{ integration: 'demo', place: 'c1', position, at: now() },
      ...more,
    })
    const late = (options: ItemOptions = {}) => item({ lateAt: now() - 5_000, ...options })
    const positions = async (...places: readonly string[]) =>
      (await store.historyMarks('demo', places)).map(({ position }) => position).toSorted()

    it('[I15.first-connect] an integration begins once, and what is settled stays over a restart', async () => {
      const first = await store.beginHistory('demo')
      expect(first).toEqual({
        ...{ integration: 'demo', beganAt: now(), until: null, comparedAt: null },
        ...{ state: 'behind', detail: null },
      })
      await fixture.clock.advance(60_000)
      expect(await store.beginHistory('demo')).toEqual(first)
      const upTo = now()
      await store.settleHistory({
        ...{ integration: 'demo', state: 'complete', detail: null, until: upTo, comparedAt: upTo },
      })
      await store.settleHistory({ integration: 'demo', state: 'behind', detail: 'c1: away' })
      await store.beginHistory('other')
      await store.close()
      await reopen('one')
      expect(await store.historyLinks()).toEqual([
        { ...first, until: upTo, comparedAt: upTo, detail: 'c1: away' },
        expect.objectContaining({ integration: 'other', until: null }),
      ])
    })

    it('[I15.mark-with-message] [I15.late-counted] a mark and the late messages before it are one commit, each message once', async () => {
      const [missed] = await store.receive([late({ messageId: 'm1' })], undefined, markAt('1'))
      expect(missed).toMatchObject({ duplicate: false, state: 'queued' })
      expect(await store.turn(missed?.id ?? '')).toMatchObject({ lateAt: now() - 5_000, receivedAt: now() })
      // A message from the live link is known already, so the mark passes it.
      await receiveOne(store, { messageId: 'm2' })
      const again = [late({ messageId: 'm1' }), late({ messageId: 'm2' }), late({ messageId: 'm3' })]
      const results = await store.receive(again, undefined, markAt('3'))
      expect(results.map(({ duplicate }) => duplicate)).toEqual([true, true, false])
      expect(await positions('c1')).toEqual(['3'])
      expect(await counts(store)).toMatchObject({ received: 3, queued: 3, 'found:late': 2 })
      const entries = await store.ledger({ afterSeq: 0, limit: 20 })
      expect(entries.filter(({ detail }) => JSON.stringify(detail).includes('late'))).toHaveLength(2)
      // A mark may move without any missed message.
      await store.receive([], undefined, markAt('4'))
      expect(await positions('c1')).toEqual(['4'])
    })

    it('[I15.one-walks] a mark and a settling need the lease: a node that lost it writes neither message nor mark', async () => {
      await store.beginHistory('demo')
      const name = 'history:demo'
      const { token } = (await store.lease(name, 120_000)) ?? { token: 0 }
      await store.receive([late({ messageId: 'm1' })], undefined, markAt('1', { fence: { name, token } }))
      await store.releaseLease(name, token)
      const other = await fixture.open('two')
      try {
        const theirs = (await other.lease(name, 120_000)) ?? { token: 0 }
        expect(theirs.token).toBeGreaterThan(token)
        expect(await store.lease(name, 120_000)).toBeNull()
        const fence = { name, token }
        const stale = store.receive([late({ messageId: 'm2' })], undefined, markAt('9', { fence }))
        await expect(stale).rejects.toBeInstanceOf(SwitchboardError)
        const settled = { integration: 'demo', state: 'complete', detail: null, until: 1, fence } as const
        await expect(store.settleHistory(settled)).rejects.toBeInstanceOf(SwitchboardError)
        expect(await store.knownMessages('demo', [{ conversation: 'c1', messageId: 'm2' }])).toEqual([])
        expect(await positions('c1')).toEqual(['1'])
        const right = { fence: { name, token: theirs.token } }
        await other.receive([late({ messageId: 'm2' })], undefined, markAt('2', right))
        expect(await positions('c1')).toEqual(['2'])
        expect((await store.historyLinks())[0]).toMatchObject({ state: 'behind', until: null })
      } finally {
        await other.close()
      }
    })

    it('[I15.place-gone] [I15.threads] marks are found by place and by age, and forgotten one by one', async () => {
      for (const [place, ago] of [
        ['old', 9],
        ['new', 1],
        ['newer', 0],
      ] as const)
        await store.receive([], undefined, markAt(place, { place, at: now() - ago * DAY_MS }))
      await store.receive([], undefined, markAt('x', { place: 'new', integration: 'other' }))
      const young = await store.marksSince('demo', now() - 7 * DAY_MS, { limit: 10 })
      expect(young.map(({ place }) => place)).toEqual(['newer', 'new'])
      const paged: string[] = []
      for (let after: { place: string; at: number } | undefined; paged.length < 9; ) {
        const [mark] = await store.marksSince('demo', 0, { limit: 1, ...defined({ after }) })
        if (!mark) break
        paged.push(mark.place)
        after = mark
      }
      expect(paged).toEqual(['newer', 'new', 'old'])
      await store.forgetPlace('demo', 'new')
      expect(await positions('old', 'new', 'newer')).toEqual(['newer', 'old'])
      expect(await store.historyMarks('other', ['new'])).toHaveLength(1)
      expect(await store.historyMarks('demo', [])).toEqual([])
    })

    it('[I15.dropped-stays] rows, refusals, edits, deletions and drops are known, each by its own conversation', async () => {
      await store.receive([
        item({ messageId: 'm1' }),
        item({ messageId: 'm1', editVersion: 2 }),
        item({ messageId: 'm1', conversation: 'c2' }),
        item({ messageId: 'm2', state: 'refused' }),
        { ...item({ messageId: 'm3', state: 'refused', reason: 'flood', keepRow: false }), keepKey: true },
        item({ messageId: 'm4', state: 'refused', reason: 'flood', keepRow: false }),
        item({ messageId: 'm5', editVersion: DELETED_VERSION, state: 'consumed', reason: 'noted' }),
      ])
      const keys = ['m1', 'm2', 'm3', 'm4', 'm5'].map((messageId) => ({ conversation: 'c1', messageId }))
      const known = await store.knownMessages('demo', keys)
      expect(known.map((one) => `${one.messageId}.${one.editVersion}`).toSorted()).toEqual(
        ['m1.0', 'm1.2', 'm2.0', 'm3.0', `m5.${DELETED_VERSION}`].toSorted(),
      )
      expect(await store.knownMessages('other', keys)).toEqual([])
      expect(await store.knownMessages('demo', [])).toEqual([])
    })

    it('[I15.dropped-stays] the key of a drop stays as long as a row would, and longer while nothing was compared', async () => {
      await store.beginHistory('demo')
      const dropped = item({ messageId: 'm1', state: 'refused', reason: 'flood', keepRow: false })
      await store.receive([{ ...dropped, keepKey: true }])
      const key = [{ conversation: 'c1', messageId: 'm1' }]
      const settled = (comparedAt?: number) =>
        store.settleHistory({
          ...{ integration: 'demo', state: 'complete', detail: null },
          ...(comparedAt === undefined ? {} : { comparedAt, until: comparedAt }),
        })
      const saidAt = now()
      await settled(saidAt + 60_000)
      expect(await store.knownMessages('demo', key)).toHaveLength(1)
      await fixture.clock.advance(HISTORY_ROWS_MS + DAY_MS)
      await settled()
      await settled(saidAt - 1)
      expect(await store.knownMessages('demo', key)).toHaveLength(1)
      await settled(now())
      expect(await store.knownMessages('demo', key)).toEqual([])
    })

    it('[I15.retention] pruning leaves every row that a history may still be compared with, however old', async () => {
      const settledRow = (integration: string, messageId: string) =>
        receiveOne(store, { integration, messageId, state: 'consumed', reason: 'command' })
      await store.beginHistory('demo')
      await settledRow('demo', 'm1')
      await settledRow('plain', 'm1')
      const comparedAt = now() + 1_000
      await fixture.clock.advance(2_000)
      await settledRow('demo', 'm2')
      await fixture.clock.advance(HISTORY_ROWS_MS + DAY_MS)
      // Nothing was compared yet, so pruning removes only rows without a history.
      expect(await store.pruneRows(DAY_MS, 100)).toBe(1)
      const ids = async () =>
        (await store.turns({ integration: 'demo', limit: 10 })).map(({ messageId }) => messageId).toSorted()
      expect(await ids()).toEqual(['m1', 'm2'])
      await store.settleHistory({ integration: 'demo', state: 'complete', detail: null, comparedAt })
      expect(await store.pruneRows(DAY_MS, 100)).toBe(1)
      expect(await ids()).toEqual(['m2'])
      await store.settleHistory({ integration: 'demo', state: 'complete', detail: null, comparedAt: now() })
      expect(await store.pruneRows(DAY_MS, 100)).toBe(1)
    })

    it('[I15.clock-back] a first connect that lies ahead after the clock was set back moves back with it', async () => {
      const { beganAt } = await store.beginHistory('demo')
      await receiveOne(store)
      fixture.clock.jump(now() - DAY_MS)
      expect(await store.settleClock()).toBe(DAY_MS)
      expect(await store.beginHistory('demo')).toMatchObject({ beganAt: beganAt - DAY_MS })
    })

    describe('deletions', () => {
      const deletion = (messageId: string, sender: string | null = 'dev') => ({
        ...item({
          ...{ messageId, editVersion: DELETED_VERSION, state: 'consumed', reason: 'noted' },
          ...{ sender: sender ?? '', body: { kind: 'delete', text: '' } },
          effects: [{ kind: 'withdraw', at: AT, messageId, sender }],
        }),
      })

      it('[I15.delete-queued] [I15.delete-twice] what is queued ends withdrawn and loses its text, once', async () => {
        const { id } = await queueOne(store, { messageId: 'm1', text: 'secret' })
        const edit = await queueOne(store, { messageId: 'm1', editVersion: 1, text: 'secret, too' })
        await store.receive([deletion('m1')])
        const [again] = await store.receive([deletion('m1')])
        expect(again?.duplicate).toBe(true)
        for (const turn of [id, edit.id])
          expect(await store.turn(turn)).toMatchObject({
            ...{ state: 'consumed', reason: 'withdrawn', body: null },
          })
        expect(await counts(store)).toMatchObject({ received: 3, 'consumed:withdrawn': 2 })
      })

      it('[I15.delete-handed] [I15.delete-whose] a turn that was handed over stays, and so does another sender’s message', async () => {
        const handed = await queueOne(store, { messageId: 'm1', text: 'handed' })
        const { token } = await mustTake(store, { lane: handed.lane })
        await store.moveTurns([{ lane: handed.lane, token, turn: handed.id, to: 'handed' }])
        const queued = await queueOne(store, { messageId: 'm2', text: 'mine', conversation: 'c1' })
        await store.receive([deletion('m1'), deletion('m2', 'mallory')])
        expect(await store.turn(handed.id)).toMatchObject({ state: 'handed', body: { text: 'handed' } })
        expect(await store.turn(queued.id)).toMatchObject({ state: 'queued' })
        await store.receive([{ ...deletion('m3', null) }])
        expect(await store.turn(queued.id)).toMatchObject({ state: 'queued', body: { text: 'mine' } })
      })

      it('[I15.delete-first] [I15.delete-heard] one that comes first withdraws its message at birth; what was overheard goes', async () => {
        await store.receive([deletion('m1')])
        const early = { ...item({ messageId: 'm1', text: 'too late' }), mayBeDeleted: true as const }
        const [born] = await store.receive([early])
        expect(born).toMatchObject({ state: 'consumed', reason: 'withdrawn' })
        expect((await store.turn(born?.id ?? ''))?.body?.text).toBe('')
        const heard = await receiveOne(store, {
          ...{ messageId: 'm2', text: 'overheard', state: 'refused', reason: 'not_mentioned' },
        })
        await store.receive([deletion('m2')])
        expect(await store.turn(heard.id ?? '')).toMatchObject({ state: 'refused', body: null })
      })
    })

    describe('an answer that is shown while it is written', () => {
      const begun = async (turn: string) => {
        const op = { kind: 'text', text: 'Once', partial: true } as const
        const [row] = await store.enqueue([send({ op, turn, idempotencyKey: streamKey(turn) })])
        return row?.id ?? ''
      }
      const finished = async (turn: string, text: string) =>
        (await store.enqueue([send({ text, turn, idempotencyKey: `answer-${turn}`, finishes: true })]))[0]
      const shown = async (turn: string) => {
        const lane = streamLane(AT, turn)
        const { token, sending } = await mustTakeSend(store, { lane })
        const move = { lane, token, id: sending?.id ?? '' }
        await store.moveSends([{ ...move, to: 'sending', platformIds: ['p1'] }])
        return move
      }

      it('[I15.partial-edits] its one row holds the beginning, then the whole, where it stands', async () => {
        const { id: turn } = await queueOne(store)
        const id = await begun(turn)
        await shown(turn)
        expect(await store.send(id)).toMatchObject({ state: 'sending', platformIds: ['p1'] })
        // The agent is still writing this answer, so it does not count as waiting.
        expect(await store.waitingSends(fixture.clock.now() + 1)).toEqual([])
        expect(await finished(turn, 'Once upon a time')).toMatchObject({
          id,
          state: 'queued',
          repeated: false,
        })
        expect(await store.send(id)).toMatchObject({
          ...{ state: 'queued', platformIds: ['p1'], op: { text: 'Once upon a time' } },
        })
        expect(await finished(turn, 'again')).toMatchObject({ id, repeated: true })
        expect(await counts(store)).toMatchObject({ 'send:queued': 1 })
      })

      it('[I15.partial-edits] what is finished along with a reaction before it is no second answer', async () => {
        const { id: turn } = await queueOne(store)
        const id = await begun(turn)
        await shown(turn)
        const reaction = send({ op: { kind: 'react', on: 'm1', emoji: '👀' }, turn, cause: 'notice' })
        const text = send({
          text: 'Once upon a time',
          turn,
          idempotencyKey: `answer-${turn}`,
          finishes: true,
        })
        const after = send({ text: 'a second message', turn })
        const rows = await store.enqueue([reaction, text, after])
        expect(rows.map((row) => row.id === id)).toEqual([false, true, false])
        expect(await store.send(id)).toMatchObject({ state: 'queued', op: { text: 'Once upon a time' } })
        expect(await counts(store)).toMatchObject({ 'send:queued': 3 })
      })

      it('[I15.partial-crash] finished before it was posted it is posted whole; finished while it is posted it is queued when that is known', async () => {
        const { id: one } = await queueOne(store)
        const first = await begun(one)
        expect(await finished(one, 'whole')).toMatchObject({ id: first, state: 'queued' })
        expect((await store.send(first))?.op).toEqual({ kind: 'text', text: 'whole' })
        const { id: two } = await queueOne(store)
        const second = await begun(two)
        const lane = streamLane(AT, two)
        const { token } = await mustTakeSend(store, { lane })
        expect(await finished(two, 'the end')).toMatchObject({ id: second, state: 'sending' })
        await store.moveSends([{ lane, token, id: second, to: 'sending', platformIds: ['p2'] }])
        expect(await store.send(second)).toMatchObject({
          ...{ state: 'queued', platformIds: ['p2'], op: { text: 'the end' } },
        })
      })

      it('[I15.partial-crash] a beginning with an unknown outcome is left, and the answer gets its own row', async () => {
        const { id: turn } = await queueOne(store)
        const id = await begun(turn)
        const lane = streamLane(AT, turn)
        const { token } = await mustTakeSend(store, { lane })
        await store.moveSends([{ lane, token, id, to: 'unknown', reason: 'unconfirmed' }])
        const answer = await finished(turn, 'whole')
        expect(answer?.id).not.toBe(id)
        expect(await store.send(id)).toMatchObject({ state: 'unknown', op: { text: 'Once' } })
      })
    })
  })
}
