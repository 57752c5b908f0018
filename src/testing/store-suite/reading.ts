// Store suite: reading. Filters, pages, transcripts, the view for one-filter questions, and the indexes they use.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { everyRow, type Store } from '../../contract/index.ts'
import {
  expectSound,
  item,
  type MakeStoreFixture,
  mustTakeSend,
  queueOne,
  receiveOne,
  type StoreFixture,
  send,
} from './fixture.ts'

export function describeReading(make: MakeStoreFixture): void {
  describe('reading', () => {
    let fixture: StoreFixture
    let store: Store
    beforeEach(async () => {
      fixture = await make()
      store = await fixture.open('one')
    })
    afterEach(() => fixture.dispose())

    it('[I21.con-series] samples turns for charts: all where they are few, else a bounded number spread over all', async () => {
      const start = fixture.clock.now()
      expect(await store.sampleTurns({ sinceMs: start, untilMs: start })).toMatchObject({
        total: 0,
        rows: [],
      })
      for (let at = 0; at < 30; at++) {
        const refused = { state: 'refused', reason: 'flood' } as const
        await store.receive([
          item({
            conversation: `c${at}`,
            agent: at % 3 === 0 ? 'paul' : 'kate',
            source: at < 10 ? 'webhook:a' : 'webhook:b',
            ...(at % 2 === 0 ? refused : {}),
          }),
        ])
        await fixture.clock.advance(60_000)
      }
      const query = { sinceMs: start, untilMs: fixture.clock.now() }
      const all = await store.sampleTurns(query)
      expect([all.total, all.looked, all.rows.length]).toEqual([30, 30, 30])
      expect(all.rows.filter((row) => row.state === 'refused' && row.reason === 'flood')).toHaveLength(15)
      expect((await store.sampleTurns({ ...query, source: 'webhook:a' })).rows).toHaveLength(10)
      expect((await store.sampleTurns({ ...query, agent: 'paul' })).rows).toHaveLength(10)
      const late = await store.sampleTurns({ ...query, sinceMs: start + 25 * 60_000 })
      expect(late.rows).toHaveLength(5)
      const some = await store.sampleTurns({ ...query, most: 25 })
      expect([some.total, some.looked, some.rows.length]).toEqual([30, 10, 10])
      // The sample spreads over the whole time.
      const times = some.rows.map((row) => row.at - start).sort((one, other) => one - other)
      expect([times[0], times.at(-1)]).toEqual([0, 27 * 60_000])
    })

    it('filters turns by what they are and when they came', async () => {
      const start = fixture.clock.now()
      for (let at = 0; at < 6; at++) {
        await store.receive([
          item({
            text: String(at),
            agent: at % 2 === 0 ? 'kate' : 'paul',
            conversation: `c${at % 3}`,
            source: at === 4 ? 'channel:slack' : 'webhook:demo',
            ...(at === 5 ? { state: 'refused' } : {}),
          }),
        ])
        await fixture.clock.advance(120_000)
      }
      const texts = async (filter: Partial<Parameters<Store['turns']>[0]>) =>
        (await store.turns({ limit: 50, ...filter })).map((turn) => turn.body?.text).join('')
      expect(await texts({})).toBe('543210')
      expect(await texts({ oldestFirst: true, limit: 2 })).toBe('01')
      expect(await texts({ states: ['refused'] })).toBe('5')
      expect(await texts({ states: ['queued', 'handed'] })).toBe('43210')
      expect(await texts({ agent: 'paul' })).toBe('531')
      expect(await texts({ integration: 'demo', agent: 'kate' })).toBe('420')
      expect(await texts({ integration: 'other' })).toBe('')
      expect(await texts({ source: 'channel:slack' })).toBe('4')
      expect(await texts({ sender: 'nobody' })).toBe('')
      expect(await texts({ sinceMs: start + 240_000 })).toBe('5432')
      expect(await texts({ sinceMs: start + 240_000, untilMs: start + 480_000 })).toBe('32')
      expect(await texts({ sinceMs: start + 10_000_000 })).toBe('')
      const third = (await store.turns({ limit: 50 }))[3]
      expect(await texts({ beforeSeq: third?.seq ?? 0 })).toBe('10')
      expect(await texts({ afterSeq: third?.seq ?? 0, oldestFirst: true })).toBe('345')
      const session = await store.sessionAt('kate', { integration: 'demo', conversation: 'c0' })
      expect(await texts({ session: session?.id ?? '' })).toBe('0')
      expect(await texts({ session: 'nowhere' })).toBe('')
      expect(await store.turn('t_zzzzzz_1')).toBeNull()
      expect(await store.turn('nonsense')).toBeNull()
    })

    it('[I14.looked-all] finds rows by conversation, thread, message, turn and sender', async () => {
      for (let at = 0; at < 6; at++) {
        const more = at === 1 ? { messageId: 'the-one' } : {}
        await store.receive([
          item({ text: String(at), conversation: `c${at % 2}`, sender: at < 2 ? 'ann' : 'ben', ...more }),
        ])
      }
      const texts = async (filter: Partial<Parameters<Store['turns']>[0]>) =>
        (await store.turns({ limit: 50, ...filter })).map((turn) => turn.body?.text).join('')
      const c1 = { integration: 'demo', conversation: 'c1' }
      expect(await texts(c1)).toBe('531')
      expect(await texts({ ...c1, oldestFirst: true, limit: 1 })).toBe('1')
      expect(await texts({ ...c1, messageId: 'the-one' })).toBe('1')
      expect(await texts({ messageId: 'the-one', states: ['queued'] })).toBe('1')
      expect(await texts({ ...c1, conversation: 'c0', messageId: 'the-one' })).toBe('')
      expect(await texts({ ...c1, thread: 'nowhere' })).toBe('')
      const said = async (sender: string) =>
        (await store.transcript('demo', { conversation: 'c1', direction: 'in', sender, limit: 9 })).map(
          ({ text }) => text,
        )
      expect([await said('ann'), await said('ben'), await said('eve')]).toEqual([['1'], ['3', '5'], []])
      const to = { integration: 'demo', conversation: 'c1' }
      await store.enqueue([send({ text: 'a', to }), send({ text: 'b', to, turn: 't_x_1' })])
      await store.enqueue([send({ text: 'c', to: { ...to, conversation: 'c0' }, turn: 't_x_1' })])
      const sent = async (filter: Partial<Parameters<Store['sends']>[0]>) =>
        (await store.sends({ limit: 50, ...filter }))
          .map(({ op }) => (op?.kind === 'text' ? op.text : ''))
          .join('')
      expect(await sent(c1)).toBe('ba')
      expect(await sent({ ...c1, turn: 't_x_1' })).toBe('b')
      expect(await sent({ turn: 't_x_1' })).toBe('cb')
    })

    it('[I14.stream-reminders] tells what is still on its way, however far back, in order and in pages', async () => {
      const to = { integration: 'demo', conversation: 'c1' }
      const later = fixture.clock.now() + 3_600_000
      for (let at = 0; at < 6; at++) await store.enqueue([send({ text: `later ${at}`, to, dueAt: later })])
      await store.enqueue([send({ text: 'elsewhere', to: { ...to, conversation: 'c2' }, dueAt: later })])
      await store.enqueue([send({ text: 'now', to })])
      const { sending, token } = await mustTakeSend(store, { lane: 'demo:c1' })
      const move = { lane: 'demo:c1', token, id: sending?.id ?? '', platformIds: ['p'] }
      const waiting = async (query: Partial<Parameters<Store['transcript']>[1]>) =>
        (await store.transcript('demo', { direction: 'out', onItsWay: true, limit: 50, ...query })).map(
          (row) => row.text,
        )
      expect(await waiting({ conversation: 'c1' })).toContain('now')
      await store.moveSends([{ ...move, to: 'sent' }])
      const all = ['later 0', 'later 1', 'later 2', 'later 3', 'later 4', 'later 5']
      expect(await waiting({ conversation: 'c1' })).toEqual(all)
      expect(await waiting({})).toEqual([...all, 'elsewhere'])
      const [, , third] = await store.transcript('demo', { direction: 'out', onItsWay: true, limit: 50 })
      expect(await waiting({ afterSeq: third?.seq ?? 0, limit: 2 })).toEqual(['later 3', 'later 4'])
      expect(await waiting({ afterSeq: 0, beforeSeq: third?.seq ?? 0 })).toEqual(['later 0', 'later 1'])
      expect(await waiting({ direction: 'in' })).toEqual([])
      const placesOf = async () =>
        (await store.transcript('demo', { direction: 'out', onItsWay: true, limit: 50 })).map(
          ({ seq }) => seq,
        )
      expect([...(await store.onItsWay('demo'))].sort((a, b) => a - b)).toEqual(await placesOf())
      expect(await store.onItsWay('other')).toEqual([])
    })

    it('[I14.stream-retry] what failed and is tried again stands at a new place of the transcript, and at that one only', async () => {
      const parts = [1, 2].map((part) => send({ text: `part ${part}`, group: 'g', part }))
      await store.enqueue([send({ text: 'first' }), ...parts, send({ text: 'last' })])
      const settle = async (to: 'sent' | 'failed' | 'unknown', rest: object = {}) => {
        const { sending, token } = await mustTakeSend(store, { lane: 'demo:c1' })
        await store.moveSends([{ lane: 'demo:c1', token, id: sending?.id ?? '', to, ...rest }])
        await store.releaseLanes('sends', [{ lane: 'demo:c1', token }])
        return sending
      }
      await settle('sent')
      const failed = await settle('failed', { reason: 'platform_rejected' })
      await settle('sent')
      const out = (query: Partial<Parameters<Store['transcript']>[1]> = {}) =>
        store.transcript('demo', { direction: 'out', limit: 9, ...query })
      const texts = async (query: Partial<Parameters<Store['transcript']>[1]> = {}) =>
        (await out(query)).map((row) => `${row.text} ${row.state}`)
      const passed = (await out()).at(-1)?.seq ?? 0
      expect(await texts({ afterSeq: passed })).toEqual([])
      await fixture.clock.advance(60_000)
      await store.operateSend(failed?.id ?? '', 'retry', 'operator')
      await store.enqueue([send({ text: 'new' })])
      const news = ['part 1 queued', 'part 2 queued', 'new queued']
      expect([...(await store.onItsWay('demo'))].sort((a, b) => a - b)).toEqual(
        (await out({ afterSeq: passed })).map(({ seq }) => seq),
      )
      expect(await texts({ afterSeq: passed })).toEqual(news)
      expect(await texts({ afterSeq: passed, conversation: 'c1' })).toEqual(news)
      expect(await texts({ afterSeq: passed, conversation: 'c1', onItsWay: true })).toEqual(news)
      expect(await texts({ afterSeq: 0 })).toEqual(['first sent', 'last sent', ...news])
      expect(await texts({ limit: 2 })).toEqual(news.slice(1))
      expect(await texts({ afterSeq: 0, limit: 3 })).toEqual(['first sent', 'last sent', news[0]])
      expect(await texts({ beforeSeq: passed + 2, limit: 2 })).toEqual(['last sent', 'part 1 queued'])
      const [again] = await out({ afterSeq: passed, limit: 1 })
      expect(again).toMatchObject({ id: failed?.id, at: fixture.clock.now() })
      const taken = await settle('sent')
      expect(taken).toMatchObject({ id: failed?.id, place: again?.seq })
      expect(await texts({ afterSeq: passed, limit: 1 })).toEqual(['part 1 sent'])
      // A send that people may have seen keeps its place.
      const unknown = await settle('unknown', { reason: 'unconfirmed' })
      const before = await out({ afterSeq: passed })
      await store.operateSend(unknown?.id ?? '', 'retry', 'operator')
      expect((await out({ afterSeq: passed })).map(({ seq }) => seq)).toEqual(before.map(({ seq }) => seq))
      await expectSound(store)
    })

    it('[I14.place-kept] positions are not given out again when the newest rows are pruned', async () => {
      const queued = await store.enqueue([send({ text: 'a' }), send({ text: 'b' })])
      for (const { id } of queued) await store.operateSend(id, 'bury', 'operator')
      await store.operateSend(queued[0]?.id ?? '', 'retry', 'operator')
      await store.operateSend(queued[0]?.id ?? '', 'bury', 'operator')
      const { id } = await receiveOne(store, { state: 'refused' })
      const [last] = await store.transcript('demo', { direction: 'out', limit: 1 })
      await fixture.clock.advance(40 * 24 * 3_600_000)
      await store.pruneRows(30 * 24 * 3_600_000, 100)
      await store.close()
      store = await fixture.open('one')
      const [next] = await store.enqueue([send({ text: 'c' })])
      expect(next?.seq).toBeGreaterThan(last?.seq ?? 0)
      expect((await receiveOne(store, { state: 'refused' })).id).not.toBe(id)
      await expectSound(store)
    })

    it('[I14.approvals-all] [I14.counts-all] pages through approvals, finds those of a turn and counts what waits', async () => {
      const ids = ['aaaaa', 'bbbbb', 'ccccc', 'ddddd', 'eeeee']
      for (const [at, id] of ids.entries()) {
        const ask = { toolName: 'Bash', description: 'd', input: 'i' }
        const about = { session: 's', ask, inputHash: 'h', expiresAt: fixture.clock.now() + 1_000 + at }
        const agent = at === 4 ? 'paul' : 'kate'
        await store.ask({ id, hostId: `r${at}`, agent, turn: at < 2 ? 't_1' : null, ...about }, [])
      }
      const found = async (filter: Partial<Parameters<Store['approvals']>[0]>) =>
        (await store.approvals({ limit: 50, ...filter })).map((row) => row.id[0]).join('')
      expect(await found({})).toBe('edcba')
      const seen: string[] = []
      for await (const row of everyRow((page) => store.approvals({ ...page }), 2)) seen.push(row.id)
      expect(seen).toEqual([...ids].reverse())
      expect(await found({ turn: 't_1' })).toBe('ba')
      expect(await found({ turn: 't_2' })).toBe('')
      expect(await found({ hostId: 'r2', states: ['pending', 'decided'] })).toBe('c')
      expect(await found({ id: 'ddddd' })).toBe('d')
      await store.settleApproval('aaaaa', 'withdrawn')
      expect(await store.pendingApprovals()).toEqual([
        { agent: 'kate', count: 3 },
        { agent: 'paul', count: 1 },
      ])
    })

    it('[I23.turns-indexed] finds turns in either direction, between two times, by what no index leads to', async () => {
      const start = fixture.clock.now()
      for (const [at, agent] of ['kate', 'paul', 'kate', 'paul', 'kate'].entries()) {
        await store.receive([item({ text: `${at}`, conversation: `c${at}`, agent })])
        await fixture.clock.advance(600_000)
      }
      await store.receive([item({ text: 'r', state: 'refused', agent: 'zoe' })])
      const texts = async (filter: Partial<Parameters<Store['turns']>[0]>) =>
        (await store.turns({ limit: 50, ...filter })).map((row) => row.body?.text ?? '-').join('')
      expect(await texts({ agent: 'kate' })).toBe('420')
      expect(await texts({ agent: 'kate', oldestFirst: true })).toBe('024')
      expect(await texts({ agent: 'kate', limit: 2 })).toBe('42')
      expect(await texts({ agent: 'kate', oldestFirst: true, limit: 2 })).toBe('02')
      expect(await texts({ agent: 'nobody' })).toBe('')
      expect(await texts({ agent: 'paul', untilMs: start + 1_800_000 })).toBe('1')
      expect(await texts({ agent: 'paul', sinceMs: start + 1_800_000 })).toBe('3')
      expect(await texts({ untilMs: start + 1_200_000 })).toBe('10')
      expect(await texts({ states: ['refused'] })).toBe('r')
      expect(await texts({ states: ['refused', 'failed'] })).toBe('r')
      expect(await texts({ states: ['failed'] })).toBe('')
      const [, last] = await store.turns({ agent: 'kate', limit: 2 })
      expect(await texts({ agent: 'kate', beforeSeq: last?.seq ?? 0 })).toBe('0')
    })

    it('[I23.doctor-linear] tells when each agent was last written to', async () => {
      const times: number[] = []
      for (const agent of ['kate', 'paul', 'kate']) {
        await store.receive([item({ agent })])
        times.push(fixture.clock.now())
        await fixture.clock.advance(1_000)
      }
      const last = await store.lastReceived(['kate', 'paul', 'nobody'])
      expect([...last].sort()).toEqual([
        ['kate', times[2]],
        ['paul', times[1]],
      ])
      expect((await store.lastReceived([])).size).toBe(0)
    })

    it('filters sends', async () => {
      await store.enqueue([
        send({ text: 'a', session: 's1' }),
        send({ text: 'b', agent: 'paul', to: { integration: 'other', conversation: 'x' } }),
        send({ text: 'c', approval: 'abcde' }),
      ])
      const texts = async (filter: Partial<Parameters<Store['sends']>[0]>) =>
        (await store.sends({ limit: 50, ...filter }))
          .map((row) => (row.op?.kind === 'text' ? row.op.text : ''))
          .join('')
      expect(await texts({})).toBe('cba')
      expect(await texts({ oldestFirst: true, limit: 2 })).toBe('ab')
      expect(await texts({ agent: 'paul' })).toBe('b')
      expect(await texts({ session: 's1' })).toBe('a')
      expect(await texts({ approval: 'abcde' })).toBe('c')
      expect(await texts({ integration: 'demo', states: ['queued'] })).toBe('ca')
      expect(await texts({ states: ['sent', 'failed'] })).toBe('')
      expect(await texts({ sinceMs: fixture.clock.now() })).toBe('cba')
      expect(await texts({ sinceMs: fixture.clock.now() + 1 })).toBe('')
    })

    it('tells what was said in a conversation, both ways, oldest first', async () => {
      await store.receive([item({ text: 'q1', thread: 't' })])
      await fixture.clock.advance(1)
      await store.enqueue([send({ text: 'a1' })])
      await fixture.clock.advance(1)
      await store.receive([
        item({ text: 'q2' }),
        item({ text: 'elsewhere', conversation: 'c2' }),
        item({ state: 'refused' }),
      ])
      await fixture.clock.advance(1)
      await store.enqueue([send({ text: 'a2' })])
      const { sending, token } = await mustTakeSend(store, { lane: 'demo:c1' })
      await store.moveSends([
        { lane: 'demo:c1', token, id: sending?.id ?? '', to: 'sent', platformIds: ['p9'] },
      ])
      const said = async (query: Partial<Parameters<Store['transcript']>[1]>) =>
        (await store.transcript('demo', { limit: 50, ...query })).map((entry) => entry.text).join(' ')
      expect(await said({ conversation: 'c1' })).toBe('q1 a1 q2 a2')
      expect(await said({ conversation: 'c1', limit: 2 })).toBe('q2 a2')
      expect(await said({})).toBe('q1 a1 q2 elsewhere a2')
      const out = await store.transcript('demo', { conversation: 'c1', direction: 'out', limit: 9 })
      expect(out).toMatchObject([
        { text: 'a1', platformMessageId: 'p9', state: 'sent' },
        { text: 'a2', state: 'queued' },
      ])
      expect(await said({ direction: 'out', afterSeq: out[0]?.seq ?? 0 })).toBe('a2')
      expect(await said({ direction: 'out', beforeSeq: out[1]?.seq ?? 0 })).toBe('a1')
      const [first] = await store.transcript('demo', { conversation: 'c1', direction: 'in', limit: 9 })
      expect(first).toMatchObject({ direction: 'in', sender: 'dev', thread: 't', state: 'queued' })
    })

    it('[S12.goal-turns] [F7.audit-index] [F7.audit-non-channel] the view answers by source, on its index', async () => {
      const { lane } = await queueOne(store, { source: 'channel:slack' })
      await queueOne(store, { source: 'webhook:demo' })
      const query = `SELECT goal_id, turn_index, outcome, recorded_at FROM goal_turns WHERE source = 'channel:slack'`
      const found = await fixture.sql(query)
      expect(found).toHaveLength(1)
      expect(found[0]).toMatchObject({ goal_id: lane, outcome: 'queued' })
      expect(await fixture.explain(query)).toContain('turns_source')
    })

    it('[I23.turns-indexed] asks open work, and what came to a rare end, of their partial indexes', async () => {
      const turns = `SELECT seq FROM turns WHERE lane = 7 AND state = 'queued' ORDER BY seq LIMIT 2`
      expect(await fixture.explain(turns)).toContain('turns_queued')
      const flying = `SELECT seq FROM turns WHERE lane = 7 AND state IN ('handed','seen') AND (reason IS NULL OR reason NOT IN ('acknowledged','one_way')) ORDER BY seq`
      expect(await fixture.explain(flying)).toContain('turns_flight')
      const sends = `SELECT seq FROM outbox WHERE integration = 'a' AND lane = 's' AND state = 'queued' AND state IN ('queued','sending') ORDER BY seq LIMIT 1`
      expect(await fixture.explain(sends)).toContain('outbox_open')
      const aside = `SELECT seq FROM turns WHERE state IN ('refused','consumed','failed','expired') AND state = 'failed' ORDER BY seq DESC LIMIT 5`
      expect(await fixture.explain(aside)).toContain('turns_aside')
      const counted = `SELECT lane, count(*) FROM turns WHERE state = 'queued' GROUP BY lane`
      expect(await fixture.explain(counted)).toContain('turns_queued')
    })

    it('says how durable it is on the live connection', async () => {
      const { kind, detail } = await store.durability()
      expect(detail).toContain(kind === 'sqlite' ? 'synchronous=FULL' : 'synchronous_commit=on')
    })
  })
}
