// Store suite: the ledger. The audit finds every way to tamper with it, its rows or its counters.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Store } from '../../contract/index.ts'
import {
  counts,
  expectSound,
  item,
  type MakeStoreFixture,
  mustTake,
  mustTakeSend,
  queueOne,
  receiveOne,
  type StoreFixture,
  send,
} from './fixture.ts'

/** What a person with access to the database might do, and the answer that the audit must give. */
const TAMPERING: readonly {
  readonly name: string
  readonly sql: readonly string[]
  readonly conservation?: true
}[] = [
  { name: '[S12.verify-edit] an edited entry', sql: [`UPDATE ledger SET to_state = 'refused' WHERE n = 2`] },
  { name: 'an edited time', sql: ['UPDATE ledger SET at = at + 1 WHERE n = 3'] },
  { name: 'an edited detail', sql: [`UPDATE ledger SET detail = '{}' WHERE n = 1`] },
  { name: '[S12.verify-gap] a missing entry', sql: ['DELETE FROM ledger WHERE n = 2 AND chain = 1'] },
  {
    name: 'two entries swapped',
    sql: [
      'UPDATE ledger SET seq = -1 WHERE seq = 2',
      'UPDATE ledger SET seq = 2 WHERE seq = 3',
      'UPDATE ledger SET seq = 3 WHERE seq = -1',
    ],
  },
  {
    name: '[S12.verify-tail] a cut tail',
    sql: ['DELETE FROM ledger WHERE seq = (SELECT max(seq) FROM ledger)'],
  },
  {
    name: 'a cut tail with the length set back',
    sql: [
      'DELETE FROM ledger WHERE seq = (SELECT max(seq) FROM ledger)',
      'UPDATE ledger_chains SET n = n - 1, head = (SELECT mac FROM ledger ORDER BY seq DESC LIMIT 1) WHERE id = 2',
    ],
  },
  {
    name: 'the newest chain removed',
    sql: ['DELETE FROM ledger WHERE chain = 2', 'DELETE FROM ledger_chains WHERE id = 2'],
  },
  {
    name: 'the oldest chain removed',
    sql: ['DELETE FROM ledger WHERE chain = 1', 'DELETE FROM ledger_chains WHERE id = 1'],
  },
  { name: 'everything removed', sql: ['DELETE FROM ledger', 'DELETE FROM ledger_chains'] },
  {
    name: 'an edited counter',
    sql: [`UPDATE counters SET count = count + 1 WHERE name = 'received'`],
    conservation: true,
  },
  {
    name: 'two counters edited in step',
    sql: [
      `UPDATE counters SET count = count + 1 WHERE name IN ('received', 'queued') AND integration = 'demo'`,
    ],
    conservation: true,
  },
  { name: 'a removed counter', sql: [`DELETE FROM counters WHERE name = 'received'`], conservation: true },
  {
    name: 'an edited body',
    sql: [`UPDATE turns SET body = '{"text":"never said","kind":"message"}' WHERE seq = 1`],
  },
  { name: 'a body taken away', sql: ['UPDATE turns SET body = NULL WHERE seq = 1'] },
  { name: 'the content of a send taken away', sql: ['UPDATE outbox SET op = NULL WHERE seq = 1'] },
  { name: 'an edited sender', sql: [`UPDATE turns SET sender = 'somebody' WHERE seq = 1`] },
  { name: 'an edited state', sql: [`UPDATE turns SET state = 'answered' WHERE state = 'queued'`] },
  { name: 'a removed turn', sql: ['DELETE FROM turns WHERE seq = 1'] },
  {
    name: 'an edited send',
    sql: [`UPDATE outbox SET op = '{"kind":"text","text":"never sent"}' WHERE seq = 1`],
  },
  { name: 'a redirected send', sql: ["UPDATE outbox SET conversation = 'elsewhere' WHERE seq = 1"] },
  { name: 'a removed send', sql: ['DELETE FROM outbox WHERE seq = 1'] },
  { name: 'a forged approval', sql: [`UPDATE approvals SET decided_by = 'somebody'`] },
  {
    name: 'a forged grant',
    sql: [
      `INSERT INTO grants (integration, sender, access_right, granted_by, granted_at) VALUES ('demo', 'eve', 'approve', 'eve', 1)`,
    ],
  },
]

