// Store suite: what is kept and what is removed. Restored databases, retention, erasure. The audit holds after each.
import { describe, expect, it } from 'vitest'
import {
  type Identity,
  type NewApproval,
  PERSON_START,
  type PersonCursor,
  type Store,
} from '../../contract/index.ts'
import {
  counts,
  expectSound,
  item,
  type MakeStoreFixture,
  mustTake,
  mustTakeSend,
  openBeforeEach,
  queueOne,
  send,
} from './fixture.ts'

export function describeKeeping(make: MakeStoreFixture): void {
  describe('keeping', () => {
    const { fixture, store: one, reopen } = openBeforeEach(make)

    it('[I16.context-erased] what was overheard is forgotten after its time, page by page, and the audit holds', async () => {
      const said = { reason: 'not_mentioned', state: 'refused' } as const
      await one.receive(['a', 'b', 'c'].map((text) => item({ ...said, text })))
      const kept = await one.receive([item({ text: 'a turn' })])
      await fixture.clock.advance(3_600_000)
      await one.receive([item({ ...said, text: 'young' })])
      expect(await one.forgetOverheard(1_800_000, 2)).toBe(2)
      expect(await one.forgetOverheard(1_800_000, 2)).toBe(1)
      expect(await one.forgetOverheard(1_800_000, 2)).toBe(0)
      const left = await one.turns({ limit: 9 })
      expect(left.flatMap((row) => row.body?.text ?? [])).toEqual(['young', 'a turn'])
      expect(kept).toHaveLength(1)
      await fixture.clock.advance(3_600_000)
      expect(await one.forgetOverheard(1_800_000, 2)).toBe(1)
      await expectSound(one)
    })

    it('[I35.b9] tries to read an input are counted until one ends, also after a restart and at another node', async () => {
      expect(await one.beginTry('mail', '7.1')).toBe(1)
      expect(await one.beginTry('mail', '7.2')).toBe(1)
      expect(await one.beginTry('other', '7.1')).toBe(1)
      await one.close()
      await reopen('one')
      expect(await one.beginTry('mail', '7.1')).toBe(2)
      await one.endTry('mail', '7.1')
      expect(await one.beginTry('mail', '7.1')).toBe(1)
      expect(await one.beginTry('mail', '7.2')).toBe(2)
      // An input that is not read again is forgotten after a month.
      await fixture.clock.advance(31 * 24 * 3_600_000)
      await one.endTry('mail', 'another')
      expect(await one.beginTry('mail', '7.2')).toBe(1)
    })

    it('[I14.restore-sends] what was open in a restored database is unknown or marked, slice by slice', async () => {
      await fixture.clock.advance(1)
      const to = (conversation: string) => ({ integration: 'demo', conversation })
      await one.enqueue([send(), send({ to: to('c2') }), send({ to: to('c3') }), send({ to: to('c4') })])
      const { sending, token } = await mustTakeSend(one, { lane: 'demo:c2' })
      await one.moveSends([{ lane: 'demo:c2', token, id: sending?.id ?? '', to: 'sent' }])
      await mustTakeSend(one, { lane: 'demo:c3' })
      const waiting = await queueOne(one)
      const taken = await queueOne(one, { conversation: 'c2' })
      await mustTake(one, { lane: taken.lane })
      await one.close()
      await reopen('restore')
      expect(await one.restored()).toBeNull()
      expect(await one.settleRestored(5, 'op', 2)).toBe(2)
      expect(await one.restored()).toBeNull()
      expect(await one.settleRestored(5, 'op', 2)).toBe(1)
      expect(await one.settleRestored(5, 'op', 2)).toBe(0)
      expect(await one.restored()).toMatchObject({ takenAt: 5 })
      const states = (await one.sends({ oldestFirst: true, limit: 9 })).map((row) => [row.state, row.reason])
      expect(states).toEqual([
        ['unknown', 'restored'],
        ['sent', null],
        ['unknown', 'restored'],
        ['unknown', 'restored'],
      ])
      expect(await counts(one)).toMatchObject({
        'send:unknown:restored': 3,
        'send:sent': 1,
      })
      expect(await one.turn(waiting.id)).toMatchObject({ state: 'queued', repeat: true })
      expect(await one.turn(taken.id)).toMatchObject({ state: 'handed', repeat: true })
      // All lanes are free, so the next boot takes them at once, whatever its name.
      const next = await mustTake(one, { lane: taken.lane })
      expect(next.unsettled).toHaveLength(1)
      expect(await one.nodes()).toEqual([])
    })

    const DAY_MS = 24 * 3_600_000
    const ask = (id: string, turn: string | null = null): NewApproval => ({
      ...{ id, turn, hostId: null, agent: 'kate', session: 's', inputHash: 'h' },
      ask: { toolName: 'rm', description: 'removes', input: 'rm -rf secret' },
      expiresAt: fixture.clock.now() + 60_000,
    })
    /** Plays a complete conversation: received, reported, approved, answered, sent. */
    const converse = async (conversation: string, sender = 'dev') => {
      const messageId = `m-${conversation}-${sender}`
      const { id, lane } = await queueOne(one, { conversation, sender, messageId })
      const { token } = await mustTake(one, { lane })
      await one.keepTurnEvent({ turn: id, kind: 'tool_call', call: 'k', name: 'n', text: 'told', key: null })
      const approval = `a${conversation}${sender}`
      await one.ask(ask(approval, id), [])
      await one.decide({ id: approval, behavior: 'allow', cause: 'person', by: 'ann', via: 'web' })
      await one.settleApproval(approval, 'relayed')
      const to = { integration: 'demo', conversation }
      await one.accept([send({ to, turn: id })], [{ lane, token, turn: id, to: 'answered' }])
      await one.releaseLanes('turns', [{ lane, token }])
      const taken = await mustTakeSend(one, { lane: `demo:${conversation}` })
      const sent = { lane: `demo:${conversation}`, token: taken.token, id: taken.sending?.id ?? '' }
      await one.moveSends([{ ...sent, to: 'sent' }])
      await one.releaseLanes('sends', [{ lane: sent.lane, token: sent.token }])
      return { turn: id, send: sent.id, approval }
    }
    const pruneAll = async (days: number, limit = 100) => {
      let gone = 0
      for (let some = -1; some !== 0; gone += some) some = await one.pruneRows(days * DAY_MS, limit)
      return gone
    }
    const entries = async () => (await one.ledger({ afterSeq: 0, limit: 1_000 })).length

    it('[I14.retain-inputs] the inputs of settled approvals go with the bodies, and nobody else takes one unseen', async () => {
      const old = await converse('c1')
      await one.ask({ ...ask('wait'), expiresAt: fixture.clock.now() + 90 * DAY_MS }, [])
      await fixture.clock.advance(10_000)
      const young = await converse('c2')
      expect(await one.pruneBodies(5_000, 100)).toBeGreaterThan(2)
      expect(await one.approval(old.approval)).toMatchObject({
        ask: { toolName: 'rm', input: '', description: '', pruned: true },
        decidedBy: 'ann',
      })
      for (const id of [young.approval, 'wait'])
        expect((await one.approval(id))?.ask.input).toBe('rm -rf secret')
      expect(await one.pruneBodies(5_000, 100)).toBe(0)
      await expectSound(one)
      const kept = await fixture.sql(`SELECT ask FROM approvals WHERE id = '${young.approval}'`)
      await fixture.sql(`UPDATE approvals SET ask = '{"toolName":"rm","description":"","input":"","pruned":true}'
        WHERE id = '${young.approval}'`)
      expect((await one.verify()).brokenAt?.problem).toMatch(/of approvals lost its content/)
      await fixture.sql(`UPDATE approvals SET ask = '${String(kept[0]?.ask)}' WHERE id = '${young.approval}'`)
    })

    it('[I14.retain-rows] [I14.retain-slices] settled rows go after their time, in slices; counters and conservation stay', async () => {
      const old = [await converse('c1'), await converse('c2'), await converse('c3')]
      const waiting = await queueOne(one, { conversation: 'open' })
      await one.receive([item({ state: 'refused' }), item({ state: 'refused', keepRow: false })])
      const before = await counts(one)
      await fixture.clock.advance(29 * DAY_MS)
      // A row serves the duplicate check, so it stays for 30 days, whatever the caller asks.
      expect(await one.pruneRows(0, 100)).toBe(0)
      await fixture.clock.advance(2 * DAY_MS)
      const young = await converse('c4')
      expect(await one.pruneRows(0, 2)).toBe(6)
      await expectSound(one)
      await one.close()
      await reopen('one')
      expect(await pruneAll(30, 1)).toBe(4)
      for (const gone of old) {
        expect(await one.turn(gone.turn)).toBeNull()
        expect(await one.turnEvents(gone.turn)).toEqual([])
        expect(await one.send(gone.send)).toBeNull()
        expect(await one.approval(gone.approval)).toBeNull()
      }
      expect(await one.turn(waiting.id)).toMatchObject({ state: 'queued' })
      expect(await one.turn(young.turn)).toMatchObject({ state: 'answered' })
      expect(await one.transcript('demo', { conversation: 'c1', limit: 9 })).toEqual([])
      expect((await counts(one)).received).toBe((before.received ?? 0) + 1)
      await expectSound(one)
      // The audit finds a row that changed without a ledger entry.
      const row = `SELECT * FROM turns WHERE state = 'answered'`
      expect(await fixture.sql(row)).toHaveLength(1)
      await fixture.sql(`UPDATE turns SET state = 'failed' WHERE state = 'answered'`)
      expect((await one.verify()).ok).toBe(false)
      await fixture.sql(`UPDATE turns SET state = 'answered' WHERE state = 'failed'`)
    })

    it('[I14.retain-ledger] [I14.retain-slices] entries go behind a checkpoint with head and counters; verify starts there and says so', async () => {
      await one.grant({ integration: 'demo', sender: 'ann', right: 'talk', by: 'op' })
      await converse('c1')
      await one.close()
      await reopen('one')
      await converse('c2')
      const straddles = await queueOne(one, { conversation: 'straddles' })
      await fixture.clock.advance(20 * DAY_MS)
      await one.operateTurn(straddles.id, 'cancel', 'op')
      await fixture.clock.advance(21 * DAY_MS)
      await converse('c3')
      const { head } = await one.verify()
      // The rows still exist, so only the entry of the grant can go. No row needs it.
      expect(await one.pruneLedger(40 * DAY_MS, 1_000)).toBe(1)
      expect(await pruneAll(30)).toBe(6)
      const all = await entries()
      const first = await one.pruneLedger(40 * DAY_MS, 5)
      expect(first).toBeGreaterThan(0)
      expect(first).toBeLessThanOrEqual(5)
      await expectSound(one)
      await one.close()
      await reopen('one')
      let gone = first
      for (let some = -1, slices = 1; some !== 0; gone += some, slices++) {
        some = await one.pruneLedger(40 * DAY_MS, 7)
        expect((await one.verify()).brokenAt).toBeUndefined()
        if (some > 0) expect(await entries()).toBe(all - gone - some + slices + 1)
      }
      const report = await one.verify(head ?? '')
      expect(report).toMatchObject({ ok: true, checkpoint: { entries: gone + 1 } })
      // The ledger mentions the open turn on both sides of the checkpoint. Its grants and counts stay.
      await fixture.clock.advance(31 * DAY_MS)
      expect(await pruneAll(30)).toBeGreaterThan(0)
      while ((await one.pruneLedger(0, 1_000)) > 1);
      expect(await entries()).toBeLessThan(5)
      await converse('c4')
      expect(await one.grants()).toHaveLength(1)
      await expectSound(one)
      expect(await one.verify('never-was')).toMatchObject({
        ok: false,
        brokenAt: { problem: expect.stringContaining('before its checkpoint') },
      })
    })

    const TAKEN: readonly (readonly [string, string])[] = [
      [
        'more entries than the checkpoint tells',
        'DELETE FROM ledger WHERE seq = (SELECT min(seq) FROM ledger)',
      ],
      [
        'an edited checkpoint',
        `UPDATE meta SET value = replace(value, '"entries":', '"entries":1') WHERE name = 'checkpoint'`,
      ],
      [
        'a checkpoint with other counts',
        `UPDATE meta SET value = replace(value, 'received', 'receive') WHERE name = 'checkpoint'`,
      ],
      ['no checkpoint', `DELETE FROM meta WHERE name = 'checkpoint'`],
      [
        'its entry edited',
        `UPDATE ledger SET detail = replace(detail, 'received', 'receive') WHERE to_state = 'checkpoint'`,
      ],
      ['its entry removed', `DELETE FROM ledger WHERE to_state = 'checkpoint'`],
    ]
    it('[I14.retain-proof] behind a checkpoint every deed is still found', async () => {
      await converse('c1')
      await fixture.clock.advance(40 * DAY_MS)
      await pruneAll(30)
      await converse('c2')
      expect(await one.pruneLedger(30 * DAY_MS, 1_000)).toBeGreaterThan(5)
      await converse('c3')
      await expectSound(one)
      for (const [deed, sql] of [
        ...TAKEN,
        ['a body', `UPDATE turns SET body = NULL WHERE conversation = 'c2'`],
        ['a row', `DELETE FROM turns WHERE conversation = 'c2'`],
        ['an event', 'DELETE FROM turn_events'],
      ] as const) {
        const saved = await snapshot()
        await fixture.sql(sql)
        expect((await one.verify()).ok, deed).toBe(false)
        await saved()
        await expectSound(one)
      }
    })

    /** Saves the tables that tampering may change. The returned function restores them. */
    const snapshot = async () => {
      const tables = ['ledger', 'meta', 'turns', 'turn_events'] as const
      for (const table of tables) await fixture.sql(`CREATE TABLE saved_${table} AS SELECT * FROM ${table}`)
      return async () => {
        for (const table of tables) {
          await fixture.sql(`DELETE FROM ${table}`)
          await fixture.sql(`INSERT INTO ${table} SELECT * FROM saved_${table}`)
          await fixture.sql(`DROP TABLE saved_${table}`)
        }
      }
    }

    const ANN: Identity = { integration: 'demo', sender: 'ann' }
    const erase = async (who: Identity) => {
      const gone = { turns: 0, sends: 0, approvals: 0, open: 0 }
      for (let cursor: PersonCursor | null = PERSON_START; cursor !== null; ) {
        const { next, ...some }: Awaited<ReturnType<Store['erasePerson']>> = await one.erasePerson(
          who,
          cursor,
          'op',
        )
        for (const key of ['turns', 'sends', 'approvals', 'open'] as const) gone[key] += some[key]
        cursor = next
      }
      return gone
    }
    const readOut = async (who: Identity) => {
      const ids: string[] = []
      for (let cursor: PersonCursor | null = PERSON_START; cursor !== null; ) {
        const window: Awaited<ReturnType<Store['person']>> = await one.person(who, cursor)
        ids.push(...[...window.turns, ...window.sends, ...window.approvals].map((row) => row.id))
        cursor = window.next
      }
      return ids
    }

    it('[I14.erase] [I14.erase-key] [I14.export] what a person said is read out and erased; keys, counters and chain stay', async () => {
      const direct = await converse('ann', 'ann')
      const grouped = await converse('group', 'ann')
      const other = await converse('group', 'bob')
      const elsewhere = await converse('c1', 'bob')
      const notice = send({
        to: { integration: 'demo', conversation: 'ann' },
        cause: 'notice',
        text: 'a notice',
      })
      const [queued] = await one.enqueue([notice])
      const open = await queueOne(one, { conversation: 'ann', sender: 'ann', messageId: 'open' })
      const before = await counts(one)
      expect((await readOut(ANN)).sort()).toEqual(
        [
          ...[direct, grouped].flatMap((each) => [each.turn, each.send, each.approval]),
          queued?.id ?? '',
          open.id,
        ].sort(),
      )
      expect(await erase(ANN)).toEqual({ turns: 2, sends: 2, approvals: 2, open: 2 })
      for (const gone of [direct, grouped]) {
        expect(await one.turn(gone.turn)).toMatchObject({ body: null, state: 'answered', sender: 'ann' })
        expect(await one.send(gone.send)).toMatchObject({ op: null, state: 'sent' })
        expect((await one.approval(gone.approval))?.ask).toMatchObject({ input: '', pruned: true })
        expect((await one.turnEvents(gone.turn)).map((event) => event.text)).not.toContain('told')
      }
      for (const kept of [other, elsewhere]) {
        expect((await one.turn(kept.turn))?.body).not.toBeNull()
        expect((await one.send(kept.send))?.op).not.toBeNull()
        expect((await one.approval(kept.approval))?.ask.input).toBe('rm -rf secret')
      }
      // An open turn keeps its content until it is settled. Then the content is removed too.
      expect((await one.turn(open.id))?.body).not.toBeNull()
      expect(await counts(one)).toEqual(before)
      await expectSound(one)
      const [again] = await one.receive([
        item({ conversation: 'ann', messageId: 'm-ann-ann', sender: 'ann' }),
      ])
      expect(again).toMatchObject({ duplicate: true, id: direct.turn })
      await one.operateTurn(open.id, 'cancel', 'op')
      expect(await erase(ANN)).toMatchObject({ turns: 1, sends: 0, open: 1 })
      expect(JSON.stringify(await one.ledger({ afterSeq: 0, limit: 1_000 }))).not.toContain('rm -rf')
      await expectSound(one)
      const bobs = `sender = 'bob' AND conversation = 'c1'`
      const [kept] = await fixture.sql(`SELECT body FROM turns WHERE ${bobs}`)
      await fixture.sql(`UPDATE turns SET body = NULL WHERE ${bobs}`)
      expect((await one.verify()).brokenAt?.problem).toContain('of turns lost its content')
      await fixture.sql(`UPDATE turns SET body = '${String(kept?.body)}' WHERE ${bobs}`)
    })

    it('[I35.b35] what showed the call of an erased person elsewhere goes with her words', async () => {
      const { id, lane } = await queueOne(one, { conversation: 'ann', sender: 'ann', messageId: 'm1' })
      const { token } = await mustTake(one, { lane })
      const boss = { integration: 'other', conversation: 'boss' }
      const shows = (text: string, approval: string) =>
        send({ to: boss, text, cause: 'notice', turn: id, approval })
      await one.ask(ask('hers1', id), [shows('Run what Ann said?', 'hers1')])
      await one.ask(ask('later', null), [shows('Run what Bob said?', 'later')])
      await one.decide({ id: 'hers1', behavior: 'allow', cause: 'person', by: 'boss', via: 'other' })
      await one.settleApproval('hers1', 'relayed', [shows('allowed: what Ann said', 'hers1')])
      await one.accept([], [{ lane, token, turn: id, to: 'answered' }])
      const deliver = async () => {
        const taken = await mustTakeSend(one, { lane: 'other:boss' })
        const by = { lane: 'other:boss', token: taken.token }
        await one.moveSends([{ ...by, id: taken.sending?.id ?? '', to: 'sent' }])
        await one.releaseLanes('sends', [by])
      }
      await deliver()
      await deliver()
      // The last one is not sent yet. It is erased after that.
      expect(await erase(ANN)).toMatchObject({ turns: 1, sends: 1, approvals: 1, open: 1 })
      await deliver()
      expect(await erase(ANN)).toMatchObject({ turns: 0, sends: 1, approvals: 0, open: 0 })
      const texts = (await one.sends({ integration: 'other', limit: 9 })).map(({ op }) => JSON.stringify(op))
      expect(texts.join()).not.toContain('Ann')
      expect(texts.join()).toContain('what Bob said')
      await expectSound(one)
    })

    it('[I35.b35] a call of an erased person that is asked still is open, until what took it back was sent', async () => {
      const { id, lane } = await queueOne(one, { conversation: 'ann', sender: 'ann', messageId: 'm1' })
      const { token } = await mustTake(one, { lane })
      const boss = { integration: 'other', conversation: 'boss' }
      const shows = (text: string) => send({ to: boss, text, cause: 'notice', turn: id, approval: 'hers1' })
      const deliver = async () => {
        const taken = await mustTakeSend(one, { lane: 'other:boss' })
        const by = { lane: 'other:boss', token: taken.token }
        await one.moveSends([{ ...by, id: taken.sending?.id ?? '', to: 'sent' }])
        await one.releaseLanes('sends', [by])
      }
      await one.ask(ask('hers1', id), [shows('Run what Ann said?')])
      await one.accept([], [{ lane, token, turn: id, to: 'answered' }])
      expect(await erase(ANN)).toMatchObject({ approvals: 0, open: 2 })
      await deliver()
      await one.settleApproval('hers1', 'withdrawn', [shows('no longer asked: what Ann said')])
      expect(await erase(ANN)).toMatchObject({ sends: 1, approvals: 1, open: 1 })
      await deliver()
      expect(await erase(ANN)).toMatchObject({ sends: 1, approvals: 0, open: 0 })
      const kept = [await one.sends({ integration: 'other', limit: 9 }), await one.approval('hers1')]
      expect(JSON.stringify(kept)).not.toContain('Ann')
      await expectSound(one)
    })

    it('[I14.audit-head] the head is what verify calls it, before and behind a checkpoint', async () => {
      expect(await one.head()).toMatchObject({ head: (await one.verify()).head })
      await converse('ann', 'ann')
      const { head, entries } = await one.verify()
      expect(await one.head()).toEqual({ head, entries })
      await fixture.clock.advance(200 * 24 * 3_600_000)
      await one.pruneRows(100 * 24 * 3_600_000, 1_000)
      await one.pruneLedger(100 * 24 * 3_600_000, 1_000)
      const after = await one.verify()
      expect(after.checkpoint).toBeDefined()
      expect(await one.head()).toEqual({ head: after.head, entries: after.entries })
    })

    it('[I14.erase-files] a file is forgotten for all nodes', async () => {
      await one.keepFile({ integration: 'web', name: 'a', bytes: Buffer.from('x') })
      await one.keepFile({ integration: 'web', name: 'b', bytes: Buffer.from('y') })
      expect(await one.fileTime('web', 'a')).toBe(fixture.clock.now())
      await one.forgetFile('web', 'a')
      await one.forgetFile('web', 'a')
      expect(await one.keptFile('web', 'a')).toBeNull()
      expect(await one.fileTime('web', 'a')).toBeNull()
      expect(await one.keptFile('web', 'b')).not.toBeNull()
    })
  })
}
