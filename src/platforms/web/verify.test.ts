// Access to the web chat: credentials, pages, and requests of foreign pages.
import { describe, expect, it } from 'vitest'
import { createMemoryRiver } from '../../../test/browser/memory-river.ts'
import { isReply, type RawRequest } from '../../contract/index.ts'
import { createTestClock, createTestRandom } from '../../testing/test-clock.ts'
import { webConfig } from './config.ts'
import { cameOverHttps, cookieOf, createWebVerifier, sessionCookie } from './verify.ts'

const HOST = '127.0.0.1:4747'
const PORT = '4747'

function request(
  method: string,
  headers: Record<string, string>,
  path = method === 'GET' ? '/me' : '/messages',
): RawRequest {
  return {
    method,
    path,
    query: new URLSearchParams(),
    headers: { host: HOST, ...headers },
    body: new Uint8Array(),
    fromLoopback: true,
  }
}

async function setUp(publicUrl: string | null = null) {
  const clock = createTestClock()
  const river = await createMemoryRiver({ clock, random: createTestRandom() })
  const verifier = createWebVerifier(webConfig(river.deps.integration, publicUrl), river.deps)
  const mint = async (kind: string, scope: Record<string, string>, ttlMs: number | null = null) =>
    (await river.tokens.mint({ kind, scope, ttlMs })).token
  const session = await mint('web', { integration: 'web', sender: 'owner', name: 'Kate' })
  const status = async (raw: RawRequest): Promise<number | string> => {
    const outcome = await verifier.verify(raw)
    return isReply(outcome) ? outcome.status : outcome.sender
  }
  return { clock, verifier, mint, session, status }
}

const cookie = (token: string, port = PORT) => ({ cookie: `a=b; swb_chat_${port}=${token}; c=d` })

describe('the credential of the web chat', () => {
  it('[I35.b36] the cookie of another daemon of this host, on another port, neither counts nor is replaced', async () => {
    const { session, status, verifier } = await setUp()
    expect(await status(request('GET', cookie(session, '1')))).toBe(401)
    expect(await verifier.sessionIn(request('GET', cookie(session, '1')))).toBeNull()
    const names = ['localhost:4747', 'localhost:4748', 'sb.example.com'].map((host) =>
      sessionCookie(request('GET', { host })),
    )
    expect(names).toEqual(['swb_chat_4747', 'swb_chat_4748', 'swb_chat'])
  })

  it('[S7.web-token] a session by cookie or bearer speaks for its sender', async () => {
    const { session, status, verifier } = await setUp()
    expect(await status(request('GET', cookie(session)))).toBe('owner')
    expect(await status(request('GET', { authorization: `Bearer ${session}` }))).toBe('owner')
    const outcome = await verifier.verify(request('GET', cookie(session)))
    expect(isReply(outcome) ? null : verifier.sessionOf(outcome)).toEqual({
      token: session,
      sender: 'owner',
      name: 'Kate',
    })
  })

  it('[S7.web-token] [S16.401] nothing else gets in', async () => {
    const { mint, status, session, clock } = await setUp()
    const others = [
      {},
      cookie(''),
      cookie('guess'),
      cookie('x'.repeat(10_000)),
      { authorization: session },
      { authorization: `Basic ${session}` },
      cookie(await mint('web-ticket', { integration: 'web', sender: 'owner' })),
      cookie(await mint('agent', { integration: 'web', sender: 'owner' })),
      cookie(await mint('web', { integration: 'other', sender: 'owner' })),
      cookie(await mint('web', { integration: 'web' })),
      cookie(await mint('web', { integration: 'web', sender: '' })),
    ]
    for (const headers of others) expect(await status(request('GET', headers))).toBe(401)
    const short = await mint('web', { integration: 'web', sender: 'owner' }, 1_000)
    expect(await status(request('GET', cookie(short)))).toBe('owner')
    await clock.advance(1_001)
    expect(await status(request('GET', cookie(short)))).toBe(401)
  })
})

describe('the page that asks', () => {
  it('[S7.web-origin] [I3.foreign-origin] a foreign Origin is refused, also with a good session', async () => {
    const { session, status } = await setUp()
    const origins = [
      'https://evil.example',
      'http://127.0.0.1:3000',
      'http://localhost:4747',
      'null',
      `http://${HOST}.evil.example`,
      `http://${HOST}/`,
      'file://',
    ]
    for (const origin of origins) {
      expect(await status(request('POST', { ...cookie(session), origin })), origin).toBe(403)
      expect(await status(request('GET', { ...cookie(session), origin }, '/stream')), origin).toBe(403)
      expect(await status(request('POST', { origin }, '/session')), origin).toBe(403)
    }
  })

  it('[S7.web-origin] our own Origin passes, by http or https', async () => {
    const { session, status } = await setUp()
    for (const origin of [`http://${HOST}`, `https://${HOST}`]) {
      expect(await status(request('POST', { ...cookie(session), origin }))).toBe('owner')
    }
  })

  it('[S7.web-origin] the public URL counts as ours, only its origin', async () => {
    const { session, status } = await setUp('https://sb.example.com/base/')
    const ask = (origin: string) => status(request('POST', { ...cookie(session), origin }))
    expect(await ask('https://sb.example.com')).toBe('owner')
    expect(await ask('http://sb.example.com')).toBe(403)
    expect(await ask('https://sb.example.com.evil.example')).toBe(403)
  })

  it('[I3.foreign-origin] a POST by cookie without an Origin is refused; a bearer needs none', async () => {
    const { session, status } = await setUp()
    expect(await status(request('POST', cookie(session)))).toBe(403)
    expect(await status(request('POST', { authorization: `Bearer ${session}` }))).toBe('owner')
  })

  it('[I3.foreign-origin] requests that a browser marks as from elsewhere are refused, ports count', async () => {
    const { session, status } = await setUp()
    for (const site of ['cross-site', 'same-site', 'odd']) {
      expect(await status(request('GET', { ...cookie(session), 'sec-fetch-site': site }))).toBe(403)
    }
    for (const site of ['same-origin', 'none']) {
      expect(await status(request('GET', { ...cookie(session), 'sec-fetch-site': site }))).toBe('owner')
    }
  })
})

describe('cookies', () => {
  it('are read by their whole name', () => {
    const of = (text: string) => cookieOf(request('GET', { cookie: text }), 'swb_chat')
    expect(of('swb_chat=abc')).toBe('abc')
    expect(of('xswb_chat=abc')).toBeNull()
    expect(of('swb_chat')).toBeNull()
    expect(of('swb_chat=')).toBeNull()
    expect(of('a=1;swb_chat=x=y;b=2')).toBe('x=y')
  })

  it('are Secure when the browser came over https', () => {
    expect(cameOverHttps(request('POST', { origin: `https://${HOST}` }))).toBe(true)
    expect(cameOverHttps(request('POST', { origin: `http://${HOST}` }))).toBe(false)
    expect(cameOverHttps(request('POST', { 'x-forwarded-proto': 'https, http' }))).toBe(true)
    expect(cameOverHttps(request('POST', {}))).toBe(false)
  })
})
