// Endpoints whose URL is the credential, over a real listener: wrong, rotated and expired secrets, sizes, and silence.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AgentConnector, markVerified, type Settings, type TokenRow } from '../../contract/index.ts'
import { connectChorus } from '../../operations/integrations/chorus-connections.ts'
import { type Opened, openServer } from '../../server/fixtures/open-server.ts'
import { createTestClock, createTestRandom } from '../../testing/test-clock.ts'
import { testIntegration, testSettings } from '../../testing/test-settings.ts'
import type { Gateway } from '../gateway.ts'
import { createTokens, type Tokens } from './tokens.ts'
import { createUrlCredentials } from './url-credentials.ts'

const clock = createTestClock()
const taken: string[] = []
let open: Opened
let tokens: Tokens
let lookups = 0
let rows: TokenRow[] = []

const connector = {
  callback: async (scope: Readonly<Record<string, string>>) => {
    taken.push(`callback ${scope.turn}`)
    return { status: 200, body: '{"ok":true}' }
  },
} as unknown as AgentConnector
const adapter = {
  endpoint: {
    at: 'inbox',
    verify: (request: Parameters<typeof markVerified>[0]) => markVerified(request, 'miriad'),
    handle: async () => {
      taken.push('inbox')
      return { status: 200, body: '{"ok":true}' }
    },
  },
}
const gateway = {
  roster: { get: (agent: string) => (agent === 'kate' ? { connector } : undefined) },
  links: { get: (id: string) => (id === 'miriad' ? { adapter } : undefined) },
} as unknown as Gateway

const store = {
  addToken: async (row: Omit<TokenRow, 'createdAt' | 'revokedAt'>) =>
    void rows.push({ ...row, createdAt: clock.now(), revokedAt: null, lastUsedAt: null }),
  tokenByHash: async (hash: string) => {
    lookups += 1
    return rows.find((row) => row.hash === hash) ?? null
  },
  tokens: async () => rows,
  revokeToken: async (id: string) => {
    rows = rows.map((row) => (row.id === id ? { ...row, revokedAt: clock.now() } : row))
    return true
  },
} as unknown as Parameters<typeof createTokens>[0]

beforeEach(async () => {
  rows = []
  taken.length = 0
  lookups = 0
  tokens = createTokens(store, clock, createTestRandom('doors'))
  const integrations = [testIntegration('slow-starter'), testIntegration('off', { enabled: false })]
  const settings = () => testSettings({ agents: ['kate', 'slow-starter'], integrations })
  const doors = createUrlCredentials({ tokens, gateway: () => gateway, settings, now: clock.now })
  open = await openServer({ ...doors })
})
afterEach(() => open.server.close({ graceMs: 100 }))

const post = (path: string, body = '{}') => open.fetch(path, { method: 'POST', body })
const callbackToken = async (agent = 'kate') =>
  (
    await tokens.mint({
      kind: 'chorus-callback',
      prefix: 'cb',
      scope: { agent, session: 's', turn: 't1' },
      ttlMs: 86_400_000,
    })
  ).token

