// Set-up that the server's tests share: a real listener over a fake desk and a fake hook, and ways to talk to it.
import { connect } from 'node:net'
import {
  type Desk,
  type Endpoint,
  markVerified,
  type Principal,
  type StatusReport,
  SwitchboardError,
} from '../contract/index.ts'
import { createRecordingLog } from '../testing/recording-log.ts'
import { createTestClock } from '../testing/test-clock.ts'
import { createServer, type Server, type ServerConfig } from './create-server.ts'
import type { ServerDeps } from './deps.ts'

export const TOKEN = 'admin-token-0815'

export const STATUS: StatusReport = {
  ready: true,
  node: 'n1',
  version: '0',
  uptime_ms: 1000,
  integrations: [{ id: 'demo', platform: 'webhook', link: 'up', last_in_at: null, last_out_at: null }],
  agents: [{ id: 'kate "k"', connector: 'demo', attached: true, queued: 2 }],
  counts: {
    received: 3,
    refused: 1,
    consumed: 0,
    queued: 2,
    handed: 0,
    seen: 0,
    answered: 0,
    failed: 0,
    expired: 0,
  },
  outbox: { queued: 0, sent: 1, deduplicated: 0, failed: 0, unknown: 0 },
  approvals: { pending: 1 },
  config: { digest: 'd', file: null, problem: null, warnings: [] },
  store: { kind: 'sqlite', durability: 'FULL' },
}

/** A desk whose verbs record the call; `answers` says what they give. */
export function fakeDesk(answers: Partial<Desk> = {}): { readonly desk: Desk; readonly calls: unknown[][] } {
  const calls: unknown[][] = []
  const watchers = new Set<(event: { kind: string; id: string }) => void>()
  const fixed: Partial<Desk> = {
    status: async () => STATUS,
    watch: (listen) => {
      watchers.add(listen)
      return () => watchers.delete(listen)
    },
    ...answers,
  }
  const desk = new Proxy({} as Desk, {
    get(_, verb: string) {
      if (verb === 'watchers') return watchers
      return (...given: unknown[]) => {
        calls.push([verb, ...given])
        const answer = (fixed as Record<string, ((...args: unknown[]) => unknown) | undefined>)[verb]
        return answer === undefined ? Promise.resolve([]) : answer(...given)
      }
    },
  })
  return { desk, calls }
}

/** Echoes the body; `?throw=CODE` throws, `?hold` waits for `release`, `/stream` streams. */
export function fakeHook() {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const hook: Endpoint = {
    verify(request) {
      if (request.headers['x-bad'] !== undefined) return { status: 401, body: 'no' }
      return markVerified(request, 'dev')
    },
    async handle({ request }) {
      const code = request.query.get('throw')
      if (code === 'bug') throw new Error('secret-in-a-bug')
      if (code !== null) throw new SwitchboardError(code as 'conflict', `it is ${code}`, { hint: 'try less' })
      if (request.query.has('hold')) await held
      if (request.path === '/stream') {
        return {
          status: 200,
          headers: { 'content-type': 'text/event-stream' },
          stream(sink) {
            sink.write(': connected\n\n')
            if (request.query.has('flood')) for (let n = 0; n < 64; n++) sink.write('x'.repeat(65_536))
          },
        }
      }
      const told = {
        path: request.path,
        near: request.fromLoopback,
        body: Buffer.from(request.body).toString(),
      }
      return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(told) }
    },
  }
  return { hook, release: () => release() }
}

const operator: Principal = { kind: 'operator', id: 'admin' }

export interface Opened {
  readonly server: Server
  readonly port: number
  readonly calls: unknown[][]
  readonly logLines: () => readonly string[]
  readonly release: () => void
  fetch(path: string, init?: RequestInit & { readonly host?: string }): Promise<Response>
  /** With the admin token; a body goes as JSON. */
  api(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{
    readonly status: number
    readonly json: Record<string, never> & { readonly [key: string]: unknown }
  }>
  /** Bytes over a bare socket, and all that comes back until it closes. */
  raw(bytes: string): Promise<string>
}

export async function openServer(
  more: Partial<ServerDeps> = {},
  config: Partial<ServerConfig> = {},
  answers: Partial<Desk> = {},
): Promise<Opened> {
  const { desk, calls } = fakeDesk(answers)
  const { hook, release } = fakeHook()
  const log = createRecordingLog()
  const server = createServer(
    { tcp: { host: '127.0.0.1', port: 0 }, socketPath: null, ...config },
    {
      clock: { ...createTestClock(1_700_000_000_000), after: realAfter },
      log,
      settings: () => ({ maxBodyBytes: 1_000, publicUrl: 'https://sb.example.com' }),
      desk,
      endpoints: { hook: (id) => (id === 'demo' ? hook : null), chat: () => hook },
      ready: () => ({ ready: true, detail: '' }),
      authenticate: async (bearer) => (bearer === TOKEN ? operator : null),
      authorize: (who) =>
        who.kind === 'operator' ? { allowed: true } : { allowed: false, reason: 'operators only' },
      adminTokenConfigured: () => false,
      webRoot: null,
      ...more,
    },
  )
  const port = (await server.listen()).port ?? 0
  const fetchFrom: Opened['fetch'] = (path, init = {}) =>
    fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual', ...init })
  return {
    server,
    port,
    calls,
    release,
    logLines: () => log.lines,
    fetch: fetchFrom,
    async api(method, path, body) {
      const headers = {
        authorization: `Bearer ${TOKEN}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      }
      const response = await fetchFrom(path, {
        method,
        headers,
        body: body === undefined ? null : JSON.stringify(body),
      })
      return {
        status: response.status,
        json: JSON.parse((await response.text()) || '{}') as Awaited<ReturnType<Opened['api']>>['json'],
      }
    },
    raw: (bytes) => talk({ port, host: '127.0.0.1' }, bytes),
  }
}

function realAfter(delayMs: number, run: () => void): () => void {
  const timer = setTimeout(run, delayMs)
  return () => clearTimeout(timer)
}

/** Writes bytes and gives back all that comes until the peer closes. */
export function talk(
  to: { readonly port: number; readonly host: string } | { readonly path: string },
  bytes: string,
): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(to)
    let text = ''
    socket.setEncoding('utf8')
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(text))
    socket.write(bytes)
  })
}
