// Who a bearer token speaks for: one token table everywhere, and each kind opens only what it names.
import { describe, expect, it } from 'vitest'
import type { Action, Principal, TokenRow, UserSettings } from '../../contract/index.ts'
import { authorize } from '../../core/people/authorize.ts'
import { createTestClock, createTestRandom } from '../../testing/test-clock.ts'
import { createAuthenticate } from './principals.ts'
import { createTokens } from './tokens.ts'

const ANN: UserSettings = { id: 'ann', identities: [], notifyTo: null, roles: ['approver'] }

function opened() {
  const rows = new Map<string, TokenRow>()
  const clock = createTestClock()
  const tokens = createTokens(
    {
      addToken: async (token) =>
        void rows.set(token.hash, { ...token, createdAt: 0, revokedAt: null, lastUsedAt: null }),
      tokenByHash: async (hash) => rows.get(hash) ?? null,
      async revokeToken(id) {
        const row = [...rows.values()].find((one) => one.id === id && one.revokedAt === null)
        if (row) rows.set(row.hash, { ...row, revokedAt: clock.now() })
        return row !== undefined
      },
    },
    clock,
    createTestRandom('principals'),
  )
  const authenticate = createAuthenticate({ adminToken: () => 'the-admin-token', tokens, users: () => [ANN] })
  const mint = (kind: string, scope: Record<string, string>, ttlMs: number | null = null) =>
    tokens.mint({ kind, scope, ttlMs })
  return { authenticate, mint, tokens, clock, rows }
}

describe('authenticate', () => {
  it('[S1.token-table] every kind of token comes from one table and speaks for its own principal', async () => {
    const { authenticate, mint, rows } = opened()
    const speaks = async (kind: string, scope: Record<string, string>) =>
      authenticate((await mint(kind, scope)).token)
    expect(await authenticate('the-admin-token')).toEqual({ kind: 'operator', id: 'admin' })
    expect(await speaks('admin', {})).toMatchObject({ kind: 'operator' })
    expect(await speaks('agent', { agent: 'kate' })).toEqual({ kind: 'agent', id: 'kate' })
    expect(await speaks('agent', { agent: 'kate', session: 's1' })).toEqual({
      ...{ kind: 'session', id: 's1', agent: 'kate', user: null },
    })
    expect(await speaks('user', { user: 'ann' })).toEqual({ kind: 'user', id: 'ann', roles: ['approver'] })
    expect(await speaks('user', { user: 'gone' })).toBeNull()
    expect(await speaks('web', { integration: 'web', sender: 'owner' })).toEqual({
      ...{ kind: 'integration', id: 'web', sender: 'owner' },
    })
    // The page exchanges a ticket for a session. The ticket itself opens nothing here.
    expect(await speaks('web-ticket', { integration: 'web', sender: 'owner' })).toBeNull()
    for (const row of rows.values()) expect(row.hash).toMatch(/^[0-9a-f]{64}$/)
  })

  it('[I3.roles] a token for notifications may notify and nothing else', async () => {
    const { authenticate, mint } = opened()
    for (const scope of [{ agent: 'kate' }, { agent: 'kate', session: 's1', user: 'ann' }]) {
      const who = (await authenticate((await mint('notify', scope)).token)) as Principal
      const may = (action: Action) =>
        authorize(who, action, { kind: 'session', id: 's1', agent: 'kate' }).allowed ||
        authorize(who, action, { kind: 'agent', id: 'kate' }).allowed
      expect(may('notify.send')).toBe(true)
      for (const action of ['agent.attach', 'message.send', 'admin.read', 'approval.decide'] as const)
        expect([scope, action, may(action)]).toEqual([scope, action, false])
    }
  })

  it('[S1.token-expiry] an expired, revoked or unknown token speaks for nobody', async () => {
    const { authenticate, mint, tokens, clock } = opened()
    const short = await mint('agent', { agent: 'kate' }, 1_000)
    const lasting = await mint('agent', { agent: 'kate' })
    expect(await authenticate(short.token)).not.toBeNull()
    await clock.advance(1_000)
    expect(await authenticate(short.token)).toBeNull()
    expect(await tokens.revoke(lasting.id, 'admin')).toBe(true)
    expect(await authenticate(lasting.token)).toBeNull()
    for (const guess of ['', 'the-admin-toke', 'the-admin-token ', `${lasting.token}x`, lasting.id])
      expect(await authenticate(guess)).toBeNull()
  })
})
