// Socket Mode of the fake Slack: connections by one-time tickets, envelopes dealt out over them, each again until it is
// acknowledged. What goes wrong by plan goes wrong here.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { FaultPlan, FaultRule } from '../faults/fault-plan.ts'
import { APP_ID } from './world.ts'

export interface SocketModeOptions {
  /** How long an envelope waits for its acknowledgement before it comes again. */
  readonly ackMs: number
  /** How often the server pings. */
  readonly pingMs: number
  /** When an event that found no connection is tried again; after the last it is lost. */
  readonly offlineRetryMs: readonly number[]
  readonly plan: () => FaultPlan
  /** The app answered in its acknowledgement. */
  readonly onAnswer?: (payload: unknown, answer: unknown) => void
}

export interface Envelope {
  readonly envelope_id: string
  readonly type: 'events_api' | 'interactive' | 'slash_commands'
  readonly payload: unknown
  readonly accepts_response_payload: boolean
  readonly retry_attempt?: number
  readonly retry_reason?: string
}

export type DisconnectReason = 'warning' | 'refresh_requested' | 'link_disabled' | 'too_many_websockets'

export interface SocketMode {
  /** The path and query of a fresh, one-time URL. */
  ticket(): string
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Deals an envelope to one of the connections. Gives its id. */
  deliver(type: Envelope['type'], payload: unknown): string
  /** Live connections, ghosts not counted. */
  open(): number
  /** The most that were open at once. */
  mostOpen(): number
  /** Connections made so far. */
  made(): number
  acknowledged(envelopeId: string): boolean
  /** What the app answered in its acknowledgement, if anything. */
  answers: ReadonlyMap<string, unknown>
  disconnect(reason: DisconnectReason): void
  /** A connection of an earlier process: it takes its share of the events, and nobody hears them. */
  addGhost(): void
  removeGhosts(): void
  /** From now on connections stand, answer pings, and carry nothing; events count as delivered. Null heals. */
  deafen(deaf: boolean): void
  /** Freezes the connections without closing them: nothing goes in or out. */
  freeze(): void
  /** Socket Mode was switched off in the app's settings. */
  disabled: boolean
  stop(): void
}

interface Link {
  readonly socket: WebSocket
  readonly raw: Duplex
  ready: boolean
  /** Told to go: gets nothing new unless it is the only one. */
  leaving: boolean
  deaf: boolean
}

const MOST_CONNECTIONS = 10
const WARNING_MS = 10_000
const REFRESH_GRACE_MS = 2_000
const MOST_ATTEMPTS = 3
/** Bits that no frame of a WebSocket has. */
const NO_FRAME = Buffer.from([0xff, 0xff])

