// Store suite: what may not be handed yet, or not any more, stays queued and was never `handed`.
import { describe, expect, it } from 'vitest'
import type { TurnRow } from '../../contract/index.ts'
import { counts, type MakeStoreFixture, mustTake, openBeforeEach, queueOne } from './fixture.ts'

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
      // It ends as it stands: nobody reads that it was handed, and no attempt is given back that was not made.
      const refused = { lane, token, turn: turns[1]?.id ?? '', to: 'refused', reason: 'revoked' } as const
      expect(await store.moveTurns([refused])).toEqual(['moved'])
      const told = (await store.ledger({ afterSeq: 0, limit: 100 })).filter(({ ref }) => ref === refused.turn)
      expect(told.map(({ to }) => to)).toEqual(['queued', 'refused'])
      const second = await mustTake(store, { lane, token, window: 9, ...but('two') })
      expect(second).toMatchObject({ handed: [{ id: turns[2]?.id }], more: false })
      expect(second.next).toBeUndefined()
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
