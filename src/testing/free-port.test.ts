// A reserved port. The kernel gives it to no other process, and the server that names it gets it.
import { type AddressInfo, createConnection, createServer, type Server } from 'node:net'
import { expect, it } from 'vitest'
import { freePort } from './free-port.ts'

function listen(port: number): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => undefined).end('hello'))
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}

const close = (server: Server) => new Promise((resolve) => server.close(resolve))
const portOf = (server: Server) => (server.address() as AddressInfo).port

it('[I35.a0-ports] is held until a server listens on it, and while that server is down', async () => {
  const ports = await Promise.all(Array.from({ length: 200 }, freePort))
  expect(new Set(ports).size).toBe(ports.length)
  const [port = 0] = ports
  for (let starts = 0; starts < 3; starts++) {
    const server = await listen(port)
    const text = await new Promise<string>((resolve, reject) => {
      const socket = createConnection({ port, host: '127.0.0.1' })
      socket.once('data', (chunk) => resolve(String(chunk))).once('error', reject)
    })
    expect(text).toBe('hello')
    await close(server)
  }
  const given = new Set<number>()
  for (let tries = 0; tries < 2_000; tries++) {
    const server = await listen(0)
    given.add(portOf(server))
    await close(server)
  }
  expect(ports.filter((one) => given.has(one))).toEqual([])
})
