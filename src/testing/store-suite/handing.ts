// Store suite: turns that may not be handed over yet, or not any more. They stay queued and were never `handed`. Also
// turns that are taken in the same commit that receives them.
import { describe, expect, it } from 'vitest'
import { type Store, sendLane, type TurnRow } from '../../contract/index.ts'
import {
  counts,
  item,
  LEASE_MS,
  type MakeStoreFixture,
  mustTake,
  openBeforeEach,
  queueOne,
  send,
} from './fixture.ts'

/** The number of commits with an entry. The last entry of each carries the MAC. */
async function commits(store: Store): Promise<number> {
  const entries = await store.ledger({ afterSeq: 0, limit: 1_000 })
  return entries.filter(({ mac }) => mac !== '').length
}

export function describeHanding(make: MakeStoreFixture): void {
  describe('handing', () => {
    const { fixture, store } = openBeforeEach(make)

    it('[I14.judged-first] a turn that is not let through stays queued, with what is behind it, and is given as the next', async () => {
      const turns = []
      for (const text of ['one', 'two', 'three']) turns.push(await queueOne(store, { text }))
      const lane = turns[0]?.lane ?? ''
      const but = (text: string) => ({ mayHand: (turn: TurnRow) => turn.body?.text !== text })
      const first = await mustTake(store, { lane, window: 9, ...but('two') })
      expect(first).toMatchObject({ handed: [{ id: turns[0]?.id }], next: { id: turns[1]?.id }, more: true })
      expect(first.next).toMatchObject({ state: 'queued', attempts: 0 })
      expect(await counts(store)).toMatchObject({ queued: 2, handed: 1 })
      const { token } = first
      // The turn ends from its state. The ledger has no `handed` for it, and no attempt is taken back.
      const refused = { lane, token, turn: turns[1]?.id ?? '', to: 'refused', reason: 'revoked' } as const
      expect(await store.moveTurns([refused])).toEqual(['moved'])
      const told = (await store.ledger({ afterSeq: 0, limit: 100 })).filter(({ ref }) => ref === refused.turn)
      expect(told.map(({ to }) => to)).toEqual(['queued', 'refused'])
      const second = await mustTake(store, { lane, token, window: 9, ...but('two') })
      expect(second).toMatchObject({ handed: [{ id: turns[2]?.id }], more: false })
      expect(second.next).toBeUndefined()
    })

    it('[I23.lone-commits] a message is handed over, and an answer is being sent, by the very commits that bring them', async () => {
      const taken: Promise<unknown>[] = []
      store.onCommit((hints) => {
        for (const hint of hints) {
          if (hint.kind === 'turns') taken.push(store.takeTurns([{ lane: hint.lane }], LEASE_MS))
          if (hint.kind === 'sends') taken.push(store.takeSends([{ lane: hint.lane }], LEASE_MS))
        }
      })
      const before = await commits(store)
      const { id, lane } = await queueOne(store)
      expect(await counts(store)).toMatchObject({ received: 1, handed: 1 })
      expect(await commits(store)).toBe(before + 1)
      expect(await taken[0]).toMatchObject([{ outcome: 'taken', handed: [{ id, state: 'handed' }] }])
      const [{ token }] = (await taken[0]) as readonly [{ readonly token: number }]
      const answer = await store.accept(
        [send({ turn: id, agent: 'demo', session: lane })],
        [{ lane, token, turn: id, to: 'answered' }],
      )
      expect(answer.outcome).toBe('accepted')
      expect(await commits(store)).toBe(before + 2)
      expect(await taken[1]).toMatchObject([{ outcome: 'taken', sending: { id: answer.sends[0]?.id } }])
      expect(taken).toHaveLength(2)
    })

    it('[I23.lone-commits] what cannot be taken along fails by itself: what brought it is kept, and hinted at', async () => {
      const takes: Promise<unknown>[] = []
      const hinted: string[] = []
      store.onHint((hint) => void (hint.kind === 'turns' && hinted.push(hint.lane)))
      store.onCommit((hints) => {
        for (const hint of hints) {
          if (hint.kind !== 'turns') continue
          const mayHand = () => {
            throw new Error('the judge is away')
          }
          takes.push(store.takeTurns([{ lane: hint.lane, mayHand }], LEASE_MS).catch(String))
        }
      })
      const [one, two] = await Promise.all([
        store.receive([item({ text: 'one' })]),
        store.receive([item({ text: 'two', sender: 'u2', conversation: 'c2' })]),
      ])
      expect([one[0]?.id, two[0]?.id]).not.toContain(null)
      expect(await Promise.all(takes)).toContain('Error: the judge is away')
      expect(await counts(store)).toMatchObject({ received: 2, queued: 2 })
      expect(new Set(hinted)).toEqual(new Set([one[0]?.session, two[0]?.session]))
    })

    it('[I23.told-first] [S2.dup-key] a turn received after repeats, and taken by the same commit, is in the ledger before its move', async () => {
      const [one, two] = [await queueOne(store), await queueOne(store, { conversation: 'c2' })]
      for (const { id, lane } of [one, two]) {
        const { token } = await mustTake(store, { lane })
        await store.moveTurns([{ lane, token, turn: id, to: 'answered' }])
        await store.releaseLanes('turns', [{ lane, token }])
      }
      const repeats = Array.from({ length: 8 }, (_, at) =>
        item({ messageId: `again ${at}`, state: 'consumed', reason: 'command' }),
      )
      await store.receive(repeats)
      const [received, ...takes] = await Promise.all([
        store.receive([...repeats, item({ conversation: 'c2' })]),
        store.takeTurns([{ lane: one.lane }], LEASE_MS),
        store.takeTurns([{ lane: two.lane }], LEASE_MS),
      ])
      expect(received.map(({ duplicate }) => duplicate)).toEqual([...repeats.map(() => true), false])
      expect(takes.flat().map(({ outcome }) => outcome)).toEqual(['taken', 'taken'])
      expect((await store.verify()).brokenAt).toBeUndefined()
    })

    it('[I23.told-first] [S11.idempotency-key] a send enqueued after repeats, and sent by the same commit, is in the ledger before its move', async () => {
      const to = (conversation: string) => ({ to: { integration: 'demo', conversation } })
      const repeats = Array.from({ length: 8 }, (_, at) =>
        send({ ...to('c1'), idempotencyKey: `again ${at}` }),
      )
      await store.enqueue(repeats)
      const [results] = await Promise.all([
        store.enqueue([...repeats, send(to('c2'))]),
        ...['c1', 'c2'].map((one) => store.takeSends([{ lane: sendLane(send(to(one))) }], LEASE_MS)),
      ])
      expect(results.map(({ repeated }) => repeated)).toEqual([...repeats.map(() => true), false])
      expect((await store.verify()).brokenAt).toBeUndefined()
    })

    it('a move that changes nothing writes nothing: not the time of the last change either', async () => {
      const { id, lane } = await queueOne(store)
      const { token } = await mustTake(store, { lane })
      const done = { lane, token, turn: id, to: 'answered' } as const
      expect(await store.moveTurns([done])).toEqual(['moved'])
      const [before] = await fixture.sql('SELECT updated_at FROM turns')
      await fixture.clock.advance(1_000)
      expect(await store.moveTurns([done])).toEqual(['noop'])
      expect(await fixture.sql('SELECT updated_at FROM turns')).toEqual([before])
    })
  })
}