export function describeAudit(make: MakeStoreFixture): void {
  describe('audit', () => {
    let fixture: StoreFixture
    let store: Store
    beforeEach(async () => {
      fixture = await make()
      store = await fixture.open('one')
    })
    afterEach(() => fixture.dispose())

    /** Writes some of everything, over two boots. */
    const fill = async (): Promise<void> => {
      const { id, lane } = await queueOne(store)
      await receiveOne(store, { state: 'refused' })
      const { token } = await mustTake(store, { lane })
      await store.accept([send({ turn: id })], [{ lane, token, turn: id, to: 'answered' }])
      await store.receive([item({ state: 'refused', reason: 'flood', keepRow: false })])
      const ask = { toolName: 't', description: 'd', input: 'i' }
      const expiresAt = fixture.clock.now() + 1000
      await store.ask(
        {
          id: 'abcde',
          hostId: null,
          agent: 'kate',
          session: 's',
          turn: null,
          ask,
          inputHash: 'h',
          expiresAt,
        },
        [],
      )
      await store.decide({ id: 'abcde', behavior: 'allow', cause: 'person', by: 'ann', via: 'web' })
      await store.grant({ integration: 'demo', sender: 'ann', right: 'talk', by: 'op' })
      await store.close()
      store = await fixture.open('one')
      await queueOne(store, { conversation: 'c2' })
      await store.note([{ kind: 'boot', ref: 'one', detail: { version: '1' } }])
    }

    it('[S12.chain] [S12.chain-binds] [S2.conservation-audit] holds over restarts, each boot a chain of its own', async () => {
      await fill()
      await expectSound(store)
      const entries = await store.ledger({ afterSeq: 0, limit: 100 })
      const chains = [...new Set(entries.map((entry) => entry.chain))]
      expect(chains).toHaveLength(2)
      expect(chains.every((chain) => chain.startsWith('one/'))).toBe(true)
      expect(entries.filter((entry) => entry.chain === chains[1]).map((entry) => entry.n)).toEqual([1, 2])
    })

    for (const { name, sql, conservation } of TAMPERING) {
      it(`${name} is found`, async () => {
        await fill()
        await store.close()
        for (const statement of sql) await fixture.sql(statement)
        store = await fixture.open('one')
        const report = await store.verify()
        expect(report.ok).toBe(false)
        expect(report.brokenAt?.problem).toBeTruthy()
        if (conservation) expect(report.conservation.ok).toBe(false)
        else expect(report.chain).toBe('broken')
      })
    }

    it('[S12.verify-expect] a head kept elsewhere must still be there', async () => {
      await queueOne(store)
      const { head } = await store.verify()
      await queueOne(store)
      expect((await store.verify(head ?? '')).ok).toBe(true)
      expect(await store.verify('a-head-that-never-was')).toMatchObject({
        ok: false,
        chain: 'broken',
        brokenAt: { problem: expect.stringContaining('the expected head is not in the ledger') },
      })
    })

    it('an empty ledger is sound', async () => {
      expect(await store.verify()).toEqual({
        ok: true,
        entries: 0,
        chain: 'intact',
        head: null,
        conservation: { received: 0, accounted: 0, ok: true },
      })
    })

    it('[S12.retention] bodies are pruned while rows, counters and ledger stay and verify', async () => {
      const old = await queueOne(store, { text: 'old' })
      const waiting = await queueOne(store, { conversation: 'c2', text: 'waiting' })
      const { token } = await mustTake(store, { lane: old.lane })
      await store.accept([send()], [{ lane: old.lane, token, turn: old.id, to: 'answered' }])
      const { sending, token: lane } = await mustTakeSend(store, { lane: 'demo:c1' })
      await store.moveSends([{ lane: 'demo:c1', token: lane, id: sending?.id ?? '', to: 'sent' }])
      const before = await counts(store)
      await fixture.clock.advance(10_000)
      const young = await queueOne(store, { conversation: 'c3', state: 'queued' })
      expect(await store.pruneBodies(5_000, 100)).toBe(2)
      expect(await store.pruneBodies(5_000, 100)).toBe(0)
      expect(await store.turn(old.id)).toMatchObject({ body: null, state: 'answered' })
      expect(await store.send(sending?.id ?? '')).toMatchObject({ op: null, state: 'sent' })
      expect((await store.turn(waiting.id))?.body).toMatchObject({ text: 'waiting' })
      expect((await store.turn(young.id))?.body).not.toBeNull()
      expect(await counts(store)).toEqual({ ...before, received: 3, queued: 2 })
      await expectSound(store)
      // Retention removed its content, so there is nothing to hand over again.
      await store.operateTurn(waiting.id, 'cancel', 'op')
      await fixture.clock.advance(10_000)
      expect(await store.pruneBodies(5_000, 100)).toBe(1)
      expect(await store.operateTurn(waiting.id, 'retry', 'op')).toBeNull()
      await expectSound(store)
    })

    it('a body taken by hand is found beside those that were pruned', async () => {
      const turns = []
      for (let at = 0; at < 6; at++) turns.push(await queueOne(store, { conversation: `c${at}` }))
      for (const at of [0, 1, 2, 4]) await store.operateTurn(turns[at]?.id ?? '', 'cancel', 'op')
      await fixture.clock.advance(10_000)
      expect(await store.pruneBodies(5_000, 2)).toBe(2)
      expect(await store.pruneBodies(5_000, 100)).toBe(2)
      await expectSound(store)
      await fixture.sql('UPDATE turns SET body = NULL WHERE seq = 4')
      expect((await store.verify()).brokenAt?.problem).toContain('row 4 of turns lost its content')
    })

    it('[S12.append-only] nothing but pruning and moves ever changes: the ledger only grows', async () => {
      await fill()
      const before = await store.ledger({ afterSeq: 0, limit: 100 })
      await queueOne(store)
      await store.pruneBodies(0, 10)
      const after = await store.ledger({ afterSeq: 0, limit: 100 })
      expect(after.slice(0, before.length)).toEqual(before)
      expect(after.length).toBeGreaterThan(before.length)
      expect(await store.ledger({ afterSeq: before.at(-1)?.seq ?? 0, limit: 1 })).toEqual([
        after[before.length],
      ])
    })
  })
}
