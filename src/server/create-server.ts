// The only HTTP server: it listens on TCP and on the local control socket, and ends in order.
import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { SwitchboardError } from '../contract/index.ts'
import type { Api } from './api/api.ts'
import { createUpgrades } from './attach-upgrade.ts'
import { type BodyBudget, createBodyBudget } from './body-budget.ts'
import { type Connections, createConnections } from './connections.ts'
import { listenOnSocket } from './control-socket.ts'
import { DEFAULT_LIMITS, type ServerDeps, type ServerLimits } from './deps.ts'
import { createEventStreams } from './events.ts'
import { handleRequest } from './handle-request.ts'
import { isLoopbackListener, type ListenerView } from './host-guard.ts'
import { createMetrics } from './metrics.ts'
import { errorReply } from './reply.ts'
import type { RequestContext } from './request-context.ts'
import { createSourcePlaces } from './source-places.ts'
import { createWebFiles } from './web-files.ts'
import { createWrongCredentials } from './wrong-credentials.ts'

/** `orNext`: if the port is taken, the next free one is used. */
export interface TcpPlace {
  readonly host: string
  readonly port: number
  readonly orNext?: boolean
}

export interface ServerConfig {
  /** Null: no TCP listener. */
  readonly tcp: TcpPlace | null
  /** Null: no control socket. */
  readonly socketPath: string | null
  readonly limits?: Partial<ServerLimits>
}

export interface Server {
  /** Resolves when both listeners are open. Throws `config_invalid` for a public address without an admin token. */
  listen(): Promise<{ readonly port: number | null }>
  /**
   * Answers requests with 503 from now on. Requests in flight continue. `new`: refuses requests with new messages, but
   * still serves agents and operators. `all`: refuses every request but /healthz.
   */
  drain(what: 'new' | 'all'): void
  /** Drains, ends the streams, and waits at most `graceMs` for requests in flight. It may be called twice. */
  close(options: { readonly graceMs: number }): Promise<void>
}

export function createServer(config: ServerConfig, deps: ServerDeps): Server {
  const limits: ServerLimits = { ...DEFAULT_LIMITS, ...config.limits }
  const wrong = createWrongCredentials(limits, deps)
  const metrics = createMetrics(deps, wrong.totals)
  const budgets: BodyBudget[] = []
  const streams = new Set<ServerResponse>()
  const listeners: { readonly server: HttpServer; readonly peers: Connections }[] = []
  let draining = false
  let finishing = false
  let loading: Promise<Api> | null = null
  let closing: Promise<void> | null = null
  const upgrades = createUpgrades(deps, { draining: () => draining, wrong })

  const context: RequestContext = {
    deps,
    limits,
    metrics,
    streams,
    wrong,
    events: createEventStreams(deps, limits.heartbeatMs),
    files: createWebFiles(deps.webRoot),
    draining: () => draining,
    finishing: () => finishing,
    api: () => {
      loading ??= Promise.all([import('./api/api.ts'), deps.operations()]).then(
        ([{ createApi }, operations]) => createApi(deps, operations),
      )
      return loading
    },
  }

  function open(view: ListenerView): HttpServer {
    const listener = { ...view, bodies: createBodyBudget(limits, deps.clock) }
    budgets.push(listener.bodies)
    const peers = createConnections(limits.maxConnections, deps.clock)
    const server = createHttpServer(
      {
        maxHeaderSize: limits.maxHeaderBytes,
        headersTimeout: limits.headersTimeoutMs,
        requestTimeout: limits.requestTimeoutMs,
        keepAliveTimeout: limits.keepAliveMs,
        connectionsCheckingInterval: limits.timeoutCheckMs,
        noDelay: true,
      },
      (request, response) => take(request, response),
    )
    const take = (request: IncomingMessage, response: ServerResponse) => {
      peers.work(request.socket, response)
      handleRequest(context, listener, request, response)
    }
    // 100 Continue is sent when the body is wanted.
    server.on('checkContinue', take)
    server.maxConnections = limits.maxConnections
    server.on('drop', () => {
      metrics.countDropped()
      peers.makeRoom()
    })
    server.on('connection', peers.take)
    if (!view.loopback) {
      const places = createSourcePlaces(limits, () => deps.settings().publicUrl)
      server.on('connection', (socket) => {
        if (places.take(socket)) return
        metrics.countDropped()
        socket.destroy()
      })
    }
    server.on('upgrade', (request, socket, head) => {
      peers.upgrade(socket)
      upgrades.take(server, view, request, socket, head)
    })
    server.on('clientError', refuseMalformed)
    listeners.push({ server, peers })
    return server
  }

  return {
    async listen() {
      let port: number | null = null
      if (config.tcp !== null) {
        const { host } = config.tcp
        const loopback = isLoopbackListener(host)
        if (!loopback && !deps.adminTokenConfigured()) throw publicWithoutToken(host)
        port = await listenOnTcp(open({ local: false, loopback }), config.tcp)
      }
      if (config.socketPath !== null)
        await listenOnSocket(open({ local: true, loopback: true }), config.socketPath)
      return { port }
    },
    drain(what) {
      draining = true
      finishing = what === 'new'
    },
    close({ graceMs }) {
      closing ??= (async () => {
        draining = true
        finishing = false
        for (const stream of streams) stream.end()
        upgrades.close()
        for (const budget of budgets) budget.drain()
        await Promise.all(listeners.map((listener) => stop(listener, graceMs, deps)))
        for (const budget of budgets) budget.stop()
        await wrong.stop()
        metrics.stop()
      })()
      return closing
    },
  }
}

