// Store suite: what agents report about their work on a turn. In order, once, bounded, pruned with bodies, audited.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type Hint,
  type NewTurnEvent,
  type Store,
  TURN_EVENT_CHARS,
  TURN_EVENTS_KEPT,
} from '../../contract/index.ts'
import { expectSound, type MakeStoreFixture, queueOne, type StoreFixture } from './fixture.ts'

export function describeTurnEvents(make: MakeStoreFixture): void {
  describe('turn events', () => {
    let fixture: StoreFixture
    let store: Store
    let turn: string
    beforeEach(async () => {
      fixture = await make()
      store = await fixture.open()
      turn = (await queueOne(store)).id
    })
    afterEach(() => fixture.dispose())

    const call = (more: Partial<NewTurnEvent> = {}): NewTurnEvent => ({
      turn,
      kind: 'tool_call',
      call: 'tc_1',
      name: 'web_search',
      text: '{"query":"oslo"}',
      key: null,
      ...more,
    })

    it('[I9.tools-kept] they are kept in order and survive a restart', async () => {
      expect(await store.keepTurnEvent(call())).toBe(true)
      expect(await store.keepTurnEvent(call({ kind: 'tool_result', name: null, text: '3°C \0\ud800' }))).toBe(
        true,
      )
      await store.close()
      store = await fixture.open()
      expect(await store.turnEvents(turn)).toMatchObject([
        { n: 1, kind: 'tool_call', call: 'tc_1', name: 'web_search', text: '{"query":"oslo"}' },
        { n: 2, kind: 'tool_result', call: 'tc_1', name: null, text: '3°C \ufffd\ufffd' },
      ])
      await expectSound(store)
    })

    it('a key that is known, and a turn that is not there, keep nothing', async () => {
      expect(await store.keepTurnEvent(call({ key: 'e1' }))).toBe(true)
      expect(await store.keepTurnEvent(call({ key: 'e1' }))).toBe(false)
      const other = (await queueOne(store, { conversation: 'c2' })).id
      expect(await store.keepTurnEvent(call({ key: 'e1', turn: other }))).toBe(true)
      expect(await store.keepTurnEvent(call({ turn: 't_zzzzzz_1' }))).toBe(false)
      expect(await store.keepTurnEvent(call({ turn: `${turn}z` }))).toBe(false)
      expect(await store.turnEvents(turn)).toHaveLength(1)
      expect(await store.turnEvents('nonsense')).toEqual([])
      await expectSound(store)
    })

    it('[I9.tools-kept] events reported at two nodes at once are neither dropped nor kept twice', async () => {
      const other = await fixture.open('two')
      for (let at = 0; at < 10; at++) {
        const [here, there, ...same] = await Promise.all([
          store.keepTurnEvent(call({ text: `here ${at}` })),
          other.keepTurnEvent(call({ text: `there ${at}` })),
          store.keepTurnEvent(call({ text: `same ${at}`, key: `k${at}` })),
          other.keepTurnEvent(call({ text: `same ${at}`, key: `k${at}` })),
        ])
        expect([here, there]).toEqual([true, true])
        expect(same.toSorted()).toEqual([false, true])
      }
      const kept = await store.turnEvents(turn)
      expect(kept.map(({ n }) => n)).toEqual(Array.from({ length: 30 }, (_, at) => at + 1))
      expect(new Set(kept.map(({ text }) => text)).size).toBe(30)
      await expectSound(store)
    })

    it('[S6.chorus-silence-told] a sign of life of an open turn is recorded, and is no move', async () => {
      const row = await store.turn(turn)
      const agent = row?.agent ?? ''
      expect(await store.heardOf(turn, agent)).toBe(false)
      await store.takeTurns([{ lane: row?.session ?? '' }], 60_000)
      const handed = await store.turn(turn)
      const heard: Hint[] = []
      store.onHint((hint) => heard.push(hint))
      await fixture.clock.advance(5_000)
      expect(await store.heardOf(turn, 'somebody else')).toBe(false)
      expect(await store.heardOf(turn, agent)).toBe(true)
      const now = await store.turn(turn)
      expect(now).toEqual({ ...handed, updatedAt: (handed?.updatedAt ?? 0) + 5_000 })
      expect(heard).toContainEqual({ kind: 'turn', id: turn })
      expect(await store.heardOf(`${turn}z`, agent)).toBe(false)
      await expectSound(store)
    })

    it('a turn keeps so many, of bounded length, and says that there were more', async () => {
      const many = Array.from({ length: TURN_EVENTS_KEPT + 20 }, () => call({ text: 'x'.repeat(10_000) }))
      await Promise.all(many.map((one) => store.keepTurnEvent(one)))
      const kept = await store.turnEvents(turn)
      expect(kept).toHaveLength(TURN_EVENTS_KEPT + 1)
      expect(kept[0]?.text).toHaveLength(TURN_EVENT_CHARS)
      expect(kept.at(-1)).toMatchObject({ kind: 'omitted', text: null })
      await expectSound(store)
    })

    it('they are pruned with bodies, and the audit holds', async () => {
      await store.keepTurnEvent(call({ text: 'planted' }))
      await fixture.clock.advance(10_000)
      await store.keepTurnEvent(call({ text: 'young' }))
      expect(await store.pruneBodies(5_000, 100)).toBe(1)
      expect(await store.pruneBodies(5_000, 100)).toBe(0)
      expect((await store.turnEvents(turn)).map(({ text }) => text)).toEqual([null, 'young'])
      expect(JSON.stringify(await fixture.sql('SELECT * FROM turn_events'))).not.toContain('planted')
      await expectSound(store)
    })

    it('the audit finds one that was edited or taken away', async () => {
      await store.keepTurnEvent(call())
      await store.keepTurnEvent(call())
      await fixture.sql(`UPDATE turn_events SET body = '{"text":"forged"}' WHERE n = 1`)
      expect((await store.verify()).brokenAt?.problem).toBe(`an event of ${turn} was changed`)
      await fixture.sql('UPDATE turn_events SET body = NULL WHERE n = 1')
      expect((await store.verify()).brokenAt?.problem).toBe(
        'an event lost its content, and no pruning tells of it',
      )
      await fixture.sql('DELETE FROM turn_events WHERE n = 1')
      expect((await store.verify()).brokenAt?.problem).toBe(`an event of ${turn} is missing`)
    })
  })
}