describe('/callback/TOKEN', () => {
  it('[S14.http-callback] [S8.token-unknown] a good one is taken; an unknown one, or one of another kind, is not found', async () => {
    expect((await post(`/callback/${await callbackToken()}`)).status).toBe(200)
    expect(taken).toEqual(['callback t1'])
    const agent = await tokens.mint({ kind: 'agent', scope: { agent: 'kate' }, ttlMs: null })
    const wrong = ['cb_wrong', '', 'x/y', '%', 'a'.repeat(4_000), agent.token]
    const answers = await Promise.all(wrong.map((token) => post(`/callback/${token}`)))
    expect(answers.map(({ status }) => status)).toEqual(wrong.map(() => 404))
    const texts = await Promise.all(answers.map((answer) => answer.text()))
    expect(new Set(texts).size).toBe(1)
    expect(taken).toHaveLength(1)
  })

  it('[S8.callback-expires] [S16.410] an expired one is gone, and so is one whose agent is no more', async () => {
    const token = await callbackToken()
    clock.jump(clock.now() + 86_400_000)
    expect((await post(`/callback/${token}`)).status).toBe(410)
    expect((await post(`/callback/${await callbackToken('nobody')}`)).status).toBe(410)
  })

  it('[I6.not-yet] one whose agent is being started is to be tried again, never given up', async () => {
    const answer = await post(`/callback/${await callbackToken('slow-starter')}`)
    expect(answer.status).toBe(503)
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  it('[S8.callback-fresh] only hashes are stored', async () => {
    const token = await callbackToken()
    expect(JSON.stringify(rows)).not.toContain(token)
  })
})

describe('/inbox/SECRET', () => {
  const connections = () =>
    ({
      store,
      settings: () => ({ integrations: [{ id: 'miriad', platform: 'chorus' }] }) as unknown as Settings,
      live: { tokens, baseUrl: () => 'https://sb.example.com' },
      by: 'me',
    }) as unknown as Parameters<typeof connectChorus>[0]
  const minted = async (rotate = false) => {
    const { connection_string, revoked } = await connectChorus(connections(), 'miriad', { rotate })
    expect(connection_string).toMatch(/^https:\/\/sb\.example\.com\/inbox\/sk_[\w-]{43}$/)
    return { path: new URL(connection_string).pathname, revoked }
  }

  it('[S14.http-inbox] [S8.connect] [S8.rotate] [S8.wrong-secret] [F7.chorus-bad-secret] [F7.chorus-rotated] [S16.404-secret-url] takes the minted one, until it is rotated', async () => {
    const old = await minted()
    expect((await post(old.path)).status).toBe(200)
    expect((await post('/inbox/sk_wrong')).status).toBe(404)
    const fresh = await minted(true)
    expect(fresh.revoked).toBe(1)
    expect((await post(old.path)).status).toBe(404)
    expect((await post(fresh.path)).status).toBe(200)
    expect(taken).toEqual(['inbox', 'inbox'])
    expect(JSON.stringify(rows)).not.toContain(fresh.path.split('/').at(-1))
    await expect(connectChorus(connections(), 'web', { rotate: false })).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  it('[S8.wrong-secret] every secret, whatever its form, takes the same one look-up by hash', async () => {
    const old = await minted()
    await minted(true)
    for (const path of ['/inbox/sk_wrong', '/inbox/', '/inbox/x', old.path, `/inbox/${'y'.repeat(500)}`]) {
      lookups = 0
      expect((await post(path)).status).toBe(404)
      expect([path, lookups]).toEqual([path, 1])
    }
  })

  it('[I6.not-yet] one whose integration is being started is to be tried again; gone or disabled, it is nothing', async () => {
    const status = async (integration: string) => {
      const { token } = await tokens.mint({
        kind: 'chorus-inbox',
        prefix: 'sk',
        scope: { integration },
        ttlMs: null,
      })
      return (await post(`/inbox/${token}`)).status
    }
    expect(await status('slow-starter')).toBe(503)
    expect(await status('removed')).toBe(404)
    expect(await status('off')).toBe(404)
  })

  it('[S16.413] one byte over the limit is refused before anything is looked at', async () => {
    const { path } = await minted()
    lookups = 0
    expect((await post(path, 'x'.repeat(1_001))).status).toBe(413)
    expect((await post('/callback/x', 'x'.repeat(1_001))).status).toBe(413)
    expect(lookups).toBe(0)
  })

  it('[S8.urls-not-logged] [F7.chorus-secret-silent] no secret is written down, whatever happens', async () => {
    const { path } = await minted()
    await post(path)
    await post(`${path}x`)
    await open.fetch(path)
    expect(open.logLines().join('\n')).not.toContain('sk_')
  })
})
