// `/attach`: hosts on other machines connect over a WebSocket with a bearer token. The token is checked before the
// handshake, so that a refusal is an HTTP answer. The frames are read elsewhere.
import { type Server as HttpServer, type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { WebSocket, WebSocketServer } from 'ws'
import {
  asSwitchboardError,
  type FramePipe,
  type FrameReader,
  type HttpReply,
  MAX_FRAME_BYTES,
  SwitchboardError,
} from '../contract/index.ts'
import type { ServerDeps } from './deps.ts'
import { guardSocket, type ListenerView } from './host-guard.ts'
import { errorReply, notFound } from './reply.ts'
import type { WrongCredentials } from './wrong-credentials.ts'

export interface Upgrades {
  take(
    server: HttpServer,
    listener: ListenerView,
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ): void
  /** Ends every attachment: in order, or by force after a short time. */
  close(): void
}

/** The most bytes that wait for a peer that does not read. */
const MOST_WAITING_BYTES = 64 * 1_048_576
const MOST_CONNECTIONS = 512
const CLOSE_MS = 500

export function createUpgrades(
  deps: ServerDeps,
  { draining, wrong }: { draining(): boolean; readonly wrong: WrongCredentials },
): Upgrades {
  const open = new Set<WebSocket>()
  let loading: Promise<WebSocketServer> | null = null
  const shaker = () => {
    // Loaded on first use, because most daemons have no remote host.
    loading ??= import('ws').then(
      ({ WebSocketServer }) =>
        new WebSocketServer({
          noServer: true,
          clientTracking: false,
          maxPayload: MAX_FRAME_BYTES,
          perMessageDeflate: false,
        }),
    )
    return loading
  }

  const attach = async (listener: ListenerView, request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const context = deps.attach
    if (context === undefined) return refuse(socket, notFound('no host can attach here'))
    if (draining()) throw new SwitchboardError('draining', 'the daemon is shutting down')
    const foreign = guardSocket(request, listener, deps.settings().publicUrl)
    if (foreign !== null) throw foreign
    if (open.size >= MOST_CONNECTIONS)
      throw new SwitchboardError('rate_limited', `${MOST_CONNECTIONS} hosts are attached already`, {
        retryAfterMs: 30_000,
      })
    const enter = await context.admit(bearerOf(request))
    const server = await shaker()
    if (socket.destroyed) return
    server.handleUpgrade(request, socket, head, (peer) => {
      open.add(peer)
      const close = () => {
        peer.close(1001)
        deps.clock.after(CLOSE_MS, () => peer.terminate())
      }
      const reader = enter(pipeOf(peer, close))
      listenTo(peer, reader, () => open.delete(peer))
      if (draining()) reader.broken('the daemon is shutting down')
    })
  }

  return {
    take(server, listener, request, socket, head) {
      // Some clients offer another protocol with every request, although they mean a plain one.
      if (!isAttach(request)) return asPlainRequest(server, request, socket, head)
      socket.on('error', () => socket.destroy())
      attach(listener, request, socket, head).catch((thrown) => {
        const refusal = asSwitchboardError(thrown)
        const isTry = refusal.code === 'unauthorized' && request.headers.authorization !== undefined
        const error = (isTry ? wrong.count('attach', request.socket.remoteAddress) : null) ?? refusal
        if (error.code === 'internal') deps.log.error({ problem: error.message }, 'an attachment failed')
        refuse(socket, errorReply(error))
      })
    },
    close() {
      for (const peer of open) {
        peer.close(1001)
        deps.clock.after(CLOSE_MS, () => peer.terminate())
      }
    },
  }
}

function pipeOf(peer: WebSocket, close: () => void): FramePipe {
  return {
    send(text) {
      if (peer.readyState !== 1) return
      // A failed write ends the connection, and its own event reports that.
      peer.send(text.trimEnd(), () => undefined)
      if (peer.bufferedAmount > MOST_WAITING_BYTES) peer.terminate()
    },
    end: close,
  }
}

function listenTo(peer: WebSocket, reader: FrameReader, left: () => void): void {
  peer.on('message', (data, isBinary) => {
    if (isBinary) reader.broken('frames are text')
    else reader.line(String(data))
  })
  // The message was too long or malformed. The package has told the peer, and closes.
  peer.on('error', () => undefined)
  peer.on('close', () => {
    left()
    reader.closed()
  })
}

function isAttach(request: IncomingMessage): boolean {
  const path = (request.url ?? '').split('?', 1)[0]
  return path === '/attach' && request.headers.upgrade?.toLowerCase() === 'websocket'
}

function bearerOf(request: IncomingMessage): string {
  const bearer = /^Bearer +([^\s]+)$/i.exec(request.headers.authorization ?? '')?.[1]
  if (bearer === undefined)
    throw new SwitchboardError('unauthorized', 'a host that attaches from another machine needs a token', {
      hint: 'mint one: switchboard token mint --kind agent --agent ID',
    })
  return bearer
}

/** Writes a refusal by hand, because the parser has released the socket. */
function refuse(socket: Duplex, reply: HttpReply): void {
  const body = String(reply.body ?? '')
  const headers = { ...reply.headers, 'content-length': Buffer.byteLength(body), connection: 'close' }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(
    `HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status] ?? 'Refused'}\r\n${lines.join('')}\r\n${body}`,
  )
}

/** Returns the request to the parser without its upgrade offer, with the bytes that were already read. */
function asPlainRequest(server: HttpServer, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`]
  for (let at = 0; at + 1 < request.rawHeaders.length; at += 2) {
    const name = request.rawHeaders[at] ?? ''
    const value = request.rawHeaders[at + 1] ?? ''
    if (/^(upgrade|http2-settings)$/i.test(name)) continue
    const kept = /^connection$/i.test(name) ? withoutOffer(value) : value
    if (kept !== '') lines.push(`${name}: ${kept}`)
  }
  socket.unshift(head)
  socket.unshift(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'))
  server.emit('connection', socket)
}

function withoutOffer(connection: string): string {
  const kept = connection.split(',').map((one) => one.trim())
  return kept.filter((one) => !/^(upgrade|http2-settings)$/i.test(one)).join(', ')
}
