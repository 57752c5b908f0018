// Slow and huge bodies over many connections: what they cost in memory, and whether the next one still gets a place.
import { connect, type Socket } from 'node:net'
import { afterEach, expect, it, vi } from 'vitest'
import { type Endpoint, markVerified } from '../../src/contract/index.ts'
import { type Opened, openServer } from '../../src/server/fixtures/open-server.ts'

const ANONYMOUS = 600
const MEBIBYTE = 1_048_576
let open: Opened | null = null
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await open?.server.close({ graceMs: 100 })
  open = null
})

const hook = (headDecides: boolean): Endpoint => ({
  headDecides: () => headDecides,
  verify: (request) =>
    request.headers['x-secret'] === 's' ? markVerified(request, 'dev') : { status: 401, body: 'no' },
  handle: async () => ({ status: 200 }),
})
const signed = hook(false)
const decided = hook(true)
const endpoints = { hook: (id: string) => (id === 'signed' ? signed : decided), chat: () => null }
const settings = () => ({ maxBodyBytes: MEBIBYTE, publicUrl: null })
const almost = Buffer.alloc(MEBIBYTE - 1_000, 'x')

/** Declares a mebibyte, sends nearly all of it, and never ends. */
const attack = (path: string, port: number, answered: () => void) =>
  new Promise<void>((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    sockets.push(socket)
    socket.on('error', () => {})
    socket.once('data', answered)
    socket.on('close', () => resolve())
    socket.write(`POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${MEBIBYTE}\r\n\r\n`)
    socket.write(almost, () => resolve())
  })

const outside = () => {
  const { external, arrayBuffers } = process.memoryUsage()
  return Math.max(external, arrayBuffers)
}

it.each(['/hooks/signed', '/hooks/decided', '/api/messages', '/callback/x'])(
  '[I14.attack-bodies] 600 anonymous bodies at %s stay within the budget, and one with a credential gets through',
  async (path) => {
    const admit = async () => ({ status: 401 })
    open = await openServer({ endpoints, settings, mcp: { admit }, callbacks: { admit } })
    const { port, fetch } = open
    const before = outside()
    let most = before
    let answered = 0
    const sampling = setInterval(() => {
      most = Math.max(most, outside())
    }, 5)
    for (let sent = 0; sent < ANONYMOUS; sent += 100) {
      const one = () => attack(path, port, () => (answered += 1))
      await Promise.all(Array.from({ length: 100 }, one))
    }
    // No more are kept than half the budget holds; everybody else was told at once.
    const kept = path === '/hooks/signed' ? 33 : 0
    await vi.waitFor(() => expect(answered).toBeGreaterThanOrEqual(ANONYMOUS - kept), 20_000)
    clearInterval(sampling)
    // Half of 64 MiB, and what waits in the buffers of 600 sockets; without a budget it was a mebibyte each.
    expect((most - before) / MEBIBYTE).toBeLessThan(150)
    const own = await fetch('/hooks/decided', {
      method: 'POST',
      headers: { 'x-secret': 's' },
      body: 'x'.repeat(500_000),
    })
    expect(own.status).toBe(200)
  },
)

it('[I14.attack-bodies] a body by the byte does not outlive its patience, and gives its place back', async () => {
  const pace = { paceCheckMs: 20, paceGraceMs: 100, paceBytesPerSecond: 1_000, maxConnections: 50 }
  open = await openServer({ endpoints, settings }, { limits: pace })
  const { port, fetch } = open
  const slow = Array.from({ length: 49 }, () => {
    const socket = connect({ port, host: '127.0.0.1' })
    sockets.push(socket)
    socket.on('error', () => {})
    socket.resume()
    socket.write('POST /hooks/signed HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n')
    const drip = setInterval(() => socket.write('1\r\nx\r\n'), 30)
    return new Promise<void>((resolve) =>
      socket.on('close', () => {
        clearInterval(drip)
        resolve()
      }),
    )
  })
  await Promise.all(slow)
  await vi.waitFor(async () => expect((await fetch('/healthz')).status).toBe(200), 5_000)
})