export function createSocketMode(options: SocketModeOptions): SocketMode {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: 1_048_576,
    perMessageDeflate: false,
  })
  const tickets = new Set<string>()
  const links: Link[] = []
  const waiting = new Map<
    string,
    { readonly envelope: Envelope; timer: NodeJS.Timeout | null; link: Link | null }
  >()
  const done = new Set<string>()
  const answers = new Map<string, unknown>()
  const timers = new Set<NodeJS.Timeout>()
  let ghosts = 0
  let turn = 0
  let deaf = false
  let mostOpen = 0
  let made = 0
  let held: Envelope | null = null
  let stopped = false

  const later = (ms: number, run: () => void): NodeJS.Timeout => {
    const timer = setTimeout(() => {
      timers.delete(timer)
      if (!stopped) run()
    }, ms)
    timer.unref()
    timers.add(timer)
    return timer
  }

  /** The next in turn; null: nobody is there. `ghost`: it is swallowed. */
  const next = (): Link | 'ghost' | null => {
    const ready = links.filter((link) => link.ready)
    const staying = ready.filter((link) => !link.leaving)
    const able: (Link | 'ghost')[] = [
      ...(staying.length > 0 ? staying : ready),
      ...Array<'ghost'>(ghosts).fill('ghost'),
    ]
    turn += 1
    return able[turn % Math.max(1, able.length)] ?? null
  }

  const deal = (envelope: Envelope, attempt: number, offline = 0): void => {
    if (stopped || done.has(envelope.envelope_id)) return
    const link = next()
    if (link === 'ghost') return void done.add(envelope.envelope_id)
    if (link === null) {
      const ms = options.offlineRetryMs[offline]
      if (ms !== undefined) later(ms, () => deal(envelope, attempt, offline + 1))
      return
    }
    const fault = options.plan().next('envelope')
    if (fault?.do === 'gap' || link.deaf || deaf) return void done.add(envelope.envelope_id)
    const retried = attempt === 0 ? envelope : { ...envelope, ...retryFields(envelope, attempt) }
    const entry = { envelope, link, timer: null as NodeJS.Timeout | null }
    waiting.set(envelope.envelope_id, entry)
    entry.timer = later(options.ackMs, () => {
      if (!waiting.delete(envelope.envelope_id)) return
      // Interactions are not sent again: the person saw a warning.
      if (envelope.type === 'events_api' && attempt < MOST_ATTEMPTS) deal(envelope, attempt + 1)
    })
    if (fault === null) write(link, retried)
    else troubled(link, retried, fault)
  }

  const write = (link: Link, envelope: Envelope) => {
    if (link.socket.readyState === 1) link.socket.send(JSON.stringify(envelope))
    if (held !== null && held !== envelope) {
      const late = held
      held = null
      link.socket.send(JSON.stringify(late))
    }
  }

  const troubled = (link: Link, envelope: Envelope, fault: FaultRule) => {
    switch (fault.do) {
      case 'duplicate':
        write(link, envelope)
        write(link, envelope)
        // And once more as an envelope of its own: the same event, delivered again.
        return deal({ ...envelope, envelope_id: randomUUID() }, 1)
      case 'reorder':
        held = envelope
        return void later(50, () => held === envelope && write(link, envelope))
      case 'slow':
        return void later(fault.delayMs ?? 300, () => write(link, envelope))
      case 'malformed':
        return void link.socket.send('{"envelope_id":"not-json')
      case 'drop-request':
      case 'error':
        return link.socket.terminate()
      case 'drop-response':
        write(link, envelope)
        return void later(1, () => link.socket.terminate())
      case 'half-open':
        return void (link.raw as Duplex & { pause(): void }).pause()
      // Not sent at all: it comes again like everything that is not acknowledged.
      case 'deaf':
        return
      case 'deaf-link':
        link.deaf = true
        done.add(envelope.envelope_id)
        return
      case 'ghost':
        ghosts += 1
        done.add(envelope.envelope_id)
        return
      case 'conflict':
        say(link, 'too_many_websockets')
        return link.socket.close(1000)
      default:
        return write(link, envelope)
    }
  }

  const acknowledge = (envelopeId: string, payload: unknown) => {
    const entry = waiting.get(envelopeId)
    if (entry === undefined) return
    waiting.delete(envelopeId)
    if (entry.timer !== null) clearTimeout(entry.timer)
    done.add(envelopeId)
    if (payload === undefined) return
    answers.set(envelopeId, payload)
    options.onAnswer?.(entry.envelope.payload, payload)
  }

  const gone = (link: Link) => {
    const at = links.indexOf(link)
    if (at !== -1) links.splice(at, 1)
  }

  const say = ({ socket }: Link, reason: DisconnectReason) => {
    const debug_info = { host: 'applink-emulated' }
    if (socket.readyState === 1) socket.send(JSON.stringify({ type: 'disconnect', reason, debug_info }))
  }

  const begin = (link: Link) => {
    const fault = options.plan().next('hello')
    if (fault?.do === 'deaf' || fault?.do === 'half-open') return
    if (fault?.do === 'drop-request') return link.socket.terminate()
    if (fault?.do === 'deaf-link') link.deaf = true
    link.ready = true
    mostOpen = Math.max(mostOpen, links.length)
    const debug_info = { host: 'applink-emulated', build_number: 1, approximate_connection_time: 18_060 }
    const hello = {
      type: 'hello',
      num_connections: links.length + ghosts,
      debug_info,
      connection_info: { app_id: APP_ID },
    }
    // With malformed: what follows in the same packet is no frame, and ends the connection as it begins.
    if (fault?.do === 'malformed') link.raw.cork()
    link.socket.send(JSON.stringify(hello))
    if (fault?.do === 'malformed') {
      link.raw.write(NO_FRAME)
      link.raw.uncork()
    }
    const ping = setInterval(() => link.socket.ping('Ping from applink-emulated'), options.pingMs)
    ping.unref()
    link.socket.on('close', () => clearInterval(ping))
  }

  return {
    answers,
    disabled: false,
    ticket() {
      const ticket = randomUUID()
      tickets.add(ticket)
      return `/link/?ticket=${ticket}&app_id=${APP_ID}`
    },
    upgrade(request, raw, head) {
      const url = new URL(request.url ?? '/', 'http://fake')
      const fault = options.plan().next('upgrade')
      if (fault?.do === 'deaf' || fault?.do === 'half-open') return
      if (!tickets.delete(url.searchParams.get('ticket') ?? '') || fault?.do === 'error') {
        raw.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n')
        return
      }
      server.handleUpgrade(request, raw, head, (socket) => {
        const link: Link = { socket, raw, ready: false, leaving: false, deaf: false }
        made += 1
        socket.on('error', () => undefined)
        if (this.disabled) {
          say(link, 'link_disabled')
          return socket.close(1000)
        }
        if (links.length + ghosts >= MOST_CONNECTIONS) {
          say(link, 'too_many_websockets')
          return socket.close(1000)
        }
        links.push(link)
        socket.on('close', () => gone(link))
        socket.on('message', (data) => {
          const said = parsed(data)
          if (typeof said?.envelope_id === 'string') acknowledge(said.envelope_id, said.payload)
        })
        begin(link)
      })
    },
    deliver(type, payload) {
      const envelope: Envelope = {
        envelope_id: randomUUID(),
        type,
        payload,
        accepts_response_payload: type === 'slash_commands',
        ...(type === 'events_api' ? { retry_attempt: 0, retry_reason: '' } : {}),
      }
      deal(envelope, 0)
      return envelope.envelope_id
    },
    open: () => links.filter(({ socket }) => socket.readyState === 1).length,
    mostOpen: () => mostOpen,
    made: () => made,
    acknowledged: (id) => done.has(id) && !waiting.has(id),
    disconnect(reason) {
      const graceMs =
        reason === 'warning' ? WARNING_MS : reason === 'refresh_requested' ? REFRESH_GRACE_MS : 0
      for (const link of [...links]) {
        say(link, reason)
        link.leaving = true
        later(graceMs, () => link.socket.close(1000))
      }
    },
    addGhost() {
      ghosts += 1
    },
    removeGhosts() {
      ghosts = 0
    },
    deafen: (now) => {
      deaf = now
      if (!now) for (const link of links) link.deaf = false
    },
    freeze() {
      for (const link of links) {
        link.deaf = true
        ;(link.raw as Duplex & { pause(): void }).pause()
        // Nothing is written either: as a peer behind a network that drops everything.
        link.socket.ping = () => undefined
        Object.defineProperty(link.raw, 'write', { value: () => true })
      }
    },
    stop() {
      stopped = true
      for (const timer of timers) clearTimeout(timer)
      for (const { socket } of links) socket.terminate()
    },
  }
}

function retryFields(envelope: Envelope, attempt: number): Partial<Envelope> {
  return envelope.type === 'events_api' ? { retry_attempt: attempt, retry_reason: 'timeout' } : {}
}

function parsed(data: Buffer): { readonly envelope_id?: unknown; readonly payload?: unknown } | null {
  try {
    return JSON.parse(data.toString('utf8')) as { readonly envelope_id?: unknown }
  } catch {
    return null
  }
}
