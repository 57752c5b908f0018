// Who may attach from another machine, and the end of an attachment whose credential ends.
import { describe, expect, it } from 'vitest'
import type { Authorization, FramePipe, Hint, TokenRow, UserSettings } from '../../contract/index.ts'
import { createTestClock, createTestRandom } from '../../testing/test-clock.ts'
import { createAuthenticate } from './principals.ts'
import { createRemoteHosts } from './remote-hosts.ts'
import { createTokens } from './tokens.ts'

function opened() {
  const rows = new Map<string, TokenRow>()
  const clock = createTestClock()
  const listeners: ((hint: Hint, from: string | null) => void)[] = []
  let away = false
  let users: UserSettings[] = []
  let gone = 'gone'
  const tokens = createTokens(
    {
      addToken: async (token) =>
        void rows.set(token.hash, { ...token, createdAt: 0, revokedAt: null, lastUsedAt: null }),
      async tokenByHash(hash) {
        if (away) throw new Error('the store is away')
        return rows.get(hash) ?? null
      },
      async revokeToken(id) {
        const row = [...rows.values()].find((one) => one.id === id)
        if (row) rows.set(row.hash, { ...row, revokedAt: clock.now() })
        for (const listen of listeners) listen({ kind: 'access' }, null)
        return row !== undefined
      },
    },
    clock,
    createTestRandom('remote'),
  )
  const accepted: { pipe: FramePipe; ended: string[] }[] = []
  const hosts = createRemoteHosts({
    clock,
    tokens,
    authenticate: createAuthenticate({ adminToken: () => 'admin', tokens, users: () => users }),
    store: {
      onHint(listen) {
        listeners.push(listen)
        return () => undefined
      },
    },
    isAgent: (id) => id !== gone,
    accept(pipe) {
      const ended: string[] = []
      accepted.push({ pipe, ended })
      return { line: () => undefined, broken: (reason) => void ended.push(reason), closed: () => undefined }
    },
  })
  const pipe: FramePipe = { send: () => undefined, end: () => undefined }
  const enter = async (token: string) => {
    const reader = (await hosts.admit(token))(pipe)
    const one = accepted.at(-1)
    if (!one) throw new Error('nothing was accepted')
    return {
      reader,
      may: (agent: string): Authorization | undefined => one.pipe.may?.(agent),
      ended: one.ended,
    }
  }
  const lose = () => {
    away = true
  }
  const change = (next: { readonly users?: UserSettings[]; readonly gone?: string }) => {
    users = next.users ?? users
    gone = next.gone ?? gone
  }
  return { hosts, tokens, clock, enter, lose, change }
}

describe('a token at /attach', () => {
  it("[S1.authorize-attach] is the table's, and good for its own agent alone", async () => {
    const { tokens, enter } = opened()
    const { token } = await tokens.mint({ kind: 'agent', scope: { agent: 'kate' }, ttlMs: null })
    const { may } = await enter(token)
    expect(may('kate')).toEqual({ allowed: true })
    expect(may('leo')).toEqual({ allowed: false, reason: 'this credential belongs to another agent' })
    expect((await enter('admin')).may('leo')).toEqual({ allowed: true })
  })

  it.each([
    ['notify', { agent: 'kate' }],
    ['agent', { agent: 'kate', session: 's1' }],
    ['web', { integration: 'web', sender: 'owner' }],
  ])('of kind %s %j is not good for attaching', async (kind, scope: Record<string, string>) => {
    const { tokens, hosts } = opened()
    const { token } = await tokens.mint({ kind, scope, ttlMs: null })
    await expect(hosts.admit(token)).rejects.toMatchObject({
      code: 'forbidden',
      message: 'this credential is not good for agent.attach',
    })
  })

  it('[I14.attach-agent-gone] of an agent that is not configured is refused, whoever may attach any is not', async () => {
    const { tokens, hosts, enter } = opened()
    const { token } = await tokens.mint({ kind: 'agent', scope: { agent: 'gone' }, ttlMs: null })
    await expect(hosts.admit(token)).rejects.toMatchObject({
      code: 'forbidden',
      message: 'agent "gone" is not configured here',
    })
    expect((await enter('admin')).may('leo')).toEqual({ allowed: true })
  })

  it('that is wrong, expired or revoked is refused with just that', async () => {
    const { tokens, hosts, clock } = opened()
    await expect(hosts.admit('agent_nonsense')).rejects.toMatchObject({
      code: 'unauthorized',
      message: 'this token is not known here',
    })
    const short = await tokens.mint({ kind: 'agent', scope: { agent: 'kate' }, ttlMs: 1_000 })
    await clock.advance(1_000)
    await expect(hosts.admit(short.token)).rejects.toMatchObject({ message: 'this token has expired' })
    const revoked = await tokens.mint({ kind: 'agent', scope: { agent: 'kate' }, ttlMs: null })
    await tokens.revoke(revoked.id, 'op')
    await expect(hosts.admit(revoked.token)).rejects.toMatchObject({ message: 'this token was revoked' })
  })

  it('that is revoked or expires ends what it opened, and nothing else', async () => {
    const { tokens, clock, enter } = opened()
    const mint = (ttlMs: number | null) => tokens.mint({ kind: 'agent', scope: { agent: 'kate' }, ttlMs })
    const first = await mint(null)
    const second = await mint(60_000)
    const one = await enter(first.token)
    const two = await enter(second.token)
    const left = await enter(first.token)
    left.reader.closed()
    await tokens.revoke(first.id, 'op')
    await clock.advance(0)
    expect([one.ended, two.ended, left.ended]).toEqual([['this token was revoked'], [], []])
    await clock.advance(75_000)
    expect(two.ended).toContain('this token has expired')
  })

  it('[I14.attach-rights] whose right ends is let go, also where the token is good: role, user or agent', async () => {
    const { tokens, clock, enter, change } = opened()
    const ann = (roles: UserSettings['roles']): UserSettings => ({
      id: 'ann',
      identities: [],
      notifyTo: null,
      roles,
    })
    change({ users: [ann(['owner'])] })
    const user = await tokens.mint({ kind: 'user', scope: { user: 'ann' }, ttlMs: null })
    const agent = await tokens.mint({ kind: 'agent', scope: { agent: 'kate' }, ttlMs: null })
    const [one, two] = [await enter(user.token), await enter(agent.token)]
    await clock.advance(15_000)
    expect([one.ended, two.ended]).toEqual([[], []])
    change({ users: [ann(['operator'])] })
    await clock.advance(15_000)
    expect([one.ended.length > 0, two.ended]).toEqual([true, []])
    change({ gone: 'kate' })
    await clock.advance(15_000)
    expect(two.ended).toContain('agent "kate" is not configured here')
    change({ users: [ann(['owner'])] })
    const again = await enter(user.token)
    change({ users: [] })
    await clock.advance(15_000)
    expect(again.ended).toContain('whom this token speaks for is not configured any more')
  })

  it('stays good while the store cannot be asked', async () => {
    const { tokens, clock, enter, lose } = opened()
    const { token } = await tokens.mint({ kind: 'agent', scope: { agent: 'kate' }, ttlMs: null })
    const { ended } = await enter(token)
    lose()
    await clock.advance(60_000)
    expect(ended).toEqual([])
  })
})
