// Store suite: approvals, grants, tokens, secrets, leases.
import { describe, expect, it } from 'vitest'
import type { NewApproval } from '../../contract/index.ts'
import { type MakeStoreFixture, openBeforeEach, send } from './fixture.ts'

export function describePeople(make: MakeStoreFixture): void {
  describe('people', () => {
    const { fixture, store } = openBeforeEach(make)
    const approval = (id = 'abcde'): NewApproval => ({
      id,
      hostId: null,
      agent: 'kate',
      session: 's1',
      turn: null,
      inputHash: 'hash',
      ask: { toolName: 'deploy', description: 'Deploy it', input: 'deploy --all' },
      expiresAt: fixture.clock.now() + 600_000,
    })
    const allow = { id: 'abcde', behavior: 'allow', cause: 'person', by: 'demo:ann', via: 'demo' } as const

    it('asks with its prompts, decides once, settles in order', async () => {
      expect(await store.ask(approval(), [send({ cause: 'prompt', approval: 'abcde' })])).toBe('asked')
      expect(await store.sends({ approval: 'abcde', limit: 5 })).toHaveLength(1)
      expect(await store.ask(approval(), [send({ cause: 'prompt' })])).toBe('collision')
      expect(await store.sends({ limit: 5 })).toHaveLength(1)
      expect(await store.settleApproval('abcde', 'relayed')).toBeNull()
      const outcomes = await Promise.all([
        store.decide(allow),
        store.decide({ ...allow, behavior: 'deny', by: 'cli' }),
      ])
      expect(outcomes.map((outcome) => outcome.won)).toEqual([true, false])
      expect(outcomes[1]?.approval).toMatchObject({
        state: 'decided',
        behavior: 'allow',
        decidedBy: 'demo:ann',
      })
      expect(await store.settleApproval('abcde', 'withdrawn')).toBeNull()
      // `passing` is committed before the verdict is relayed. A connector without a recipient takes it back.
      expect(await store.settleApproval('abcde', 'passing')).toMatchObject({ state: 'passing' })
      expect(await store.settleApproval('abcde', 'passing')).toBeNull()
      expect(await store.ask(approval(), []), 'the id is taken').toBe('collision')
      expect(await store.approvals({ states: ['decided', 'passing'], limit: 5 })).toHaveLength(1)
      expect(await store.settleApproval('abcde', 'decided')).toMatchObject({ state: 'decided' })
      expect(await store.settleApproval('abcde', 'passing')).toMatchObject({ state: 'passing' })
      expect(await store.settleApproval('abcde', 'relayed')).toMatchObject({ state: 'relayed' })
      expect(await store.settleApproval('abcde', 'undeliverable')).toBeNull()
      // The id is free again, and the newest approval counts.
      expect(await store.ask(approval(), [])).toBe('asked')
      expect(await store.approval('abcde')).toMatchObject({ state: 'pending', decidedBy: null })
    })

    it('expires and withdraws undecided approvals', async () => {
      await store.ask(approval('aaaaa'), [])
      await store.ask(approval('bbbbb'), [])
      expect(
        await store.approvals({ states: ['pending'], dueBefore: fixture.clock.now(), limit: 5 }),
      ).toEqual([])
      await fixture.clock.advance(600_000)
      const due = await store.approvals({ states: ['pending'], dueBefore: fixture.clock.now(), limit: 5 })
      expect(due.map((row) => row.id).sort()).toEqual(['aaaaa', 'bbbbb'])
      expect(await store.decide({ ...allow, id: 'aaaaa' }), 'nobody says yes after the time').toMatchObject({
        won: false,
        approval: { state: 'pending' },
      })
      const late = { id: 'aaaaa', behavior: 'deny', cause: 'expired', by: 'expiry', via: 'clock' } as const
      expect(await store.decide(late)).toMatchObject({
        won: true,
        approval: { state: 'expired', cause: 'expired' },
      })
      await fixture.clock.advance(1_000)
      const now = fixture.clock.now()
      expect(await store.settleApproval('bbbbb', 'withdrawn')).toMatchObject({ decidedAt: now })
      expect(await store.approval('bbbbb')).toMatchObject({
        state: 'withdrawn',
        decidedAt: now,
        decidedBy: null,
      })
      expect(await store.decide({ ...allow, id: 'zzzzz' })).toEqual({ won: false, approval: null })
      expect(await store.approvals({ agent: 'paul', limit: 5 })).toEqual([])
      expect(await store.approvals({ limit: 5 })).toHaveLength(2)
    })

    it('the notices about an end are in its commit, and only if it is the end', async () => {
      const sentOps = async () => (await store.sends({ limit: 9, oldestFirst: true })).map(({ op }) => op)
      const text = (said: string) => ({ kind: 'text', text: said })
      await store.ask(approval(), [])
      await store.decide(allow, [send({ text: 'decided' })])
      await store.decide(allow, [send({ text: 'too late' })])
      await store.settleApproval('abcde', 'withdrawn', [send({ text: 'not so' })])
      await store.settleApproval('abcde', 'relayed', [send({ text: 'passed on' })])
      await store.settleApproval('abcde', 'relayed', [send({ text: 'again' })])
      expect(await sentOps()).toEqual([text('decided'), text('passed on')])
    })

    it('[S12.ledger-changes] grants come and go, and every change is in the ledger', async () => {
      await store.grant({ integration: 'demo', sender: 'ann', right: 'talk', by: 'op' })
      await store.grant({ integration: 'demo', sender: 'ann', right: 'talk', by: 'again' })
      expect(await store.grants()).toEqual([
        { integration: 'demo', sender: 'ann', right: 'talk', by: 'op', at: fixture.clock.now() },
      ])
      expect(await store.revoke('demo', 'ann', 'approve', 'op')).toBe(false)
      expect(await store.revoke('demo', 'ann', 'talk', 'op')).toBe(true)
      expect(await store.grants()).toEqual([])
      const told = (await store.ledger({ afterSeq: 0, limit: 10 })).map((entry) => entry.to)
      expect(told).toEqual(['granted:talk', 'revoked:talk'])
    })

    it('[S12.minted-hashed] tokens are found by their hash until they are revoked', async () => {
      const token = { id: 'tok1', hash: 'h1', kind: 'agent', scope: { agent: 'kate' }, expiresAt: null }
      await store.addToken(token, 'op')
      await expect(store.addToken({ ...token, id: 'tok2' }, 'op')).rejects.toThrow()
      expect(await store.tokenByHash('h1')).toEqual({
        ...token,
        createdAt: fixture.clock.now(),
        revokedAt: null,
        lastUsedAt: null,
      })
      expect(await store.tokenByHash('nope')).toBeNull()
      expect(await store.revokeToken('tok1', 'op')).toBe(true)
      expect(await store.revokeToken('tok1', 'op')).toBe(false)
      expect(await store.tokenByHash('h1')).toMatchObject({ revokedAt: fixture.clock.now() })
      expect(await store.tokens()).toHaveLength(1)
    })

    it('[I14.token-use] when a token was used last only grows, and leaves no entry', async () => {
      const token = { kind: 'agent', scope: { agent: 'kate' }, expiresAt: null }
      await store.addToken({ ...token, id: 'a', hash: 'ha' }, 'op')
      await store.addToken({ ...token, id: 'b', hash: 'hb' }, 'op')
      const entries = async () => (await store.ledger({ afterSeq: 0, limit: 100 })).length
      const before = await entries()
      const uses = async () => (await store.tokens()).map(({ id, lastUsedAt }) => [id, lastUsedAt])
      await store.tokensUsed([
        { id: 'a', at: 2_000 },
        { id: 'nobody', at: 2_000 },
      ])
      await store.tokensUsed([{ id: 'a', at: 1_000 }])
      expect((await uses()).sort()).toEqual([
        ['a', 2_000],
        ['b', null],
      ])
      await store.tokensUsed([
        { id: 'a', at: 3_000 },
        { id: 'b', at: 3_000 },
      ])
      await store.tokensUsed([])
      expect(await uses()).toHaveLength(2)
      expect((await store.tokenByHash('ha'))?.lastUsedAt).toBe(3_000)
      expect([await entries(), (await store.verify()).ok]).toEqual([before, true])
    })

    it('tokens that expired long enough ago are forgotten, the others stay', async () => {
      const at = fixture.clock.now()
      const token = { kind: 'chorus-callback', scope: { agent: 'kate' } }
      await store.addToken({ ...token, id: 'a', hash: 'ha', expiresAt: at - 5_000 }, 'op')
      await store.addToken({ ...token, id: 'b', hash: 'hb', expiresAt: at - 1_000 }, 'op')
      await store.addToken({ ...token, id: 'c', hash: 'hc', expiresAt: at + 1_000 }, 'op')
      await store.addToken({ ...token, id: 'd', hash: 'hd', expiresAt: null }, 'op')
      expect(await store.pruneTokens(2_000, 100)).toBe(1)
      expect(await store.pruneTokens(2_000, 100)).toBe(0)
      expect((await store.tokens()).map(({ id }) => id)).toEqual(['b', 'c', 'd'])
      const pruned = (await store.ledger({ afterSeq: 0, limit: 100 })).filter(({ to }) => to === 'pruned')
      expect(pruned).toMatchObject([{ kind: 'audit', ref: 'tokens', detail: '{"rows":"1"}' }])
      expect(await store.verify()).toMatchObject({ ok: true })
    })

    it('tokens can be asked for by kind, and without those of single turns', async () => {
      const scopes = [
        ['inbox', 'chorus-inbox', { integration: 'miriad' }],
        ['bearer', 'agent', { agent: 'kate', session: 's', turn: 't_1' }],
        ['callback', 'chorus-callback', { agent: 'kate', session: 's', turn: 't_1' }],
        ['odd', 'agent', { agent: 'turn', label: 'says "turn": and \\"turn":' }],
      ] as const
      for (const [id, kind, scope] of scopes)
        await store.addToken({ id, hash: `h-${id}`, kind, scope, expiresAt: null }, 'op')
      const ids = async (only?: Parameters<typeof store.tokens>[0]) =>
        (await store.tokens(only)).map(({ id }) => id).sort()
      expect(await ids()).toEqual(['bearer', 'callback', 'inbox', 'odd'])
      expect(await ids({ ofTurns: false })).toEqual(['inbox', 'odd'])
      expect(await ids({ kind: 'agent' })).toEqual(['bearer', 'odd'])
      expect(await ids({ kind: 'agent', ofTurns: false })).toEqual(['odd'])
      expect(await ids({ kind: 'nope' })).toEqual([])
    })

    it('secrets change all at once, and the ledger never holds one', async () => {
      await store.replaceSecrets({ a: 'cipher-a', b: 'cipher-b' }, 'op')
      await store.replaceSecrets({ a: 'cipher-a2', b: null, c: 'cipher-c' }, 'op')
      expect(await store.secrets()).toEqual({ a: 'cipher-a2', c: 'cipher-c' })
      const ledger = JSON.stringify(await store.ledger({ afterSeq: 0, limit: 100 }))
      expect(ledger).not.toContain('cipher')
      expect(ledger).toContain('"removed"')
    })

    it('a lease has one holder; it passes on when it ends or is given back', async () => {
      const other = await fixture.open('two')
      const mine = await store.lease('poll:demo', 1_000)
      expect(mine).toEqual({ token: 1 })
      expect(await other.lease('poll:demo', 1_000)).toBeNull()
      await fixture.clock.advance(900)
      expect(await store.lease('poll:demo', 1_000)).toEqual({ token: 1 })
      await fixture.clock.advance(1_000)
      expect(await other.lease('poll:demo', 1_000)).toEqual({ token: 2 })
      expect(await store.lease('poll:demo', 1_000)).toBeNull()
      await store.releaseLease('poll:demo', 1)
      expect(await store.lease('poll:demo', 1_000)).toBeNull()
      await other.releaseLease('poll:demo', 2)
      expect(await store.lease('poll:demo', 1_000)).toEqual({ token: 3 })
    })
  })
}
