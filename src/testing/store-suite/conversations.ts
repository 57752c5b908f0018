// Store suite: the list of conversations, and one conversation as people saw it.
import { describe, expect, it } from 'vitest'
import type { ConversationFilter, ThreadCursor } from '../../contract/index.ts'
import {
  item,
  type MakeStoreFixture,
  mustTake,
  openBeforeEach,
  queueOne,
  receiveOne,
  send,
} from './fixture.ts'

const AT = { integration: 'demo', conversation: 'c1' }

export function describeConversations(make: MakeStoreFixture): void {
  describe('conversations', () => {
    const { fixture, store } = openBeforeEach(make)

    const gather = async () => {
      while (await store.gatherConversations());
    }
    const listed = async (filter: Partial<ConversationFilter> = {}) => {
      await gather()
      const found: string[] = []
      let before: ConversationFilter['before']
      for (let pages = 0; pages < 100; pages++) {
        const page = await store.conversations({ limit: 3, ...filter, ...(before ? { before } : {}) })
        found.push(...page.rows.map(({ address }) => address))
        if (page.next === null) return found
        before = page.next
      }
      throw new Error('it never ends')
    }

    it('[I21.list] every place once, by its latest word, page after page', async () => {
      for (let at = 0; at < 10; at++) {
        await receiveOne(store, { conversation: `p${at}`, agent: at % 2 === 0 ? 'kate' : 'paul' })
        // Some places have the same time. Their addresses then give the order.
        if (at % 3 === 0) await fixture.clock.advance(1_000)
      }
      expect(new Set(await listed()).size).toBe(10)
      await fixture.clock.advance(1_000)
      await store.enqueue([send({ to: { integration: 'demo', conversation: 'p4' } })])
      await fixture.clock.advance(1_000)
      await receiveOne(store, { conversation: 'p2', thread: 't' })
      await receiveOne(store, { conversation: 'p3', integration: 'other' })
      const all = await listed()
      expect(all.slice(0, 3)).toEqual(['other:p3', 'demo:p2:t', 'demo:p4'])
      expect([all.length, new Set(all).size]).toEqual([12, 12])
      expect(await listed({ integration: 'other' })).toEqual(['other:p3'])
      expect((await listed({ agent: 'paul' })).sort()).toEqual(
        ['p1', 'p3', 'p5', 'p7', 'p9'].map((name) => `demo:${name}`),
      )
      expect(await listed({ sinceMs: fixture.clock.now() })).toEqual(['other:p3', 'demo:p2:t'])
    })

    it('[I21.list] [I24.wa-receipts] what a platform says later of a send is no word of that conversation', async () => {
      const { id } = await receiveOne(store, { conversation: 'c1', sender: 'kate' })
      const report = { conversation: 'c1', sender: 'whatsapp', state: 'consumed', reason: 'report' } as const
      await fixture.clock.advance(1_000)
      for (let told = 0; told < 3; told++) await receiveOne(store, report)
      await receiveOne(store, { ...report, conversation: 'nobody-spoke-here' })
      expect(await listed()).toEqual(['demo:c1'])
      expect(await store.conversation(AT)).toMatchObject({ turns: 1, lastTurn: { id, sender: 'kate' } })
      const { rows } = await store.thread(AT, { limit: 10 })
      expect(rows.map((row) => (row.kind === 'turn' ? row.turn.id : row.kind))).toEqual([id])
    })

    it('[I21.list] a search finds ids and names in any case, and takes no wildcard', async () => {
      const named = (senderName: string) => ({ kind: 'message', text: 'x', senderName }) as const
      await receiveOne(store, { conversation: 'a', body: named('Joan of Arc') })
      await receiveOne(store, { conversation: 'b', body: named('100% Bob') })
      await receiveOne(store, { conversation: 'c', sender: 'U0JOAN' })
      expect((await listed({ search: 'joan' })).sort()).toEqual(['demo:a', 'demo:c'])
      expect(await listed({ search: '0% b' })).toEqual(['demo:b'])
      expect(await listed({ search: '%' })).toEqual(['demo:b'])
      expect(await listed({ search: '_' })).toEqual([])
      expect(await listed({ search: 'nobody' })).toEqual([])
    })

    it('[I21.list] it tells what was said last, how much, and who holds it', async () => {
      await receiveOne(store, { text: 'hi' })
      await fixture.clock.advance(5)
      await store.enqueue([send({ text: 'hello' })])
      const order = { at: AT, platform: 'webhook', agent: 'kate', by: 'user:ann', name: 'ann', force: false }
      await store.takeOver(order)
      await store.askTakeover({
        ...{ at: { ...AT, conversation: 'c2' }, platform: 'webhook', agent: 'kate' },
        ...{ by: 'agent:kate', reason: null, summary: null },
      })
      await receiveOne(store, { conversation: 'c2' })
      await gather()
      const row = await store.conversation(AT)
      expect(row).toMatchObject({ turns: 1, sends: 1, agent: 'kate', takeover: { holderName: 'ann' } })
      expect([row?.lastTurn?.body?.text, row?.lastSend?.op]).toEqual(['hi', { kind: 'text', text: 'hello' }])
      expect(await listed({ takeover: 'held' })).toEqual(['demo:c1'])
      expect(await listed({ takeover: 'asked' })).toEqual(['demo:c2'])
      expect(await store.conversation({ integration: 'demo', conversation: 'never' })).toBeNull()
      // Gathering again counts nothing twice.
      await gather()
      expect((await store.conversation(AT))?.turns).toBe(1)
    })

    it('[I21.thread] turns, sends and takeovers in order, page after page, with their events', async () => {
      const turn = await queueOne(store, { text: 'one' })
      await mustTake(store, { lane: turn.lane })
      const event = {
        turn: turn.id,
        kind: 'tool_call',
        call: 'c',
        name: 'search',
        text: '{}',
        key: null,
      } as const
      await store.keepTurnEvent(event)
      const ask = { tool: 'x' }
      await store.ask(
        {
          ...{ id: 'abcde', hostId: null, agent: 'kate', session: turn.lane, turn: turn.id, inputHash: 'h' },
          ask: { toolName: 'Bash', description: 'runs', input: JSON.stringify(ask) } as never,
          expiresAt: fixture.clock.now() + 60_000,
        },
        [],
      )
      for (let at = 0; at < 4; at++) {
        await fixture.clock.advance(10)
        await store.enqueue([send({ text: `answer ${at}` })])
        if (at === 1) await gather()
        await fixture.clock.advance(10)
        await receiveOne(store, { text: `question ${at}` })
      }
      await receiveOne(store, { thread: 'other', text: 'in a thread' })
      await store.enqueue([send({ to: { ...AT, conversation: 'c2' } })])
      const taking = { platform: 'webhook', agent: 'kate', by: 'user:ann', name: 'ann', force: false }
      await fixture.clock.advance(10)
      await store.takeOver({ at: AT, ...taking })
      await fixture.clock.advance(10)
      await store.sayHeld([send({ cause: 'takeover', agent: null, text: 'ann here' })], {
        at: AT,
        by: 'user:ann',
      })
      const seen: string[] = []
      let before: ThreadCursor | undefined
      for (let pages = 0; pages < 20; pages++) {
        const page = await store.thread(AT, { limit: 3, ...(before ? { before } : {}) })
        for (const row of page.rows) {
          if (row.kind === 'turn') seen.push(row.turn.body?.text ?? '')
          else if (row.kind === 'send') seen.push(row.send.op?.kind === 'text' ? row.send.op.text : '')
          else seen.push(`taken by ${row.takeover.holderName}`)
          if (row.kind === 'turn' && row.turn.id === turn.id) {
            expect(row.events.map(({ name }) => name)).toEqual(['search'])
            expect(row.approvals.map(({ id }) => id)).toEqual(['abcde'])
            expect([row.turn.attempts, row.turn.state]).toEqual([1, 'failed'])
          }
          if (row.kind === 'send' && row.by !== null) expect(row.by).toBe('user:ann')
        }
        if (page.next === null) break
        before = page.next
      }
      expect(seen.toReversed()).toEqual([
        ...['one', 'answer 0', 'question 0', 'answer 1', 'question 1', 'answer 2', 'question 2'],
        ...['answer 3', 'question 3', 'taken by ann', 'ann here'],
      ])
      const inThread = await store.thread({ ...AT, thread: 'other' }, { limit: 9 })
      expect(inThread.rows).toHaveLength(1)
    })

    it('[I35.b44] an answer stands below its message, and what happened in a takeover where it happened', async () => {
      // The message and the reply to it are in one commit.
      await store.receive([
        item({
          text: 'let me in',
          state: 'refused',
          reason: 'pairing_required',
          effects: [{ kind: 'send', ...send({ text: 'your code', cause: 'pairing' }) }],
        }),
      ])
      const taking = { platform: 'webhook', agent: 'kate' }
      const take = (by: string, force = false) =>
        store.takeOver({ at: AT, ...taking, by: `user:${by}`, name: by, force })
      const say = (by: string) =>
        store.sayHeld([send({ cause: 'takeover', agent: null, text: `${by} here` })], {
          at: AT,
          by: `user:${by}`,
        })
      await fixture.clock.advance(10)
      await take('ann')
      await fixture.clock.advance(10)
      await say('ann')
      await fixture.clock.advance(10)
      await receiveOne(store, { text: 'a question' })
      await fixture.clock.advance(10)
      // The takeover of one ends and the takeover of the other begins at the same moment.
      await take('bob', true)
      await fixture.clock.advance(10)
      await store.endTakeover({ at: AT, by: 'user:bob', how: 'given' })
      for (const limit of [1, 2, 3, 50]) {
        const seen: string[] = []
        let before: ThreadCursor | undefined
        for (let pages = 0; pages < 20; pages++) {
          const page = await store.thread(AT, { limit, ...(before ? { before } : {}) })
          for (const row of page.rows)
            if (row.kind === 'turn') seen.push(row.turn.body?.text ?? '')
            else if (row.kind === 'send') seen.push(row.send.op?.kind === 'text' ? row.send.op.text : '')
            else seen.push(...row.marks.toReversed().map((mark) => `${row.takeover.holderName} ${mark}`))
          if (limit === 50)
            expect(page.rows.flatMap((row) => (row.kind === 'takeover' ? [row.marks] : []))).toEqual([
              ...[['taken', 'ended'], ['ended'], ['taken']],
            ])
          if (page.next === null) break
          before = page.next
        }
        expect(seen.toReversed(), `pages of ${limit}`).toEqual([
          ...['let me in', 'your code', 'ann taken', 'ann here', 'a question'],
          ...['ann ended', 'bob taken', 'bob ended'],
        ])
      }
    })

    it('[I21.list-indexed] the list and the held places are read by their indexes', async () => {
      await store.receive(Array.from({ length: 200 }, (_, at) => item({ conversation: `n${at}` })))
      await gather()
      // Only this table, because the planner keeps the statistics and the database is lent to other tests.
      await fixture.sql('ANALYZE conversations')
      const plan = async (sql: string) => (await fixture.explain(sql)).toLowerCase()
      const key = `(last_at, integration, conversation, thread) < (5, 'a', 'b', 'c')`
      const order = 'ORDER BY last_at DESC, integration DESC, conversation DESC, thread DESC LIMIT 3'
      const shown = [
        `SELECT * FROM conversations WHERE ${key} AND last_at <= 5 ${order}`,
        `SELECT * FROM conversations WHERE integration = 'x' AND ${key} AND last_at <= 5 ${order}`,
        `SELECT * FROM conversations WHERE agent = 'x' AND ${key} AND last_at <= 5 ${order}`,
      ]
      for (const sql of shown)
        expect([sql, await plan(sql)]).toEqual([sql, expect.stringMatching(/conversations_/)])
      const stuck = `SELECT * FROM outbox WHERE state IN ('failed') AND state IN ('failed','unknown') ORDER BY seq DESC LIMIT 3`
      expect(await plan(stuck)).toContain('outbox_stuck')
    })
  })
}
