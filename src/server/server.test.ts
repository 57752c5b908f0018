// The server over real sockets: answers to bad input, hooks, health, streams, and the orderly end.
import { afterEach, describe, expect, it } from 'vitest'
import { SwitchboardError } from '../contract/index.ts'
import { type Opened, openServer, TOKEN, talk } from './fixtures/open-server.ts'

let open: Opened | null = null
const opened = async (...how: Parameters<typeof openServer>): Promise<Opened> => {
  open = await openServer(...how)
  return open
}
afterEach(async () => {
  await open?.server.close({ graceMs: 200 })
  open = null
})

const post = (path: string, body: string, headers = '') =>
  `POST ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

describe('hooks', () => {
  it('[S14.http-hooks] reach the endpoint verified, with what follows the id', async () => {
    const { fetch } = await opened()
    const response = await fetch('/hooks/demo/x/y?q=1', { method: 'POST', body: 'hello' })
    expect(await response.json()).toEqual({ path: '/x/y', near: false, body: 'hello' })
    expect((await fetch('/hooks/demo', { method: 'POST', headers: { 'x-bad': '1' } })).status).toBe(401)
  })

  it.each([{ ok: 1 }, undefined, null, true, { request: {} }])(
    '[I13.modules-whole] a verify of somebody else’s that gives %j lets nobody in',
    async (outcome) => {
      let handled = 0
      const endpoint = {
        verify: () => outcome as never,
        async handle() {
          handled += 1
          return { status: 200 }
        },
      }
      const { fetch } = await opened({ endpoints: { hook: () => endpoint } } as never)
      expect((await fetch('/hooks/demo', { method: 'POST', body: 'x' })).status).toBe(500)
      expect(handled).toBe(0)
    },
  )

  it('[S16.404] an unknown integration or path gets 404', async () => {
    const { fetch } = await opened()
    for (const path of ['/hooks/nobody', '/hooks/', '/hooks', '/nothing', '/hooks/demo%2Fx']) {
      const response = await fetch(path, { method: 'POST', body: 'x' })
      expect([path, response.status, ((await response.json()) as { code: string }).code]).toEqual([
        path,
        404,
        'not_found',
      ])
    }
  })

  it('[S16.413] a body over the limit gets 413, by its length or as it comes', async () => {
    const { raw, fetch } = await opened()
    const declared = await raw(
      'POST /hooks/demo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5000000\r\n\r\n',
    )
    expect(declared).toMatch(/^HTTP\/1\.1 413 /)
    expect(declared).toContain('"code":"too_large"')
    const chunked = `POST /hooks/demo HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n${'3e8\r\n'.concat('x'.repeat(1000), '\r\n').repeat(3)}0\r\n\r\n`
    expect(await raw(chunked)).toMatch(/^HTTP\/1\.1 413 /)
    const expecting =
      'POST /hooks/demo HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: 5000\r\n\r\n'
    expect(await raw(expecting)).toMatch(/^HTTP\/1\.1 413 /)
    expect((await fetch('/hooks/demo', { method: 'POST', body: 'x'.repeat(1000) })).status).toBe(200)
  })

  it('a client that waits for 100 Continue gets it', async () => {
    const { raw } = await opened()
    const answer = await raw(post('/hooks/demo', 'hi', 'expect: 100-continue\r\n'))
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /)
  })

  it('[S16.400] malformed HTTP, paths and encodings get 400 and harm nobody', async () => {
    const { raw, fetch } = await opened()
    for (const bytes of [
      'nonsense\r\n\r\n',
      'GET / HTTP/9.9\r\n\r\n',
      `${post('/hooks/demo', '').slice(0, -2)}bad header\r\n\r\n`,
    ]) {
      expect(await raw(bytes)).toMatch(/^HTTP\/1\.1 400 /)
    }
    for (const path of ['/hooks/%zz', '/hooks/%ff', '/api/turns/%E0%A4%A', '/chat/%']) {
      const answer = await raw(post(path, 'x'))
      expect([path, answer.slice(0, 12)]).toEqual([path, 'HTTP/1.1 400'])
    }
    expect(await raw(post('/hooks/demo', 'x', 'transfer-encoding: chunked\r\n'))).toMatch(/^HTTP\/1\.1 400 /)
    expect((await fetch('/hooks/demo', { method: 'POST', body: 'x' })).status).toBe(200)
  })

  it('headers and URLs that are too long get 431 and 414', async () => {
    const { raw } = await opened()
    expect(await raw(post('/hooks/demo', '', `x-long: ${'a'.repeat(20_000)}\r\n`))).toMatch(
      /^HTTP\/1\.1 431 /,
    )
    expect(await raw(post(`/hooks/demo?${'a'.repeat(9_000)}`, ''))).toMatch(/^HTTP\/1\.1 414 /)
  })

  it('a request that never ends is cut off', async () => {
    const limits = { headersTimeoutMs: 100, requestTimeoutMs: 150, timeoutCheckMs: 50 }
    const { raw } = await opened({}, { limits })
    expect(await raw('POST /hooks/demo HTTP/1.1\r\nhost: lo')).toMatch(/^HTTP\/1\.1 408 /)
    expect(
      await raw('POST /hooks/demo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\nhal'),
    ).toMatch(/^HTTP\/1\.1 408 /)
  })

  it('[S16.409] [S16.410] errors carry the status of the table, a code, a hint, and no stack', async () => {
    const { fetch, logLines } = await opened()
    const cases = [
      ['conflict', 409],
      ['gone', 410],
      ['unsupported_media', 415],
      ['rate_limited', 429],
      ['not_built', 501],
    ] as const
    for (const [code, status] of cases) {
      const response = await fetch(`/hooks/demo?throw=${code}`, { method: 'POST' })
      expect([response.status, await response.json()]).toEqual([
        status,
        { ok: false, code, error: `it is ${code}`, hint: 'try less' },
      ])
    }
    const bug = await fetch('/hooks/demo?throw=bug', { method: 'POST' })
    expect(bug.status).toBe(500)
    expect(await bug.text()).not.toContain('secret-in-a-bug')
    expect(logLines().length).toBe(1)
  })

  it('a store that is away gets 503 with Retry-After', async () => {
    const { fetch } = await opened()
    const response = await fetch('/hooks/demo?throw=store_unavailable', { method: 'POST' })
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5'])
  })

  it('answers no CORS: a page of another site cannot send custom headers here', async () => {
    const { fetch } = await opened()
    for (const path of ['/hooks/demo', '/api/status', '/chat', '/events']) {
      const headers = { origin: 'https://evil.example', 'access-control-request-headers': 'x-sender' }
      const response = await fetch(path, { method: 'OPTIONS', headers })
      expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  })

  it('pipelined and kept-alive requests are all answered, in order', async () => {
    const { raw } = await opened()
    const one = (text: string) => post('/hooks/demo', text).replace('connection: close\r\n', '')
    const answers = await raw(one('a') + one('b') + post('/hooks/demo', 'c'))
    expect([...answers.matchAll(/"body":"(.)"/g)].map((match) => match[1])).toEqual(['a', 'b', 'c'])
  })
})

describe('health', () => {
  it('[S14.http-healthz] [S14.http-readyz] alive, and ready only when messages can be taken', async () => {
    let ready = { ready: false, detail: 'the store is away' }
    const { fetch } = await opened({ ready: () => ready })
    expect((await fetch('/healthz')).status).toBe(200)
    const not = await fetch('/readyz')
    expect([not.status, await not.json()]).toEqual([503, { ready: false, reason: 'the store is away' }])
    ready = { ready: true, detail: '' }
    expect((await fetch('/readyz')).status).toBe(200)
    const wrong = await fetch('/healthz', { method: 'POST' })
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET'])
  })

  it('[S14.http-metrics] [I16.tokens-counted] speaks Prometheus, to this machine or with the token', async () => {
    const counters = async () => [{ integration: 'demo', name: 'refused', reason: 'flood', count: 4 }]
    const day = { agent: 'kate', model: 'm1', calls: 1, input: 50, output: 5, cacheRead: 5, cacheWrite: 0 }
    const usage = async () =>
      ['2026-01-01', '2026-01-02'].map((one) => ({ ...day, day: one, costMicros: 1_250 }))
    const { fetch, raw } = await opened({
      metrics: { counters, usage, commits: () => 9 },
      settings: () => ({ maxBodyBytes: 1_000, publicUrl: null }),
    })
    await fetch('/hooks/demo', { method: 'POST', body: 'x' })
    const response = await fetch('/metrics')
    const text = await response.text()
    expect(response.headers.get('content-type')).toContain('version=0.0.4')
    for (const line of [
      'switchboard_turns{integration="demo",state="refused",reason="flood"} 4',
      'switchboard_llm_tokens_total{agent="kate",model="m1",kind="input"} 90',
      'switchboard_llm_tokens_total{agent="kate",model="m1",kind="cache_read"} 10',
      'switchboard_llm_cost_total 0.0025',
      'switchboard_approvals_pending 1',
      'switchboard_agent_queued{agent="kate \\"k\\""} 2',
      'switchboard_store_commits_total 9',
      'switchboard_hook_requests_total{status="200"} 1',
    ]) {
      expect(text.split('\n')).toContain(line)
    }
    for (const line of text.trim().split('\n'))
      expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{.*\})? -?[\d.e+-]+)$/)
    const asked = (more: string) =>
      raw(`GET /metrics HTTP/1.1\r\nhost: localhost\r\nvia: 1.1 x\r\nconnection: close\r\n${more}\r\n`)
    expect(await asked('')).toMatch(/^HTTP\/1\.1 401 /)
    expect(await asked(`authorization: Bearer ${TOKEN}\r\n`)).toMatch(/^HTTP\/1\.1 200 /)
  })
})

describe('the end', () => {
  it('[S16.503-draining] finishes what is in flight, refuses the rest, ends the streams', async () => {
    const { server, fetch, release, holding, port } = await opened()
    const flying = fetch('/hooks/demo?hold', { method: 'POST', body: 'x' })
    const streaming = await fetch('/hooks/demo/stream', { method: 'POST' })
    await holding
    server.drain('all')
    const refused = await talk(
      { port, host: '127.0.0.1' },
      post('/hooks/demo', 'x').replace('close', 'keep-alive'),
    )
    expect(refused).toMatch(/^HTTP\/1\.1 503 /)
    expect(refused.toLowerCase()).toContain('retry-after: 5')
    expect(refused.toLowerCase()).toContain('connection: close')
    expect((await fetch('/healthz')).status).toBe(200)
    expect((await fetch('/readyz')).status).toBe(503)
    const closing = server.close({ graceMs: 5_000 })
    expect(await streaming.text()).toBe(': connected\n\n')
    release()
    expect((await flying).status).toBe(200)
    await closing
    await expect(fetch('/healthz')).rejects.toThrow()
  })

  it('[I35.b12-drain] serves agents at work and operators while answers are being read, and takes nothing new', async () => {
    const { server, fetch } = await opened()
    server.drain('new')
    const status = async (path: string) => (await fetch(path, { method: 'POST', body: '{}' })).status
    expect([await status('/hooks/demo'), (await fetch('/readyz')).status]).toEqual([503, 503])
    expect(await status('/inbox/sk_x')).toBe(503)
    for (const path of ['/callback/cb_nobody', '/mcp', '/api/send']) expect(await status(path)).not.toBe(503)
    server.drain('all')
    expect(await status('/callback/cb_nobody')).toBe(503)
    await server.close({ graceMs: 100 })
  })

  it('what does not end in the grace is cut', async () => {
    const { server, fetch, holding } = await opened()
    const stuck = fetch('/hooks/demo?hold', { method: 'POST', body: 'x' }).catch(() => 'cut')
    await holding
    await server.close({ graceMs: 100 })
    expect(await stuck).toBe('cut')
  })

  it('a reader who does not read is dropped, not buffered for', async () => {
    const { port } = await opened({}, { limits: { streamBacklogBytes: 100_000 } })
    const text = await talk({ port, host: '127.0.0.1' }, post('/hooks/demo/stream?flood', ''))
    expect(text.length).toBeLessThan(4_000_000)
  })

  it('one event larger than the backlog reaches a reader who reads', async () => {
    const { fetch } = await opened({}, { limits: { streamBacklogBytes: 100_000 } })
    const response = await fetch('/hooks/demo/stream?large', { method: 'POST' })
    expect(await response.text()).toHaveLength(8_000_000 + ': connected\n\n'.length)
  })

  it('says when the port is taken', async () => {
    const { port } = await opened()
    const second = openServer({}, { tcp: { host: '127.0.0.1', port } })
    await expect(second).rejects.toBeInstanceOf(SwitchboardError)
    await expect(second).rejects.toMatchObject({ code: 'conflict' })
  })
})
