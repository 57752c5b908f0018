// Request bodies: a credential in the head is checked first, and all bodies together are limited.
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Endpoint, markVerified } from '../contract/index.ts'
import { createTestClock } from '../testing/test-clock.ts'
import { createBodyBudget } from './body-budget.ts'
import { DEFAULT_LIMITS } from './deps.ts'
import { type Opened, openServer, TOKEN } from './fixtures/open-server.ts'

let open: Opened | null = null
const sockets: Socket[] = []
const opened = async (...how: Parameters<typeof openServer>): Promise<Opened> => {
  open = await openServer(...how)
  return open
}
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await open?.server.close({ graceMs: 100 })
  open = null
})

const hook = (headDecides: boolean): Endpoint => ({
  headDecides: () => headDecides,
  verify: (request) =>
    request.headers['x-secret'] === 's' ? markVerified(request, 'dev') : { status: 401, body: 'no' },
  handle: async ({ request }) => ({ status: 200, body: String(request.body.byteLength) }),
})
const hooks = { decided: hook(true), signed: hook(false) } as Readonly<Record<string, Endpoint>>
const endpoints = { hook: (id: string) => hooks[id] ?? null, chat: () => hook(true) }
const large = () => ({ maxBodyBytes: 1_000_000, publicUrl: null })

