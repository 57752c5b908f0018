// A TCP proxy between the product and any server, real or fake, that fails on purpose. It works for HTTP, WebSocket,
// IMAP, SMTP or a database, because it parses no protocol. A fault begins at once, or when the bytes of one side match.
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { Cancel, Clock } from '../../contract/index.ts'
import { freePort } from '../free-port.ts'

export const PROXY_FAULTS = {
  refuse: 'nothing listens: the connection is refused',
  silent: 'the connection is accepted; the request is not read and never answered',
  'half-open': 'the request reaches the server; its answer never comes and the connection stays open',
  'reset-before': 'the connection is reset before the server reads the request',
  'reset-after': 'the connection is reset after the server read the request',
  'cut-header': 'the request reaches the server; its answer ends in the middle of its header',
  'cut-body': 'the request reaches the server; its answer ends in the middle of its body',
  status: 'an HTTP status is answered in place of the server; with `done` the server gets the request first',
  slow: 'the answer comes byte by byte',
} as const

export type ProxyFaultKind = keyof typeof PROXY_FAULTS

export interface ProxyFault {
  readonly kind: ProxyFaultKind
  /**
   * The fault begins when this matches the client's bytes since the last answer. If it and `onAnswer` are absent, the
   * fault begins with the first byte of either side.
   */
  readonly on?: RegExp
  /** The fault begins when this matches bytes of the server: within a frame that it pushes, or within an answer. */
  readonly onAnswer?: RegExp
  /** How many requests fail. If absent, all fail until `heal`. */
  readonly times?: number
  /** For `status`: the HTTP status. */
  readonly status?: 429 | 502 | 503 | 504
  /** For `status`: the server gets the request and acts on it, but the client gets the status. */
  readonly done?: boolean
  /** For `status`: the seconds to wait. */
  readonly retryAfter?: number
  /** For `slow`: the time between two bytes. The default is one second. */
  readonly byteEveryMs?: number
}

export interface FaultProxy {
  readonly port: number
  /** `http://127.0.0.1:PORT`. */
  readonly url: string
  /** Applies this fault to all connections from now on, open ones included. */
  fail(fault: ProxyFault): Promise<void>
  /** Lets everything pass again. Connections that a fault holds are reset. */
  heal(): Promise<void>
  /** Resets every open connection. */
  reset(): void
  /** How often a fault began. */
  readonly fired: number
  stop(): Promise<void>
}

const HEADER_CUT = 12
const MOST_KEPT = 1_048_576

/** Starts a proxy in front of `port` on loopback. `slow` waits by `clock`. The default is real time. */
export async function createFaultProxy(options: {
  readonly port: number
  readonly host?: string
  readonly clock?: Pick<Clock, 'after'>
}): Promise<FaultProxy> {
  const { host = '127.0.0.1', clock = { after: realAfter } } = options
  const open = new Set<Wire>()
  let fault: ProxyFault | null = null
  let left = 0
  let fired = 0

  const draw: Draw = (side, bytes) => {
    if (fault === null || left === 0 || !begins(fault, side, bytes)) return null
    left -= 1
    fired += 1
    return fault
  }

  const server = createServer((client) => {
    const wire = joinWires(client, connect(options.port, host), draw, clock)
    open.add(wire)
    client.once('close', () => open.delete(wire))
  })
  // The port stays reserved while `refuse` has it closed. No other process can get it before `heal`.
  const port = await freePort()
  await listen(server, port)
  const reset = () => {
    for (const wire of open) wire.reset()
  }

  return {
    port,
    url: `http://127.0.0.1:${port}`,
    get fired() {
      return fired
    },
    async fail(next) {
      fault = next
      left = next.times ?? Number.POSITIVE_INFINITY
      if (next.kind !== 'refuse') return
      reset()
      await close(server)
    },
    async heal() {
      fault = null
      for (const wire of open) if (wire.held()) wire.reset()
      if (!server.listening) await listen(server, port)
    },
    reset,
    async stop() {
      reset()
      await close(server)
    },
  }
}

