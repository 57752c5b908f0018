// Socket Mode of the fake Slack. A client connects with a one-time ticket. Envelopes go to the connections in turn, and
// come again until they are acknowledged. It applies the faults of the plan to envelopes and greetings.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { FaultPlan, FaultRule } from '../faults/fault-plan.ts'
import { APP_ID } from './world.ts'

export interface SocketModeOptions {
  /** How long an envelope waits for its acknowledgement before it is sent again. */
  readonly ackMs: number
  /** The interval between two pings of the server. */
  readonly pingMs: number
  /** The delays before the retries of an event that found no connection. After the last one it is lost. */
  readonly offlineRetryMs: readonly number[]
  readonly plan: () => FaultPlan
  /** Runs when the app answers in its acknowledgement. */
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
  /** The path and query of a new URL that works once. */
  ticket(): string
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Sends an envelope to one of the connections and returns its id. */
  deliver(type: Envelope['type'], payload: unknown): string
  /** The number of open connections, without ghosts. */
  open(): number
  /** The largest number of connections open at once. */
  mostOpen(): number
  /** The number of connections so far. */
  made(): number
  acknowledged(envelopeId: string): boolean
  /** The answers in the acknowledgements of the app, by envelope id. */
  answers: ReadonlyMap<string, unknown>
  disconnect(reason: DisconnectReason): void
  /** Adds a connection of an earlier process. It takes its share of the events, and these are lost. */
  addGhost(): void
  removeGhosts(): void
  /**
   * True keeps connections open and answers pings, but sends no events and counts them as delivered. False ends that.
   */
  deafen(deaf: boolean): void
  /** Freezes the connections without closing them. Nothing goes in or out. */
  freeze(): void
  /** Whether Socket Mode is switched off in the app's settings. */
  disabled: boolean
  stop(): void
}

interface Link {
  readonly socket: WebSocket
  readonly raw: Duplex
  ready: boolean
  /** The server asked this connection to leave. It gets new envelopes only if there is no other. */
  leaving: boolean
  deaf: boolean
}

const MOST_CONNECTIONS = 10
const WARNING_MS = 10_000
const REFRESH_GRACE_MS = 2_000
const MOST_ATTEMPTS = 3
/** Bytes that are no WebSocket frame. */
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

  /** The next connection in turn, or null without one. `ghost` means that the envelope is lost. */
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
      // Slack does not send interactions again. The person sees a warning instead.
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
        // The same event also comes a third time, in an envelope with another id.
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
      // The envelope is not sent. It comes again, like every envelope without an acknowledgement.
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
    // With malformed, the same packet also has bytes that are no frame. They end the connection at its start.
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
        // Writes are dropped too, as by a network that loses everything.
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
