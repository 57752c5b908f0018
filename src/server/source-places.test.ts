// Connections by source: the limit of one source, and that others can still connect.
import { EventEmitter, once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, expect, it, vi } from 'vitest'
import { type Opened, openServer, TOKEN } from './fixtures/open-server.ts'
import { createSourcePlaces } from './source-places.ts'

const from = (remoteAddress: string) =>
  Object.assign(new EventEmitter(), { remoteAddress }) as unknown as Socket

it('[I14.source-places] a peer has a quarter, a proxy or this machine three; who leaves makes room', () => {
  let publicUrl: string | null = null
  const places = createSourcePlaces({ maxConnections: 8 }, () => publicUrl)
  const many = (address: string, count: number) =>
    Array.from({ length: count }, () => places.take(from(address)))
  expect(many('203.0.113.7', 4)).toEqual([true, true, false, false])
  expect(many('::ffff:203.0.113.8', 3)).toEqual([true, true, false])
  // For IPv6 the network counts.
  expect([...many('2001:db8:1:2::1', 2), ...many('2001:db8:1:2::9', 1)]).toEqual([true, true, false])
  expect(many('127.0.0.1', 7).filter(Boolean)).toHaveLength(6)
  const first = from('203.0.113.9')
  expect([places.take(first), places.take(first), places.take(first)]).toEqual([true, true, true])
  expect(many('203.0.113.9', 2)).toEqual([true, false])
  first.emit('close')
  expect(many('203.0.113.9', 2)).toEqual([true, false])
  publicUrl = 'https://sb.example.com'
  expect(many('203.0.113.10', 7).filter(Boolean)).toHaveLength(6)
})

let open: Opened | null = null
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await open?.server.close({ graceMs: 100 })
  open = null
})

it('[I14.source-places] one connection too many of a source is closed, and counted', async () => {
  // A loopback address that counts as reachable for others.
  const reached = { tcp: { host: '127.1', port: 0 }, limits: { maxConnections: 4 } }
  open = await openServer({ adminTokenConfigured: () => true }, reached)
  const { port, raw } = open
  const dial = () => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.on('error', () => {})
    sockets.push(socket)
    return socket
  }
  const held = [dial(), dial(), dial()]
  await Promise.all(held.map((socket) => once(socket, 'connect')))
  await once(dial(), 'close')
  expect(held.map(({ destroyed }) => destroyed)).toEqual([false, false, false])
  held[0]?.destroy()
  const metrics = () =>
    raw(`GET /metrics HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${TOKEN}\r\nconnection: close\r\n\r\n`)
  await vi.waitFor(
    async () => expect(await metrics()).toMatch(/^switchboard_connections_dropped_total [1-9]/m),
    5_000,
  )
})
