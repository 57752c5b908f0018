// Store suite: the journal of agent loops in this process. In order, with one writer, counted, removed with its turn.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type NewTurnStep, PERSON_START, type Store } from '../../contract/index.ts'
import { expectSound, type MakeStoreFixture, mustTake, queueOne, type StoreFixture, send } from './fixture.ts'

export function describeTurnSteps(make: MakeStoreFixture): void {
  describe('turn steps', () => {
    let fixture: StoreFixture
    let store: Store
    let turn: string
    let lane: string
    let token: number
    beforeEach(async () => {
      fixture = await make()
      store = await fixture.open()
      ;({ id: turn, lane } = await queueOne(store))
      ;({ token } = await mustTake(store, { lane }))
    })
    afterEach(() => fixture.dispose())

    const step = (n: number, more: Partial<NewTurnStep> = {}): NewTurnStep => ({
      turn,
      n,
      kind: 'model',
      body: { text: `step ${n} \0\ud800` },
      ...more,
    })
    const usage = { agent: 'kate', model: 'm1', input: 100, output: 20, cacheRead: 5, cacheWrite: 7 }

    it('[I16.steps-kept] they are kept in order, survive a restart, and a position is given once', async () => {
      expect(await store.keepStep(step(1))).toBe(true)
      expect(await store.keepStep(step(2, { kind: 'call' }))).toBe(true)
      expect(await store.keepStep(step(2, { kind: 'result' }))).toBe(false)
      expect(await store.keepStep(step(4))).toBe(false)
      expect(await store.keepStep(step(1, { turn: 't_nope_1' }))).toBe(false)
      await store.close()
      store = await fixture.open()
      const kept = await store.turnSteps(turn)
      expect(kept.map(({ n, kind }) => [n, kind])).toEqual([
        [1, 'model'],
        [2, 'call'],
      ])
      expect(kept[0]?.body).toMatchObject({ text: expect.stringContaining('step 1') })
      await expectSound(store)
    })

    it('[I16.steps-kept] of several that write the same position at once one wins', async () => {
      const won = await Promise.all([1, 2, 3, 4].map((one) => store.keepStep(step(1, { body: one }))))
      expect(won.filter(Boolean)).toHaveLength(1)
    })

    it('[I16.steps-kept] a turn that is not in work any more takes none', async () => {
      await store.moveTurns([{ lane, token, turn, to: 'answered' }])
      expect(await store.keepStep(step(1))).toBe(false)
    })

    it('[I16.tokens-counted] tokens are counted with the step: for the turn, and for the agent and day', async () => {
      await store.keepStep(step(1, { usage }))
      await store.keepStep(step(2, { usage: { ...usage, costMicros: 1_500 } }))
      await store.keepStep(step(2, { usage }))
      await store.keepStep(step(3, { usage: { ...usage, model: 'm2' } }))
      expect((await store.turn(turn))?.usage).toEqual({
        ...{ input: 300, output: 60, cacheRead: 15, cacheWrite: 21, costMicros: 1_500 },
      })
      const day = new Date(fixture.clock.now()).toISOString().slice(0, 10)
      expect(await store.spentTokens('kate', day)).toMatchObject({
        input: 300,
        output: 60,
        costMicros: 1_500,
      })
      expect(await store.spentTokens('paul', day)).toMatchObject({ input: 0 })
      expect(await store.spentTokens('kate', '2001-01-01')).toMatchObject({ input: 0 })
      expect(
        (await store.usage('1970-01-01')).map(({ model, calls, input }) => [model, calls, input]),
      ).toEqual([
        ['m1', 2, 200],
        ['m2', 1, 100],
      ])
      await expectSound(store)
    })

    it('[I16.steps-kept] the past of a session: its turns that were handed over, newest first, with steps or what was said', async () => {
      await store.keepStep(step(1))
      await store.moveTurns([{ lane, token, turn, to: 'answered' }])
      const second = await queueOne(store, { text: 'two' })
      ;({ token } = await mustTake(store, { lane }))
      await store.accept(
        [send({ turn: second.id, text: 'said by another' })],
        [{ lane, token, turn: second.id, to: 'answered' }],
      )
      const third = await queueOne(store, { text: 'three' })
      const fourth = await queueOne(store, { text: 'four' })
      const session = (await store.turn(turn))?.session ?? ''
      const past = await store.pastTurns(session, fourth.id, 10)
      expect(past.map((one) => [one.turn, one.text, one.steps.length, one.said])).toEqual([
        [second.id, 'two', 0, ['said by another']],
        [turn, 'hello', 1, []],
      ])
      expect(await store.pastTurns(session, fourth.id, 1)).toHaveLength(1)
      expect(await store.pastTurns('nowhere', third.id, 10)).toEqual([])
    })

    it('[I16.steps-forgotten] they go with the body by retention, and with the person, later summaries too', async () => {
      await store.keepStep(step(1))
      await store.moveTurns([{ lane, token, turn, to: 'answered' }])
      const second = await queueOne(store, { text: 'two', sender: 'other' })
      ;({ token } = await mustTake(store, { lane }))
      await store.keepStep(step(1, { turn: second.id, kind: 'summary', body: { text: 'dev said hello' } }))
      await store.keepStep(step(2, { turn: second.id }))
      await store.moveTurns([{ lane, token, turn: second.id, to: 'answered' }])
      await store.erasePerson({ integration: 'demo', sender: 'dev' }, PERSON_START, 'op')
      expect(await store.turnSteps(turn)).toEqual([])
      expect((await store.turnSteps(second.id)).map(({ kind }) => kind)).toEqual(['model'])
      await fixture.clock.advance(10_000)
      await store.pruneBodies(1_000, 100)
      expect(await store.turnSteps(second.id)).toEqual([])
      await expectSound(store)
    })
  })
}
