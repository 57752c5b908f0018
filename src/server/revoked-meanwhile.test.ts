// A slow body: the credential of the head is checked again before the body is used.
import { connect, type Socket } from 'node:net'
import { afterEach, expect, it, vi } from 'vitest'
import { type Endpoint, markVerified, SwitchboardError } from '../contract/index.ts'
import { createTestClock } from '../testing/test-clock.ts'
import { type Opened, openServer, TOKEN } from './fixtures/open-server.ts'

let open: Opened | null = null
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await open?.server.close({ graceMs: 100 })
  open = null
})

/** Endpoints that accept a valid credential, and their requests. */
async function setUp() {
  let good = true
  let now = 1_700_000_000_000
  const taken: string[] = []
  const asked: string[] = []
  const look = (door: string) => {
    asked.push(door)
    return good
  }
  const endpoint = (door: string): Endpoint => ({
    headDecides: () => true,
    verify: (request) => (look(door) ? markVerified(request, 'dev') : { status: 401, body: 'no' }),
    handle: async () => ({ status: 200, body: String(taken.push(door)) }),
  })
  const admit = (door: string, refusal: number) => ({
    admit: async () => {
      if (!look(door)) {
        if (refusal === 404) throw new SwitchboardError('not_found', 'there is nothing at this path')
        return { status: refusal }
      }
      return async () => ({ status: 200, body: String(taken.push(door)) })
    },
  })
  open = await openServer({
    clock: { ...createTestClock(), now: () => now },
    endpoints: { hook: () => endpoint('hook'), chat: () => endpoint('chat') },
    mcp: admit('mcp', 401),
    callbacks: admit('callback', 404),
    inbox: admit('inbox', 404),
    authenticate: async () => (look('api') ? { kind: 'operator', id: 'admin' } : null),
  })
  const { port, calls } = open
  const begin = (path: string) => {
    const socket = connect({ port, host: '127.0.0.1' })
    sockets.push(socket)
    const talk = { text: '', finish: () => socket.write('}') }
    socket.on('data', (chunk) => {
      talk.text += String(chunk)
    })
    const head = `host: localhost\r\nauthorization: Bearer ${TOKEN}\r\ncontent-type: application/json\r\n`
    socket.write(`POST ${path} HTTP/1.1\r\n${head}content-length: 2\r\nconnection: close\r\n\r\n{`)
    return talk
  }
  return {
    ...{ begin, taken, asked, calls },
    pass: (ms: number) => {
      now += ms
    },
    revoke: () => {
      good = false
    },
  }
}

const DOORS = [
  ['/hooks/ci', 'hook', 401],
  ['/chat/messages', 'chat', 401],
  ['/mcp', 'mcp', 401],
  ['/callback/x', 'callback', 404],
  ['/inbox/x', 'inbox', 404],
  ['/api/reload', 'api', 401],
] as const
const answered = (talk: { readonly text: string }, status: number) =>
  vi.waitFor(() => expect(talk.text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `)), 5_000)

it.each(DOORS)('[I14.revoked-meanwhile] %s', async (path, door, refusal) => {
  const { begin, taken, asked, calls, pass, revoke } = await setUp()
  const talk = begin(path)
  await vi.waitFor(() => expect(asked).toEqual([door]), 5_000)
  revoke()
  pass(5_000)
  talk.finish()
  await answered(talk, refusal)
  expect([taken, calls]).toEqual([[], []])
})

it.each(DOORS)(
  'a body that comes at once, or slowly under a good credential, is taken once: %s',
  async (path, door) => {
    const { begin, taken, asked, calls, pass } = await setUp()
    const quick = begin(path)
    await vi.waitFor(() => expect(asked).toEqual([door]), 5_000)
    quick.finish()
    await answered(quick, 200)
    expect(asked).toEqual([door])
    const slow = begin(path)
    await vi.waitFor(() => expect(asked).toHaveLength(2), 5_000)
    pass(5_000)
    slow.finish()
    await answered(slow, 200)
    expect(asked).toHaveLength(3)
    expect(door === 'api' ? calls.length : taken.length).toBe(2)
  },
)
