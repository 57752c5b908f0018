// The page and its data endpoints behind a plain listener, on a river in memory. It does what the real daemon does, but
// a test can cut it off and move it by hand. chat.test.ts tests the real daemon.
import { randomBytes, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { join, normalize } from 'node:path'
import { type HttpReply, type InboundEvent, isReply, type RawRequest } from '../../src/contract/index.ts'
import { mintChatPath } from '../../src/platforms/web/index.ts'
import { SECURITY_HEADERS } from '../../src/server/reply.ts'
import { freePort } from '../../src/testing/free-port.ts'
import { createMemoryRiver, type MemoryRiver } from './memory-river.ts'

export interface RiverDouble extends MemoryRiver {
  readonly url: string
  chatLink(sender?: string): Promise<string>
  /** Stops listening and cuts every connection, as a kill would. */
  drop(): Promise<void>
  /** Closes the connections that wait for a next request. */
  closeIdle(): void
  /** Answers in place of the gateway, as a proxy in front of it would. With null the gateway answers. */
  instead: ((method: string, path: string) => HttpReply | null) | null
  /** Delays an answer of the gateway until this resolves. */
  late: ((path: string) => Promise<void>) | null
  /** Listens again on the same port. */
  comeBack(): Promise<void>
  close(): Promise<void>
}

export async function createRiverDouble(
  pages: string,
  answer?: (event: InboundEvent, river: RiverDouble) => void,
): Promise<RiverDouble> {
  const memory = await createMemoryRiver({
    clock: {
      now: () => Date.now(),
      after: (delayMs, run) => {
        const timer = setTimeout(run, delayMs)
        return () => clearTimeout(timer)
      },
    },
    random: { uuid: () => randomUUID(), bytes: (count) => randomBytes(count) },
    onReceived: (event) => void setImmediate(() => answer?.(event, river)),
  })
  const run = (request: IncomingMessage, response: ServerResponse): void => {
    const other = river.instead?.(request.method ?? 'GET', request.url ?? '/') ?? null
    if (other !== null) write(response, other)
    else serve(pages, river, request, response).catch(() => response.destroy())
  }
  let server = await listen(run, await freePort())
  const bound = server.address()
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  const river: RiverDouble = Object.assign(memory, {
    url: `http://127.0.0.1:${port}`,
    async chatLink(sender = 'owner') {
      return `http://127.0.0.1:${port}${(await mintChatPath(memory.tokens, { integration: 'web', sender })).path}`
    },
    drop: close,
    closeIdle: () => server.closeIdleConnections(),
    instead: null as RiverDouble['instead'],
    late: null as RiverDouble['late'],
    async comeBack() {
      server = await listen(run, port)
    },
    async close() {
      await memory.platform.stop()
      await close()
    },
  })
  return river
}

async function serve(
  pages: string,
  { platform, late }: RiverDouble,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://localhost')
  if (url.pathname === '/chat' && request.method === 'GET') return file(response, join(pages, 'index.html'))
  if (url.pathname.startsWith('/assets/')) return file(response, join(pages, normalize(url.pathname)))
  if (!url.pathname.startsWith('/chat/')) return void response.writeHead(404).end()
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const raw: RawRequest = {
    method: request.method ?? 'GET',
    path: url.pathname.slice('/chat'.length),
    query: url.searchParams,
    headers: request.headers,
    body: Buffer.concat(chunks),
    fromLoopback: true,
  }
  const outcome = await platform.endpoint?.verify(raw)
  if (outcome === undefined) return void response.writeHead(404).end()
  const reply = isReply(outcome) ? outcome : await platform.endpoint?.handle(outcome)
  await late?.(url.pathname)
  if (reply !== undefined) write(response, reply)
}

function write(response: ServerResponse, reply: HttpReply): void {
  response.writeHead(reply.status, reply.headers)
  if (reply.stream === undefined) return void response.end(reply.body)
  response.flushHeaders()
  reply.stream({
    write: (chunk) => void response.write(chunk),
    drained: async () => {},
    get closed() {
      return response.closed || response.destroyed
    },
    onClose: (run) => void response.on('close', run),
    end: () => void response.end(),
  })
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript',
  css: 'text/css',
  svg: 'image/svg+xml',
}

function file(response: ServerResponse, path: string): void {
  const type = TYPES[path.split('.').at(-1) ?? ''] ?? 'application/octet-stream'
  response.writeHead(200, { 'content-type': type, ...SECURITY_HEADERS })
  response.end(readFileSync(path))
}

function listen(
  run: (request: IncomingMessage, response: ServerResponse) => void,
  port: number,
): Promise<Server> {
  const server = createServer(run)
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}