interface Wire {
  /** Whether a fault holds this connection. */
  held(): boolean
  reset(): void
}

type Side = 'client' | 'server'
type Draw = (side: Side, bytes: string) => ProxyFault | null

function begins({ kind, on, onAnswer }: ProxyFault, side: Side, bytes: string): boolean {
  // A status can only answer a request.
  if (on === undefined && onAnswer === undefined) return side === 'client' || kind !== 'status'
  return (side === 'client' ? on : onAnswer)?.test(bytes) === true
}

function joinWires(client: Socket, upstream: Socket, draw: Draw, clock: Pick<Clock, 'after'>): Wire {
  /** The client's bytes since the last answer. `on` matches against them. */
  let asked = ''
  let met: ProxyFault | null = null
  let head = ''
  let cancelSlow: Cancel = () => undefined
  const slow: number[] = []

  const reset = () => {
    cancelSlow()
    upstream.destroy()
    client.resetAndDestroy()
  }
  const cutTo = (bytes: Buffer) => {
    client.end(bytes)
    upstream.destroy()
  }
  const drip = (everyMs: number) => {
    const byte = slow.shift()
    if (byte === undefined || client.destroyed) {
      cancelSlow = () => undefined
      return
    }
    client.write(Buffer.of(byte))
    cancelSlow = clock.after(everyMs, () => drip(everyMs))
  }

  client.on('data', (chunk) => {
    if (met === null) {
      asked = (asked + chunk.toString('latin1')).slice(-MOST_KEPT)
      met = draw('client', asked)
    }
    switch (met?.kind) {
      case 'refuse':
      case 'reset-before':
        return reset()
      case 'silent':
        client.pause()
        return
      case 'status':
        if (!met.done) return void client.end(statusAnswer(met))
    }
    upstream.write(chunk)
  })

  upstream.on('data', (chunk) => {
    met ??= draw('server', chunk.toString('latin1'))
    if (met === null) {
      asked = ''
      client.write(chunk)
      return
    }
    switch (met.kind) {
      case 'silent':
      case 'half-open':
        return
      case 'refuse':
      case 'reset-before':
      case 'reset-after':
        return reset()
      case 'status':
        return cutTo(statusAnswer(met))
      case 'cut-header':
        return cutTo(chunk.subarray(0, HEADER_CUT))
      case 'cut-body': {
        const before = head.length
        head += chunk.toString('latin1')
        const end = head.indexOf('\r\n\r\n')
        // The first answer of a protocol without a blank line is cut in the middle.
        if (end < 0) return cutTo(chunk.subarray(0, Math.ceil(chunk.length / 2)))
        const body = end + 4
        if (head.length <= body) return void client.write(chunk)
        return cutTo(chunk.subarray(0, Math.max(0, body - before) + 1))
      }
      case 'slow': {
        const isWaiting = slow.length > 0
        slow.push(...chunk)
        if (!isWaiting) drip(met.byteEveryMs ?? 1_000)
        return
      }
      default:
        client.write(chunk)
    }
  })

  for (const [one, other] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    one.on('error', () => undefined)
    one.on('end', () => {
      // A connection that a fault holds stays as it is. A slow answer ends after its last byte.
      if (met === null || one === client) other.end()
    })
    one.on('close', () => {
      if (met === null || one === client) other.destroy()
      if (one === client) cancelSlow()
    })
  }

  return { held: () => met !== null, reset }
}

function statusAnswer({ status = 502, retryAfter }: ProxyFault): Buffer {
  const wait = retryAfter === undefined ? '' : `retry-after: ${retryAfter}\r\n`
  const page = `<html><body>${status}</body></html>`
  return Buffer.from(
    `HTTP/1.1 ${status} Fault\r\ncontent-type: text/html\r\n${wait}content-length: ${page.length}\r\nconnection: close\r\n\r\n${page}`,
  )
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    if (server.listening) server.close(() => resolve())
    else resolve()
  })
}

function realAfter(delayMs: number, run: () => void): Cancel {
  const timer = setTimeout(run, delayMs)
  return () => clearTimeout(timer)
}
