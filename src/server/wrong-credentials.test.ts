// Wrong credentials: the counts, the ledger entries, and the sources that are slowed down.
import { afterEach, describe, expect, it } from 'vitest'
import type { LedgerNote } from '../contract/index.ts'
import { createRecordingLog } from '../testing/recording-log.ts'
import { createTestClock } from '../testing/test-clock.ts'
import { type Opened, openServer, TOKEN } from './fixtures/open-server.ts'
import { createWrongCredentials } from './wrong-credentials.ts'

const judged = (wrongPerMinute = 3) => {
  const clock = createTestClock(1_700_000_000_000)
  const notes: LedgerNote[][] = []
  const log = createRecordingLog()
  const note = async (more: readonly LedgerNote[]) => void notes.push([...more])
  return { clock, notes, log, wrong: createWrongCredentials({ wrongPerMinute }, { clock, log, note }) }
}

describe('by source and minute', () => {
  it('[I14.wrong-credential] the ledger has one entry a source and minute, with how often and where', async () => {
    const { clock, notes, wrong } = judged()
    for (let n = 0; n < 5; n += 1) wrong.count(n === 0 ? 'hook' : 'api', '203.0.113.7')
    wrong.count('mcp', '::ffff:198.51.100.9')
    wrong.count('mcp', '2001:db8:1:2:3:4:5:6')
    wrong.count('mcp', '2001:db8:1:2::9')
    expect(notes).toEqual([])
    await clock.advance(60_000)
    const what = 'wrong credentials'
    expect(notes).toEqual([
      [
        { kind: 'access', ref: '203.0.113.7', detail: { what, attempts: '5', routes: 'api hook' } },
        { kind: 'access', ref: '198.51.100.9', detail: { what, attempts: '1', routes: 'mcp' } },
        { kind: 'access', ref: '2001:db8:1:2::/64', detail: { what, attempts: '2', routes: 'mcp' } },
      ],
    ])
    await clock.advance(600_000)
    expect(notes).toHaveLength(1)
    wrong.count('api', '203.0.113.7')
    await wrong.stop()
    expect(notes[1]).toHaveLength(1)
    expect(Object.fromEntries(wrong.totals)).toEqual({ hook: 1, api: 5, mcp: 3 })
  })

  it('[I14.wrong-credential] a thousand sources fill neither the ledger nor the memory', async () => {
    const { clock, notes, wrong } = judged()
    for (let n = 0; n < 1_000; n += 1) wrong.count('api', `10.0.${n >> 8}.${n & 255}`)
    await clock.advance(60_000)
    expect(notes[0]).toHaveLength(51)
    expect(notes[0]?.at(-1)).toMatchObject({ ref: 'other sources', detail: { attempts: '950' } })
  })

  it('[I14.wrong-throttled] a source of many is put off until its minute is over, and no other', async () => {
    const { clock, wrong } = judged()
    const tries = (address: string) => wrong.count('api', address)?.code ?? null
    expect([1, 2, 3, 4].map(() => tries('203.0.113.7'))).toEqual([null, null, null, 'rate_limited'])
    expect(tries('203.0.113.8')).toBeNull()
    await clock.advance(20_000)
    expect(wrong.count('api', '203.0.113.7')?.retryAfterMs).toBe(40_000)
    await clock.advance(40_000)
    expect(tries('203.0.113.7')).toBeNull()
  })
})

describe('at the doors', () => {
  let open: Opened | null = null
  afterEach(async () => {
    await open?.server.close({ graceMs: 100 })
    open = null
  })

  it('[I14.wrong-throttled] wrong ones get 429 with Retry-After, a right one from there passes', async () => {
    open = await openServer({}, { limits: { wrongPerMinute: 5 } })
    const { fetch } = open
    const ask = (token: string) => fetch('/api/status', { headers: { authorization: `Bearer ${token}` } })
    for (let n = 0; n < 5; n += 1) expect((await ask('wrong')).status).toBe(401)
    const putOff = await ask('wrong')
    expect(putOff.status).toBe(429)
    expect(Number(putOff.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await ask(TOKEN)).status).toBe(200)
    // A request without a credential does not count.
    expect((await fetch('/api/status')).status).toBe(401)
  })

  it('[I14.wrong-credential] a link that was made up is counted too: guessing one is put off', async () => {
    const chat = { verify: () => ({ status: 410, body: 'too old' }), handle: async () => ({ status: 500 }) }
    const endpoints = { hook: () => null, chat: () => chat }
    open = await openServer({ endpoints }, { limits: { wrongPerMinute: 2 } })
    const { fetch } = open
    const enter = async (path: string) => (await fetch(path, { method: 'POST', body: '{}' })).status
    expect([await enter('/chat/session'), await enter('/chat/session')]).toEqual([410, 410])
    expect([await enter('/chat/session'), await enter('/chat/other')]).toEqual([429, 410])
  })

  it('[I14.wrong-credential] a wrong secret in the path of a hook is counted, though it is answered 404', async () => {
    const secret = { verify: () => ({ status: 404, body: '' }), handle: async () => ({ status: 500 }) }
    open = await openServer(
      { endpoints: { hook: () => secret, chat: () => null } },
      { limits: { wrongPerMinute: 2 } },
    )
    const { fetch } = open
    const post = async (path: string) => (await fetch(path, { method: 'POST' })).status
    expect([await post('/hooks/ci/one'), await post('/hooks/ci/two')]).toEqual([404, 404])
    expect([await post('/hooks/ci/three'), await post('/hooks/ci'), await post('/hooks/ci/events')]).toEqual([
      ...[429, 404, 404],
    ])
  })

  it('[I14.wrong-credential] every door counts, and tells nothing of what was tried', async () => {
    const notes: LedgerNote[] = []
    open = await openServer({
      note: async (more) => void notes.push(...more),
      settings: () => ({ maxBodyBytes: 1_000, publicUrl: null }),
      mcp: { admit: async () => ({ status: 401 }) },
      callbacks: { admit: async () => ({ status: 404 }) },
      inbox: { admit: async () => ({ status: 404 }) },
    })
    const authorization = 'Bearer planted-secret'
    const { fetch, logLines } = open
    await fetch('/hooks/demo', { method: 'POST', headers: { 'x-bad': 'planted-secret' } })
    await fetch('/chat/x', { method: 'POST', headers: { 'x-bad': '1', cookie: 'sb=planted-secret' } })
    for (const path of ['/api/status', '/events', '/mcp']) await fetch(path, { headers: { authorization } })
    for (const path of ['/callback/planted-secret', '/inbox/planted-secret'])
      expect((await fetch(path, { method: 'POST' })).status).toBe(404)
    const text = await (await fetch('/metrics')).text()
    for (const [route, count] of Object.entries({ hook: 1, chat: 1, api: 2, mcp: 1, callback: 1, inbox: 1 }))
      expect(text).toContain(`switchboard_wrong_credentials_total{route="${route}"} ${count}\n`)
    await open.server.close({ graceMs: 100 })
    expect(notes).toEqual([
      {
        kind: 'access',
        ref: '127.0.0.1',
        detail: { what: 'wrong credentials', attempts: '7', routes: 'api callback chat hook inbox mcp' },
      },
    ])
    expect(JSON.stringify([notes, logLines(), text])).not.toContain('planted-secret')
  })
})
