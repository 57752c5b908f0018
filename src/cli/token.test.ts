// `switchboard token` against a canned daemon: what is minted, how it is listed, what is refused.
import { describe, expect, it } from 'vitest'
import { command, freshFolder } from './fixtures/fake-daemon.ts'

const { data, start } = freshFolder()

describe('token', () => {
  it('[S14.json-token] [S14.cli-token] [I14.token-use] mints, lists and revokes', async () => {
    const minted = { token: 'agent_x', id: 'tok_1', expires_at: null }
    const row = {
      id: 'tok_1',
      kind: 'agent',
      scope: { agent: 'kate' },
      created_at: '2026-01-02T11:00:00.000Z',
      expires_at: null,
      revoked: false,
    }
    const { asked } = await start({
      'POST /api/tokens': minted,
      'GET /api/tokens': {
        items: [
          { ...row, last_used_at: '2026-01-02T11:15:00.000Z', never_used: false },
          {
            ...row,
            id: 'tok_0',
            expires_at: '2026-01-02T11:30:00.000Z',
            last_used_at: null,
            never_used: true,
          },
          { ...row, id: 'tok_old' },
        ],
        next: null,
      },
      'DELETE /api/tokens/tok_1': { revoked: true },
    })
    const words = ['token', 'mint', '--agent', 'kate', '--session', 's', '--user', 'u', '--kind', 'notify']
    expect((await command([...words, '--expires', '1h', '--json', ...data()])).lines).toEqual([minted])
    expect(asked[0]?.body).toEqual({
      kind: 'notify',
      scope: { agent: 'kate', session: 's', user: 'u' },
      ttl_ms: 3_600_000,
    })
    expect((await command(['token', 'mint', '--agent', 'kate', ...data()])).out).toBe('agent_x\n')
    expect((await command(['token', 'mint', ...data()])).code).toBe(2)
    expect((await command(['token', 'mint', '--kind', 'user', ...data()])).code).toBe(2)
    expect((await command(['token', 'mint', '--kind', 'notfy', ...data()])).err).toContain('"notify"')
    // An admin token that is listed as one agent's would still open everything.
    for (const [option, value] of [
      ['--agent', 'kate'],
      ['--session', 's'],
      ['--user', 'u'],
    ] as const) {
      const narrow = await command(['token', 'mint', '--kind', 'admin', option, value, ...data()])
      expect(narrow).toMatchObject({ code: 2, err: expect.stringContaining(`${option} does not narrow it`) })
    }
    const over = await command(['token', 'mint', '--agent', 'kate', '--expires', '0s', ...data()])
    expect(over).toMatchObject({ code: 2, err: expect.stringContaining('over at once') })
    const listed = (await command(['token', ...data()])).out
    expect(listed).toMatch(/tok_1 .*good.*never.*45m? .*agent=kate/)
    expect(listed).toMatch(/tok_0 .*expired.* never .*agent=kate/)
    expect(listed).toMatch(/tok_old .*\? .*agent=kate/)
    expect(asked.at(-1)?.query.all).toBeUndefined()
    expect((await command(['token', 'list', '--all', ...data()])).code).toBe(0)
    expect(asked.at(-1)?.query.all).toBe('true')
    expect((await command(['token', 'revoke', 'tok_1', ...data()])).code).toBe(0)
    expect((await command(['token', 'revoke', 'tok_2', ...data()])).code).toBe(1)
  })
})
