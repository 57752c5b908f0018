// The listener of an emulated platform, on loopback. It can cut all connections at once, and it limits bodies.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'

export interface FakeServer {
  /** The URL without a slash at its end. */
  readonly url: string
  /** Ends every connection without an answer. */
  cut(): void
  stop(): Promise<void>
}

export async function openFakeServer(options: {
  readonly port: number | undefined
  readonly handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>
  readonly upgrade?: (request: IncomingMessage, raw: Duplex, head: Buffer) => void
}): Promise<FakeServer> {
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    options.handle(request, response).catch(() => response.destroy())
  })
  if (options.upgrade) server.on('upgrade', options.upgrade)
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    async stop() {
      cut()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** Returns the body, or null if it is larger than `most`. */
export async function bytesOf(request: IncomingMessage, most: number): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    chunks.push(chunk as Buffer)
    size += (chunk as Buffer).length
    if (size > most) return null
  }
  return Buffer.concat(chunks)
}
