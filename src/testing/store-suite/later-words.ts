// Store suite: a later word of a platform about a send. A sent message becomes failed for good, or gets its receipt.
import { describe, expect, it } from 'vitest'
import type { Effect } from '../../contract/index.ts'
import { counts, type MakeStoreFixture, mustTakeSend, openBeforeEach, receiveOne, send } from './fixture.ts'

const LANE = 'demo:c1'
const SESSION = '0b9f3c52-0000-5000-8000-000000000001'

export function describeLaterWords(make: MakeStoreFixture): void {
  describe('later words', () => {
    const { fixture, store } = openBeforeEach(make)

    const sendOne = async (more: Parameters<typeof send>[0] = {}, to: 'sent' | 'unknown' | null = 'sent') => {
      const [queued] = await store.enqueue([send({ session: SESSION, ...more })])
      const { token, sending } = await mustTakeSend(store, { lane: LANE })
      if (!queued || sending?.id !== queued.id) throw new Error('it was not the next one')
      if (to !== null)
        await store.moveSends([{ lane: LANE, token, id: queued.id, to, platformIds: [`<${queued.id}>`] }])
      await store.releaseLanes('sends', [{ lane: LANE, token }])
      return queued.id
    }
    const word = (id: string, more: Partial<Extract<Effect, { kind: 'later_word' }>> = {}): Effect => ({
      kind: 'later_word',
      send: id,
      outcome: 'failed',
      detail: '550 no such user',
      words: [],
      ...more,
    })
    const hear = async (effect: Effect, integration = 'demo') => {
      const result = await receiveOne(store, {
        integration,
        state: 'consumed',
        reason: 'report',
        effects: [effect],
      })
      const [told] = result.effects
      return told?.kind === 'reported' && told.changed
    }

    it('[I19.later-failed] [I19.later-counters] sent becomes failed: platform_rejected, once and never back', async () => {
      const id = await sendOne()
      expect(await hear(word(id))).toBe(true)
      expect(await store.send(id)).toMatchObject({
        state: 'failed',
        reason: 'platform_rejected',
        detail: '550 no such user',
        platformIds: [`<${id}>`],
      })
      expect(await counts(store)).toMatchObject({ 'send:failed:platform_rejected': 1 })
      expect((await counts(store))['send:sent'] ?? 0).toBe(0)
      expect(await hear(word(id, { detail: 'again' }))).toBe(false)
      expect(await hear(word(id, { outcome: 'delivered', detail: null }))).toBe(false)
      expect(await store.send(id)).toMatchObject({
        state: 'failed',
        detail: '550 no such user',
        receipt: null,
      })
      const moves = (await store.ledger({ afterSeq: 0, limit: 100 })).filter(({ ref }) => ref === id)
      expect(moves.map(({ from, to }) => `${from}→${to}`)).toEqual([
        '→queued',
        'queued→sending',
        'sending→sent',
        'sent→failed',
      ])
    })

    it('[I19.later-own] a word on a send of another integration, of another store or of none changes nothing', async () => {
      const id = await sendOne()
      expect(await hear(word(id), 'other')).toBe(false)
      expect(await hear(word('o_elsewhere_1'))).toBe(false)
      expect(await hear(word(''))).toBe(false)
      expect(await store.send(id)).toMatchObject({ state: 'sent' })
    })

    it('[I35.b8] a word that names recipients counts only for a message that was sent to one of them', async () => {
      const to = (conversation: string) => ({ to: { integration: 'demo', conversation } })
      const [queued] = await store.enqueue([send(to('Ann@home.test'))])
      const { token } = await mustTakeSend(store, { lane: 'demo:Ann%40home.test' })
      const id = queued?.id ?? ''
      await store.moveSends([{ lane: 'demo:Ann%40home.test', token, id, to: 'sent' }])
      expect(await hear(word(id, { sentTo: [] }))).toBe(false)
      expect(await hear(word(id, { sentTo: ['bob@home.test'] }))).toBe(false)
      expect(await hear(word(id, { outcome: 'read', detail: null, sentTo: ['bob@home.test'] }))).toBe(false)
      expect(await store.send(id)).toMatchObject({ state: 'sent', receipt: null })
      expect(await hear(word(id, { sentTo: ['bob@home.test', 'ann@home.test'] }))).toBe(true)
      expect(await store.send(id)).toMatchObject({ state: 'failed' })
    })

    it('one that is unknown or whose answer is still awaited fails by it; one that waits does not', async () => {
      const unknown = await sendOne({}, 'unknown')
      expect(await hear(word(unknown))).toBe(true)
      const [waiting] = await store.enqueue([send()])
      expect(await hear(word(waiting?.id ?? ''))).toBe(false)
      const { token, sending } = await mustTakeSend(store, { lane: LANE })
      expect(sending?.id).toBe(waiting?.id)
      expect(await hear(word(waiting?.id ?? ''))).toBe(true)
      // A confirmation after the failure changes nothing.
      const late = { lane: LANE, token, id: waiting?.id ?? '', to: 'sent', platformIds: ['x'] } as const
      expect(await store.moveSends([late])).toEqual(['noop'])
      expect(await store.send(waiting?.id ?? '')).toMatchObject({ state: 'failed' })
    })

    it('[I19.later-agent] the notice goes out only with the move, and the agent’s session keeps it until it is reported', async () => {
      const id = await sendOne()
      const words = [send({ cause: 'notify_user', idempotencyKey: `failed_later:${id}`, text: 'it failed' })]
      await hear(word(id, { words }))
      await hear(word(id, { words: [send({ text: 'not this one' })] }))
      const texts = (await store.sends({ limit: 10 })).map(({ op }) => (op?.kind === 'text' ? op.text : ''))
      expect(texts).toEqual(['it failed', 'answer'])
      expect((await store.unreportedFailures(SESSION)).map((row) => row.id)).toEqual([id])
      expect(await store.unreportedFailures(null)).toHaveLength(1)
      expect(await store.unreportedFailures('another')).toEqual([])
      const other = await fixture.open('two')
      await other.markReported([id, 'o_elsewhere_1'])
      expect(await store.unreportedFailures(SESSION)).toEqual([])
      expect(await store.unreportedFailures(null)).toEqual([])
    })

    it('[I19.later-receipt] delivered, then read, are a field; read is not taken back by a later delivered', async () => {
      const id = await sendOne()
      expect(await store.send(id)).toMatchObject({ state: 'sent', receipt: null })
      expect(await hear(word(id, { outcome: 'delivered', detail: null }))).toBe(true)
      expect(await store.send(id)).toMatchObject({ state: 'sent', receipt: 'delivered' })
      expect(await hear(word(id, { outcome: 'read', detail: null }))).toBe(true)
      expect(await hear(word(id, { outcome: 'delivered', detail: null }))).toBe(false)
      expect(await store.send(id)).toMatchObject({ state: 'sent', receipt: 'read' })
      expect(await counts(store)).toMatchObject({ 'send:sent': 1 })
    })

    it('[I24.wa-receipts] [I24.wa-unknown-status] statuses in every order leave the furthest one, and one repeated says nothing', async () => {
      const order = ['sent', 'delivered', 'read'] as const
      const orders = order.flatMap((a) => order.map((b) => [a, b] as const))
      expect(orders).toHaveLength(9)
      for (const [first, second] of orders) {
        const id = await sendOne()
        const furthest = order.indexOf(first) > order.indexOf(second) ? first : second
        expect(await hear(word(id, { outcome: first, detail: null, platformId: 'x' }))).toBe(true)
        expect(await hear(word(id, { outcome: second, detail: null, platformId: 'x' }))).toBe(
          order.indexOf(second) > order.indexOf(first),
        )
        expect(await store.send(id)).toMatchObject({
          state: 'sent',
          receipt: furthest,
          platformIds: [`<${id}>`],
        })
      }
    })

    it('[I24.wa-settled] a later word settles an open outcome: unknown, still awaited, or about to be retried', async () => {
      const claim = { session: SESSION, agent: 'demo', label: 'demo' }
      const unknown = await sendOne({ claim }, 'unknown')
      expect(await hear(word(unknown, { outcome: 'delivered', detail: null, platformId: 'wamid.1' }))).toBe(
        true,
      )
      expect(await store.send(unknown)).toMatchObject({
        state: 'sent',
        reason: null,
        receipt: 'delivered',
        platformIds: ['wamid.1'],
      })
      const offered = (await store.ledger({ afterSeq: 0, limit: 100 })).filter(({ kind }) => kind === 'claim')
      expect(offered.map(({ ref }) => ref)).toEqual(['wamid.1'])
      const [awaited] = await store.enqueue([send()])
      const { token } = await mustTakeSend(store, { lane: LANE })
      const id = awaited?.id ?? ''
      expect(await hear(word(id, { outcome: 'sent', detail: null, platformId: 'wamid.2' }))).toBe(true)
      const moves = [
        { lane: LANE, token, id, to: 'unknown', reason: 'unconfirmed' },
        { lane: LANE, token, id, to: 'queued', reason: 'unconfirmed' },
      ] as const
      expect(await store.moveSends(moves)).toEqual(['noop', 'noop'])
      expect(await store.send(id)).toMatchObject({ state: 'sent', receipt: 'sent', platformIds: ['wamid.2'] })
      await store.releaseLanes('sends', [{ lane: LANE, token }])
      const again = await sendOne({}, null)
      const held = await mustTakeSend(store, { lane: LANE })
      await store.moveSends([{ lane: LANE, token: held.token, id: again, to: 'queued', notBeforeMs: 1_000 }])
      expect(await hear(word(again, { outcome: 'sent', detail: null, platformId: 'wamid.3' }))).toBe(true)
      expect(await store.send(again)).toMatchObject({ state: 'sent', platformIds: ['wamid.3'] })
      expect((await store.verify()).ok).toBe(true)
    })

    it('[I24.wa-unknown-status] a word on what never left settles nothing, and one that failed stays failed', async () => {
      const [waiting] = await store.enqueue([send()])
      const early = word(waiting?.id ?? '', { outcome: 'sent', detail: null, platformId: 'wamid.9' })
      expect(await hear(early)).toBe(false)
      expect(await store.send(waiting?.id ?? '')).toMatchObject({ state: 'queued', receipt: null })
      const { token } = await mustTakeSend(store, { lane: LANE })
      await store.moveSends([{ lane: LANE, token, id: waiting?.id ?? '', to: 'failed', reason: 'given_up' }])
      expect(await hear(early)).toBe(false)
      expect(await store.send(waiting?.id ?? '')).toMatchObject({ state: 'failed', receipt: null })
    })

    it('[I19.later-retry] the same content can be sent again at once, and an operator can retry it', async () => {
      const keyed = { cause: 'send_message', dedupKey: 'k' } as const
      const id = await sendOne(keyed)
      await hear(word(id))
      const [again] = await store.enqueue([send({ ...keyed, session: SESSION })])
      expect(again).toMatchObject({ state: 'queued', repeated: false })
      expect(await store.operateSend(id, 'retry', 'operator')).toMatchObject({ state: 'queued' })
    })
  })
}
