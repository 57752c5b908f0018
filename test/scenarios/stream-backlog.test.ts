// Readers that are far behind, over real sockets: the stream of a hook and of the web chat, row by row.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { HttpReply, PlatformAdapter, TranscriptEntry } from '../../src/contract/index.ts'
import { SESSION_KIND } from '../../src/platforms/web/config.ts'
import { fakeDeps, request, SECRET } from '../../src/platforms/webhook/fixtures/webhook-requests.ts'
import { createWebhook } from '../../src/platforms/webhook/index.ts'
import { writeStream } from '../../src/server/reply.ts'
import { createTestClock, createTestRandom } from '../../src/testing/test-clock.ts'
import { createMemoryRiver } from '../browser/memory-river.ts'
import { until } from '../faults/until.ts'

interface Place {
  readonly adapter: PlatformAdapter
  open(): Promise<HttpReply>
}

const said = (conversation: string, count: number, chars: number): readonly TranscriptEntry[] =>
  Array.from({ length: count }, (_, index) => {
    const text = `message ${index + 1} ${'x'.repeat(chars)}`
    const row = { seq: index + 1, direction: 'out', id: `o_${index + 1}`, conversation, at: 0, text } as const
    return { ...row, state: 'sent', reason: null, op: { kind: 'text', text } }
  })

async function hook(count: number, chars: number): Promise<Place> {
  const deps = fakeDeps({ secret: 'env:HOOK', two_way: true })
  deps.rows.push(...said('webhook', count, chars))
  const adapter = createWebhook(deps)
  const headers = { authorization: `Bearer ${SECRET}`, 'last-event-id': '0' }
  return { adapter, open: () => ask(adapter, { path: '/events', headers }) }
}

async function chat(count: number, chars: number): Promise<Place> {
  const river = await createMemoryRiver({ clock: createTestClock(), random: createTestRandom() })
  river.rows.push(...said('owner', count, chars))
  const scope = { integration: river.deps.integration.id, sender: 'owner' }
  const { token } = await river.deps.tokens.mint({ kind: SESSION_KIND, scope, ttlMs: null })
  const headers = { authorization: `Bearer ${token}`, 'last-event-id': 'i0.o0' }
  return { adapter: river.platform, open: () => ask(river.platform, { path: '/stream', headers }) }
}

async function ask(adapter: PlatformAdapter, more: Parameters<typeof request>[0]): Promise<HttpReply> {
  const raw = request({ method: 'GET', text: '', ...more })
  const verified = await adapter.endpoint?.verify(raw)
  if (verified === undefined || 'status' in verified) throw new Error(`refused: ${verified?.status}`)
  const reply = await adapter.endpoint?.handle(verified)
  if (reply?.stream === undefined) throw new Error('no stream')
  return reply
}

describe.each([
  ['a hook', hook],
  ['the web chat', chat],
])('the stream of %s', (_, make) => {
  const ends: (() => void)[] = []
  afterEach(() => {
    for (const end of ends.splice(0)) end()
  })

  async function serve(place: Place, stallMs: number): Promise<number> {
    const server = createServer((_request, response) => {
      void place.open().then((reply) => {
        if (reply.stream)
          writeStream(response, { ...reply, stream: reply.stream }, { backlogBytes: 262_144, stallMs })
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    ends.push(() => {
      server.closeAllConnections()
      server.close()
    })
    return (server.address() as AddressInfo).port
  }

  it('[I14.stream-backlog] gives a reader that is far behind everything', async () => {
    const port = await serve(await make(150, 13_000), 60_000)
    const socket = connect(port, '127.0.0.1')
    ends.push(() => socket.destroy())
    let text = ''
    let closed = false
    socket.on('data', (chunk) => {
      text += chunk
      // It reads slowly: a little, then nothing for a while.
      socket.pause()
      setImmediate(() => socket.resume())
    })
    socket.on('close', () => {
      closed = true
    })
    socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
    await until('the last message, or the end', () => closed || text.includes('message 150 '))
    expect(closed).toBe(false)
    for (let count = 1; count <= 150; count++) expect(text).toContain(`message ${count} `)
  })

  it('[I14.stream-stalled] lets a reader go that reads nothing at all, and its place is free', async () => {
    const place = await make(300, 100_000)
    const port = await serve(place, 100)
    const socket = connect(port, '127.0.0.1')
    ends.push(() => socket.destroy())
    socket.pause()
    socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
    await until('it listens', () => place.adapter.watchers?.listening())
    await until('it is let go', () => !place.adapter.watchers?.listening())
    expect(socket.isPaused()).toBe(true)
  })
})
