// Store suite: `receive`. Rows, duplicates, sessions, counters, drops, cursors, and the group commit around them.
import { describe, expect, it } from 'vitest'
import { type Hint, sessionId, sessionKey } from '../../contract/index.ts'
import { counts, item, type MakeStoreFixture, openBeforeEach, queueOne, receiveOne } from './fixture.ts'

export function describeIntake(make: MakeStoreFixture): void {
  describe('receive', () => {
    const { fixture, store, reopen } = openBeforeEach(make)

    it('[S2.one-transaction] [S12.counters-in-commit] writes row, session, ledger entry and counters together', async () => {
      const { id, lane } = await queueOne(store, { text: 'hi', messageId: 'm-1', thread: 't' })
      expect(await store.turn(id)).toMatchObject({
        id,
        session: lane,
        agent: 'kate',
        integration: 'demo',
        conversation: 'c1',
        thread: 't',
        address: 'demo:c1:t',
        source: 'webhook:demo',
        sender: 'dev',
        messageId: 'm-1',
        editVersion: 0,
        state: 'queued',
        reason: null,
        attempts: 0,
        repeat: false,
        resume: false,
        body: { text: 'hi', kind: 'message' },
        receivedAt: fixture.clock.now(),
      })
      expect(await store.session(lane)).toMatchObject({ agent: 'kate', address: 'demo:c1:t', generation: 1 })
      const [entry] = await store.ledger({ afterSeq: 0, limit: 10 })
      expect(entry).toMatchObject({
        kind: 'turn',
        ref: id,
        from: '',
        to: 'queued',
        count: 1,
        integration: 'demo',
        n: 1,
      })
      expect(await counts(store)).toEqual({ received: 1, queued: 1 })
    })

    it('[S2.dup-key] [S2.dup-not-counted] a redelivery is not received again and gets the first one’s facts', async () => {
      const first = await receiveOne(store, { messageId: 'same' })
      const again = await receiveOne(store, { messageId: 'same', text: 'other' })
      expect(again).toEqual({ ...first, duplicate: true })
      expect(await counts(store)).toEqual({ received: 1, queued: 1 })
    })

    it('finds a duplicate within one call and between calls of one commit', async () => {
      const [one, two] = await Promise.all([
        store.receive([item({ messageId: 'x' }), item({ messageId: 'x' })]),
        store.receive([item({ messageId: 'x' })]),
      ])
      expect([...one, ...two].map((result) => result.duplicate)).toEqual([false, true, true])
      expect(new Set([...one, ...two].map((result) => result.id)).size).toBe(1)
    })

    it('[S2.dup-per-conversation] the same id elsewhere is another message', async () => {
      const results = await store.receive([
        item({ messageId: 'x' }),
        item({ messageId: 'x', conversation: 'c2' }),
        item({ messageId: 'x', integration: 'other' }),
      ])
      expect(results.map((result) => result.duplicate)).toEqual([false, false, false])
    })

    it('[S2.dup-edit-version] another edit version is not a duplicate', async () => {
      const [first, edit, again] = await store.receive([
        item({ messageId: 'x' }),
        item({ messageId: 'x', editVersion: 7 }),
        item({ messageId: 'x', editVersion: 7 }),
      ])
      expect([first?.duplicate, edit?.duplicate, again?.duplicate]).toEqual([false, false, true])
    })

    it('[S2.dup-no-effects] a duplicate applies no effect', async () => {
      const effects = [
        {
          kind: 'send',
          to: { integration: 'demo', conversation: 'c1' },
          op: { kind: 'text', text: 'ok' },
          cause: 'notice',
        },
      ] as const
      const first = await receiveOne(store, { messageId: 'x', state: 'consumed', reason: 'command', effects })
      const again = await receiveOne(store, { messageId: 'x', state: 'consumed', reason: 'command', effects })
      expect(first.effects).toHaveLength(1)
      expect(again).toMatchObject({ duplicate: true, effects: [], state: 'consumed', reason: 'command' })
      expect(await store.sends({ limit: 10 })).toHaveLength(1)
    })

    it('[S5.key-parts] [S5.uuid-v5] [S5.two-agents-differ] sessions follow agent and address, not names', async () => {
      const at = { integration: 'demo', conversation: 'c1' }
      const one = await queueOne(store, { sender: 'a' })
      const two = await queueOne(store, { sender: 'b' })
      const other = await queueOne(store, { agent: 'paul' })
      const threaded = await queueOne(store, { thread: 't' })
      expect(one.lane).toBe(sessionId(sessionKey('kate', at), 1))
      expect(two.lane).toBe(one.lane)
      expect(new Set([one.lane, other.lane, threaded.lane]).size).toBe(3)
      expect(await store.sessionAt('kate', at)).toMatchObject({ id: one.lane })
      expect(await store.sessionAt('kate', { integration: 'demo', conversation: 'nobody' })).toBeNull()
    })

    it('[S2.rate-limited-counted] drops without rows are counted and leave one entry per commit', async () => {
      const dropped = () => item({ state: 'refused', reason: 'rate_limited', keepRow: false })
      const [one] = await Promise.all([
        store.receive([dropped(), dropped()]),
        store.receive([dropped(), item({ state: 'refused', reason: 'flood', keepRow: false })]),
      ])
      expect(one[0]).toEqual({
        id: null,
        duplicate: false,
        state: 'refused',
        reason: 'rate_limited',
        session: null,
        effects: [],
      })
      expect(await counts(store)).toEqual({ received: 4, 'refused:rate_limited': 3, 'refused:flood': 1 })
      const entries = await store.ledger({ afterSeq: 0, limit: 10 })
      expect(entries.map((entry) => [entry.reason, entry.count])).toEqual([
        ['rate_limited', 3],
        ['flood', 1],
      ])
      expect(await store.turns({ limit: 10 })).toEqual([])
    })

    it('[S2.dup-key] [S2.dup-not-counted] a repeat of what was received is one, also where it would have left no row', async () => {
      const first = await receiveOne(store, { messageId: 'x' })
      const dropped = (reason: 'rate_limited' | 'flood') =>
        item({ messageId: 'x', state: 'refused', reason, keepRow: false })
      const [again, flood] = await store.receive([dropped('rate_limited'), dropped('flood')])
      expect(again).toMatchObject({ id: first.id, duplicate: true, state: 'queued', session: first.session })
      // The flood guard comes before the duplicate check, so no lookup happens.
      expect(flood).toMatchObject({ id: null, duplicate: false, state: 'refused' })
      expect(await counts(store)).toEqual({ received: 2, queued: 1, 'refused:flood': 1 })
    })

    it('[S2.states-terminal] refused and consumed turns are born so; strangers leave no session behind', async () => {
      const refused = await receiveOne(store, { state: 'refused', body: null })
      const unbound = await receiveOne(store, {
        state: 'refused',
        reason: 'no_binding',
        agent: null,
        body: null,
      })
      const consumed = await receiveOne(store, { state: 'consumed', reason: 'command' })
      expect([refused.session, unbound.session, consumed.session]).toEqual([null, null, null])
      expect(await store.sessionAt('kate', { integration: 'demo', conversation: 'c1' })).toBeNull()
      expect(await counts(store)).toEqual({
        received: 3,
        'refused:sender_not_allowed': 1,
        'refused:no_binding': 1,
        'consumed:command': 1,
      })
    })

    it('stores the cursor in the same commit', async () => {
      expect(await store.cursor('demo')).toBeNull()
      await store.receive([item()], { integration: 'demo', value: '41' })
      await store.receive([], { integration: 'demo', value: '42' })
      expect(await store.cursor('demo')).toBe('42')
    })

    it('takes texts that a database could choke on', async () => {
      const odd = {
        sender: 'a\0b',
        messageId: 'x\ud800',
        conversation: 'c\0',
        text: '\0 \ud800 \u{1f600} \'"; --',
      }
      const { id } = await queueOne(store, odd)
      expect(await receiveOne(store, odd)).toMatchObject({ duplicate: true, id })
      const turn = await store.turn(id)
      expect(turn).toMatchObject({ sender: 'a\ufffdb', messageId: 'x\ufffd', conversation: 'c\ufffd' })
      expect(turn?.body?.text).toBe(odd.text)
    })

    it('[I2.group-commit] the verbs of one loop turn are one commit, and order is kept', async () => {
      const all = await Promise.all(
        Array.from({ length: 40 }, (_, at) =>
          store.receive([item({ conversation: `c${at % 3}`, text: String(at) })]),
        ),
      )
      const seqs = await Promise.all(
        all.map(async ([result]) => (await store.turn(result?.id ?? ''))?.seq ?? 0),
      )
      expect(seqs).toEqual([...seqs].sort((one, other) => one - other))
      expect(await counts(store)).toEqual({ received: 40, queued: 40 })
    })

    it('[I2.neighbour-conflict] one verb’s failure never takes its neighbours along', async () => {
      const outcomes = await Promise.allSettled([
        store.receive([item()]),
        // A queued turn without an agent is a bug of the caller. Only that caller gets the error.
        store.receive([item(), item({ agent: null })]),
        store.receive([item({ conversation: 'c9' })]),
        store.note([{ kind: 'boot', ref: 'test', detail: {} }]),
      ])
      expect(outcomes.map((outcome) => outcome.status)).toEqual([
        'fulfilled',
        'rejected',
        'fulfilled',
        'fulfilled',
      ])
      expect(await counts(store)).toEqual({ received: 2, queued: 2 })
      // The failed group left no state in memory. The next commit starts from the disk.
      await queueOne(store)
      expect(await store.turns({ limit: 10 })).toHaveLength(3)
    })

    it('tells about new work after the commit', async () => {
      const hints: Hint[] = []
      store.onHint((hint) => hints.push(hint))
      const { lane } = await queueOne(store)
      await receiveOne(store, { state: 'refused' })
      expect(hints).toEqual([{ kind: 'turns', lane, scope: 'kate' }])
    })

    it('[S5.same-after-restart] [S5.never-dropped-idle] sessions, ids and cursors survive a restart', async () => {
      const before = await queueOne(store)
      await store.receive([], { integration: 'demo', value: '7' })
      await store.close()
      await fixture.clock.advance(400 * 24 * 3_600_000)
      const { tag } = store
      await reopen()
      expect(store.tag).toBe(tag)
      expect(await store.turn(before.id)).toMatchObject({ id: before.id, session: before.lane })
      expect(await store.cursor('demo')).toBe('7')
      const after = await queueOne(store)
      expect(after.lane).toBe(before.lane)
      expect(after.id).not.toBe(before.id)
    })
  })
}
