// Silent peers: they make room for others, and do not delay the end of the daemon.
import { EventEmitter, once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { afterEach, expect, it, vi } from 'vitest'
import { createTestClock } from '../testing/test-clock.ts'
import { createConnections } from './connections.ts'
import { type Opened, openServer, TOKEN } from './fixtures/open-server.ts'

let open: Opened | null = null
const sockets: Socket[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const socket of sockets.splice(0)) socket.destroy()
  await open?.server.close({ graceMs: 100 })
  open = null
})

/** A peer that keeps its own side open, whatever it receives. */
async function dial(bytes = ''): Promise<{ readonly socket: Socket; text: string; closed: boolean }> {
  const socket = connect({ port: open?.port ?? 0, host: '127.0.0.1', allowHalfOpen: true })
  const peer = { socket, text: '', closed: false }
  sockets.push(socket)
  socket.setEncoding('utf8')
  socket.on('error', () => {})
  socket.on('data', (chunk: string) => {
    peer.text += chunk
  })
  for (const end of ['end', 'close'])
    socket.on(end, () => {
      peer.closed = true
    })
  await once(socket, 'connect')
  if (bytes !== '') socket.write(bytes)
  return peer
}

const GET = 'GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n'
const ask = async () => {
  const peer = await dial(GET)
  await vi.waitFor(() => expect(peer.text === '' && !peer.closed).toBe(false), 10_000)
  return peer.text.slice(9, 12)
}

it('[I35.b37] 1,024 peers that say nothing, or half a word, keep nobody out', async () => {
  const clock = createTestClock(1_700_000_000_000)
  open = await openServer({ clock })
  const silent = await Promise.all(
    Array.from({ length: 1_024 }, (_, at) => dial(at % 2 === 0 ? '' : 'GET /healthz HTTP/1.1\r\nhost:')),
  )
  await clock.advance(1_000)
  const answers: string[] = []
  for (let at = 0; at < 5; at++) answers.push(await ask())
  expect(answers).toEqual(['200', '200', '200', '200', '200'])
  expect(silent.filter(({ closed }) => closed).length).toBeGreaterThan(0)
}, 30_000)

it('[I35.b37] the longest silent one goes before any place is refused, and what has work stays', async () => {
  const clock = createTestClock(1_700_000_000_000)
  open = await openServer({ clock }, { limits: { maxConnections: 8 } })
  const held = await dial('POST /hooks/demo?hold HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\nhi')
  const oldest = await dial()
  await vi.waitFor(async () => expect(await ask()).toBe('200'))
  await clock.advance(1_000)
  for (let at = 0; at < 20; at++) expect(await ask()).toBe('200')
  await vi.waitFor(() => expect(oldest.closed).toBe(true))
  open.release()
  await vi.waitFor(() => expect(held.text).toContain(' 200 '))
})

function peers() {
  const clock = createTestClock(1_700_000_000_000)
  const connections = createConnections(16, clock)
  const come = (count: number) =>
    Array.from({ length: count }, () => {
      const socket = new PassThrough()
      connections.take(socket)
      return socket
    })
  return { clock, connections, come }
}

it('[I35.b37] a crowd that came at once makes room once it has had its time, before anybody else comes', async () => {
  const { clock, connections, come } = peers()
  const gone = (some: readonly PassThrough[]) => some.filter(({ destroyed }) => destroyed).length
  const crowd = come(16)
  expect(gone(crowd)).toBe(0)
  await clock.advance(1_000)
  // Two of sixteen places stay free, and one is for the newcomer.
  expect([gone(crowd.slice(0, 3)), gone(crowd)]).toEqual([3, 3])
  // If the others are working, every silent peer is dropped after its time.
  for (const socket of [...crowd.slice(3), ...come(1)])
    connections.work(socket, new EventEmitter() as ServerResponse)
  const first = come(1)
  await clock.advance(600)
  const second = come(1)
  await clock.advance(400)
  expect([gone(first), gone(second)]).toEqual([1, 0])
  await clock.advance(1_000)
  expect([gone(second), gone(crowd)]).toEqual([1, 3])
})

it('[I35.b19c] peers without a request in work delay the end by nothing', async () => {
  const clock = createTestClock(1_700_000_000_000)
  // Neither the grace nor the time for a refused peer passes here.
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  open = await openServer({ clock, attach: { admit: () => Promise.reject(new Error('nobody')) } })
  const bearer = `authorization: Bearer ${TOKEN}\r\n`
  const upgrade =
    'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: x\r\nsec-websocket-version: 13\r\n'
  const told = [
    await dial('not http at all\r\n\r\n'),
    await dial(GET),
    await dial('POST /hooks/demo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 999999\r\n\r\nx'),
    await dial(`POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 90000\r\n${bearer}\r\nx`),
    await dial(`GET /attach HTTP/1.1\r\nhost: localhost\r\n${upgrade}\r\n`),
  ]
  const silent = [await dial(), await dial('GET /healthz HTTP/1.1\r\nhost: lo')]
  while (told.some(({ text }) => text === '')) await new Promise((resolve) => setImmediate(resolve))
  await open.server.close({ graceMs: 10_000 })
  for (const { socket } of [...told, ...silent]) if (!socket.destroyed) socket.destroy()
  expect(told.map(({ text }) => text.slice(9, 12))).toEqual(['400', '200', '413', '413', '401'])
})

it('[I35.b19c] whoever comes or is answered during the end goes at once, though they keep their own side open', async () => {
  const { connections, come } = peers()
  const [busy, speaking] = come(2)
  if (busy === undefined || speaking === undefined) throw new Error('nobody came')
  const response = new EventEmitter()
  connections.work(busy, response as ServerResponse)
  connections.upgrade(speaking)
  connections.drain()
  expect([busy.destroyed, speaking.destroyed]).toEqual([false, false])
  response.emit('close')
  speaking.end()
  await once(speaking, 'finish')
  expect([busy, speaking, ...come(1)].map(({ destroyed }) => destroyed)).toEqual([true, true, true])
})