/** Sends the head and the beginning of a body, and returns the answer. */
const begin = async (path: string, headers: string, body = 'x'.repeat(10)) => {
  const socket = connect({ port: open?.port ?? 0, host: '127.0.0.1' })
  sockets.push(socket)
  const talk = { socket, text: '', closed: false }
  socket.on('data', (chunk) => {
    talk.text += String(chunk)
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    talk.closed = true
  })
  socket.write(`POST ${path} HTTP/1.1\r\nhost: localhost\r\n${headers}content-length: 900000\r\n\r\n${body}`)
  return talk
}
const answered = (talk: { readonly text: string }, status: number) =>
  vi.waitFor(() => expect(talk.text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `)), 5_000)

describe('the head first', () => {
  it('[I14.body-credential] a wrong credential is answered before the body came, and the connection ends', async () => {
    const admit = async () => ({ status: 404 })
    const mcp = { admit: async () => ({ status: 401 }) }
    await opened({ endpoints, settings: large, mcp, callbacks: { admit }, inbox: { admit } })
    const refused = [
      ['/hooks/decided', '', 401],
      ['/chat/x', 'x-secret: no\r\n', 401],
      ['/api/messages', 'authorization: Bearer wrong\r\n', 401],
      ['/api/messages', '', 401],
      ['/mcp', '', 401],
      ['/callback/x', '', 404],
      ['/inbox/x', '', 404],
      ['/attach', '', 426],
    ] as const
    const talks = await Promise.all(refused.map(([path, headers]) => begin(path, headers)))
    for (const [at, [, , status]] of refused.entries()) await answered(talks[at] ?? { text: '' }, status)
    await vi.waitFor(() => expect(talks.map(({ closed }) => closed)).toEqual(refused.map(() => true)), 5_000)
  })

  it('[I14.body-credential] 100 Continue is said only to whom the body is wanted from', async () => {
    await opened({ endpoints, settings: large })
    const no = await begin('/hooks/decided', 'expect: 100-continue\r\n', '')
    await answered(no, 401)
    const yes = await begin('/hooks/decided', 'x-secret: s\r\nexpect: 100-continue\r\n', '')
    await answered(yes, 100)
    yes.socket.write('x'.repeat(900_000))
    await vi.waitFor(() => expect(yes.text).toMatch(/HTTP\/1\.1 200 [\s\S]*900000$/), 5_000)
  })

  it('[I14.body-credential] a small body that was refused does not cost the connection', async () => {
    const { raw } = await opened({ endpoints })
    const one = (more: string) =>
      `POST /hooks/decided HTTP/1.1\r\nhost: localhost\r\n${more}content-length: 5\r\n\r\nhello`
    const text = await raw(one('') + one('x-secret: s\r\nconnection: close\r\n'))
    expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1])).toEqual(['401', '200'])
  })
})

describe('all together', () => {
  const limits = { bodiesBytes: 4_000_000 }
  const half = 'x'.repeat(800_000)

  it('[I14.body-budget] over the budget 503 with Retry-After, and what was held is given back', async () => {
    const { fetch } = await opened({ endpoints, settings: large }, { limits })
    const held = await Promise.all(
      [1, 2, 3, 4, 5].map(() => begin('/hooks/decided', 'x-secret: s\r\n', half)),
    )
    const last = await begin('/hooks/decided', 'x-secret: s\r\n', half)
    const all = [...held, last]
    await vi.waitFor(() => expect(all.some(({ text }) => text.startsWith('HTTP/1.1 503 '))).toBe(true), 5_000)
    const over = all.find(({ text }) => text !== '')
    expect(over?.text.toLowerCase()).toMatch(/\r\nretry-after: \d+\r\n/)
    await vi.waitFor(() => expect(over?.closed).toBe(true), 5_000)
    for (const { socket } of all) socket.destroy()
    const send = () =>
      fetch('/hooks/decided', { method: 'POST', headers: { 'x-secret': 's' }, body: half }).then(
        (r) => r.status,
      )
    await vi.waitFor(async () => expect(await send()).toBe(200), 5_000)
    // Bodies in sequence never add up.
    for (let n = 0; n < 10; n += 1) expect(await send()).toBe(200)
  })

  it('[I14.body-source] one source that proved nothing takes a quarter of their half, and gives it back', async () => {
    const budget = createBodyBudget({ ...DEFAULT_LIMITS, bodiesBytes: 8_000 }, createTestClock())
    let shared = false
    const server = createServer((request, response) => {
      const how = { maxBytes: 1_000, proven: request.headers['x-proven'] !== undefined, shared }
      budget.read(request, response, how, (body) =>
        response.writeHead(typeof body === 'string' ? 503 : 200).end(),
      )
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const dial = (more = '', body = 'x'.repeat(900)) => {
      const socket = connect({ port, host: '127.0.0.1' })
      sockets.push(socket)
      const talk = { text: '', socket }
      socket.on('error', () => {})
      socket.on('data', (chunk) => {
        talk.text += String(chunk)
      })
      socket.write(`POST / HTTP/1.1\r\nhost: x\r\n${more}content-length: 1000\r\n\r\n${body}`)
      return talk
    }
    const first = dial()
    await vi.waitFor(() => expect(budget.held).toBe(900), 5_000)
    await answered(dial(), 503)
    // The limit does not apply to proven senders, and to sources that stand for many.
    const proven = dial('x-proven: 1\r\n')
    await vi.waitFor(() => expect(budget.held).toBe(1_800), 5_000)
    shared = true
    dial()
    await vi.waitFor(() => expect(budget.held).toBe(2_700), 5_000)
    shared = false
    for (const { socket } of [first, proven]) socket.destroy()
    await vi.waitFor(() => expect(budget.held).toBe(900), 5_000)
    const next = dial()
    await vi.waitFor(() => expect(budget.held).toBe(1_800), 5_000)
    next.socket.write('x'.repeat(100))
    await answered(next, 200)
    budget.stop()
    server.close()
    server.closeAllConnections()
  })

  it('[I14.body-budget] whoever has not proven who they are takes at most half of it', async () => {
    const { fetch } = await opened({ endpoints, settings: large }, { limits })
    const strangers = await Promise.all([1, 2, 3, 4, 5, 6].map(() => begin('/hooks/signed', '', half)))
    await vi.waitFor(() =>
      expect(strangers.filter(({ text }) => text.startsWith('HTTP/1.1 503 '))).toHaveLength(4),
    )
    const own = await fetch('/hooks/decided', { method: 'POST', headers: { 'x-secret': 's' }, body: half })
    expect(own.status).toBe(200)
    const stranger = await fetch('/hooks/signed', {
      method: 'POST',
      headers: { 'x-secret': 's' },
      body: half,
    })
    expect(stranger.status).toBe(503)
  })

  it('[I14.connection-budget] a body that does not keep the pace gets 408, one that does gets through', async () => {
    const pace = { paceCheckMs: 20, paceGraceMs: 60, paceBytesPerSecond: 1_000 }
    await opened({ endpoints, settings: large }, { limits: pace })
    const silent = await begin('/hooks/decided', 'x-secret: s\r\n', '')
    const slow = await begin('/hooks/decided', 'x-secret: s\r\n', 'x')
    const good = await begin('/hooks/decided', 'x-secret: s\r\n', 'x'.repeat(100_000))
    await Promise.all([answered(silent, 408), answered(slow, 408)])
    expect(good.text).toBe('')
    good.socket.write('x'.repeat(800_000))
    await answered(good, 200)
  })

  it('[I35.b19c-body] a body that never ends holds the end of the daemon up for a second, and one that comes is taken', async () => {
    const clock = createTestClock()
    const { server } = await opened({ endpoints, settings: large, clock })
    const wait = 'expect: 100-continue\r\n'
    const stranger = await begin('/hooks/signed', `x-secret: no\r\n${wait}`)
    const known = await begin('/hooks/signed', `x-secret: s\r\n${wait}`)
    await Promise.all([answered(stranger, 100), answered(known, 100)])
    const ended = server.close({ graceMs: 10_000 })
    known.socket.write('x'.repeat(899_990))
    await vi.waitFor(() => expect(known.text).toContain('HTTP/1.1 200 '), 5_000)
    expect(stranger.text).not.toContain('HTTP/1.1 503 ')
    await clock.advance(1_000)
    await ended
    await vi.waitFor(() => expect(stranger.text).toContain('HTTP/1.1 503 '), 5_000)
  })

  it('[I14.connection-budget] connections over the cap are closed, and idle ones make room', async () => {
    const { fetch, port } = await opened({ settings: large }, { limits: { maxConnections: 5 } })
    const idle = await Promise.all([1, 2, 3, 4, 5].map(() => begin('/hooks/nobody', '', '')))
    await Promise.all(idle.map((talk) => answered(talk, 404)))
    const more = connect({ port, host: '127.0.0.1' })
    sockets.push(more)
    await new Promise((resolve) => more.once('close', resolve))
    for (const { socket } of idle) socket.destroy()
    await vi.waitFor(async () => expect((await fetch('/healthz')).status).toBe(200), 5_000)
    const authorization = `Bearer ${TOKEN}`
    const text = await (await fetch('/metrics', { headers: { authorization } })).text()
    expect(text).toMatch(/^switchboard_connections_dropped_total [1-9]/m)
  })
})