function stop(
  { server, peers }: { readonly server: HttpServer; readonly peers: Connections },
  graceMs: number,
  deps: ServerDeps,
): Promise<void> {
  if (!server.listening) return Promise.resolve()
  return new Promise((resolve) => {
    const cancel = deps.clock.after(graceMs, () => peers.end())
    server.close(() => {
      cancel()
      resolve()
    })
    peers.drain()
  })
}

/** The number of ports that are tried after the usual one. */
const PORTS_TRIED = 50

async function listenOnTcp(server: HttpServer, { host, port, orNext }: TcpPlace): Promise<number> {
  const last = orNext === true && port > 0 ? Math.min(port + PORTS_TRIED, 65_535) : port
  for (let at = port; ; at += 1) {
    const problem = await tryToListen(server, { host, port: at })
    if (problem === null) return (server.address() as AddressInfo).port
    if (problem.code !== 'EADDRINUSE' || at >= last) throw cannotListen(problem, { host, port })
  }
}

function tryToListen(
  server: HttpServer,
  at: { readonly host: string; readonly port: number },
): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    server.once('error', resolve)
    server.listen(at, () => {
      server.off('error', resolve)
      resolve(null)
    })
  })
}

function publicWithoutToken(host: string): SwitchboardError {
  return new SwitchboardError(
    'config_invalid',
    `server.host ${host} is no loopback address, and no admin token was chosen for it`,
    {
      hint: 'listen on 127.0.0.1, or choose a token: SWITCHBOARD_ADMIN_TOKEN, or server.admin_token in the file',
    },
  )
}

function cannotListen(
  error: NodeJS.ErrnoException,
  at: { readonly host: string; readonly port: number },
): SwitchboardError {
  const where = `${at.host}:${at.port}`
  if (error.code === 'EADDRINUSE') {
    return new SwitchboardError('conflict', `${where} is in use by another process`, {
      hint: 'choose another port with --port or server.port',
      cause: error,
    })
  }
  const hint =
    error.code === 'EACCES' ? 'ports below 1024 need a privilege' : 'see server.host and server.port'
  return new SwitchboardError('config_invalid', `cannot listen on ${where} (${error.code})`, {
    hint,
    cause: error,
  })
}

const CLIENT_ERRORS: Readonly<Record<string, readonly [string, string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'the headers are too long'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'the request did not arrive in time'],
}

/** Answers input that is not HTTP with an error, and ends the connection. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0) {
    // An answer was already sent here. A second one could be taken for the answer to another request.
    socket.destroy()
    return
  }
  const [status, text] = CLIENT_ERRORS[error.code ?? ''] ?? [
    '400 Bad Request',
    'the request is not well-formed HTTP',
  ]
  const body = String(errorReply(new SwitchboardError('input_invalid', text)).body)
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
}
