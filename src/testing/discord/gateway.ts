// The gateway of the fake Discord: hello, identify, resume with replay from a buffer, heartbeats, reconnects, invalid
// sessions and every close code. It applies the faults of the plan to dispatches.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { FaultPlan, FaultRule } from '../faults/fault-plan.ts'
import { parsed, writerOf } from './gateway-frames.ts'
import { blanked, type Scope, wantsEvent } from './intents.ts'
import { APP_ID, type World, wholeGuild } from './world.ts'

export interface GatewayOptions {
  readonly token: () => string
  readonly heartbeatMs: number
  /** The number of dispatches that the gateway keeps for each session. */
  readonly buffer: number
  /** How long a session outlives its connection. */
  readonly sessionMs: number
  readonly shards: number
  /** Whether the intent for message content is on. */
  readonly contentIntent: () => boolean
  readonly now: () => number
  readonly plan: () => FaultPlan
  readonly world: World
  readonly base: () => string
}

interface Kept {
  readonly op: 0
  readonly s: number
  readonly t: string
  readonly d: unknown
}

interface Session {
  readonly id: string
  readonly intents: number
  readonly shard: readonly [number, number]
  seq: number
  buffer: Kept[]
  link: Link | null
  leftAt: number
  /** A deaf session sends no more events and replays none. */
  deaf: boolean
}

interface Link {
  readonly socket: WebSocket
  readonly raw: Duplex
  readonly write: (text: string) => void
  session: Session | null
  /** A silent link answers nothing and sends nothing. */
  silent: boolean
  lastBeat: number | null
}

export interface FakeGateway {
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Sends an event to every session that asked for it. */
  dispatch(type: string, data: Readonly<Record<string, unknown>>, scope: Scope): void
  /** Asks the connections for a heartbeat, as Discord does. */
  askBeat(): void
  /** The last sequence number that the newest connection reported as received. */
  lastBeat(): number | null
  /** The sequence number of the newest dispatch. */
  lastSeq(): number
  /** Sends a frame unchanged to every connection. */
  raw(frame: string | Buffer): void
  reconnect(): void
  /** Sends opcode 9. The gateway forgets a session that cannot be resumed. */
  invalidate(resumable: boolean): void
  close(code: number): void
  /** Keeps the connections open, but nothing goes in or out. */
  silence(): void
  /** Forgets all sessions, so the next resume is refused. */
  forgetSessions(): void
  deafen(deaf: boolean): void
  open(): number
  /** The numbers of connections, of sessions begun and of accepted resumes. */
  counts(): { readonly made: number; readonly identified: number; readonly resumed: number }
  /** What the clients sent, without heartbeats. */
  readonly heard: readonly { readonly op: number; readonly d: unknown }[]
  /** The close codes that the clients sent. */
  readonly closes: readonly number[]
  startsLeft: number
  stop(): void
}

export function createFakeGateway(options: GatewayOptions): FakeGateway {
  const { world } = options
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: 4_096,
    perMessageDeflate: false,
  })
  const links = new Set<Link>()
  const sessions = new Map<string, Session>()
  const heard: { op: number; d: unknown }[] = []
  const closes: number[] = []
  const timers = new Set<NodeJS.Timeout>()
  let counts = { made: 0, identified: 0, resumed: 0 }
  let deaf = false
  let held: { readonly session: Session; readonly frame: Kept } | null = null
  let lastBeat: number | null = null
  let lastSeq = 0
  let stopped = false

  const later = (ms: number, run: () => void) => {
    const timer = setTimeout(() => {
      timers.delete(timer)
      if (!stopped) run()
    }, ms)
    timer.unref()
    timers.add(timer)
  }
  const send = (link: Link, payload: object) => {
    if (!link.silent && link.socket.readyState === 1) link.write(JSON.stringify(payload))
  }

  /** Adds a frame to the session, also when no connection receives it. A resume replays these frames. */
  const keep = (session: Session, type: string, data: unknown): Kept => {
    session.seq += 1
    lastSeq = session.seq
    const frame: Kept = { op: 0, s: session.seq, t: type, d: data }
    session.buffer = [...session.buffer, frame].slice(-options.buffer)
    return frame
  }

  const write = (session: Session, frame: Kept) => {
    if (session.link !== null) send(session.link, frame)
    if (held !== null && held.frame !== frame) {
      const late = held
      held = null
      if (late.session.link !== null) send(late.session.link, late.frame)
    }
  }

  const troubled = (session: Session, frame: Kept, fault: FaultRule) => {
    const { link } = session
    switch (fault.do) {
      case 'duplicate':
        write(session, frame)
        return write(session, frame)
      case 'reorder': {
        const late = held
        held = { session, frame }
        if (late !== null && late.session.link !== null) send(late.session.link, late.frame)
        return later(50, () => held?.frame === frame && write(session, frame))
      }
      case 'slow':
        return later(fault.delayMs ?? 300, () => write(session, frame))
      case 'malformed':
        return link?.write('{"op":0,"t":"MESSAGE_CR')
      case 'drop-request':
      case 'error':
        return link?.socket.terminate()
      case 'drop-response':
        write(session, frame)
        return later(1, () => link?.socket.terminate())
      case 'half-open':
        write(session, frame)
        if (link) link.silent = true
        return
      // The connection stays open, but nothing goes in or out: a zombie.
      case 'deaf':
        if (link) link.silent = true
        return
      case 'conflict':
        return link ? send(link, { op: 9, d: true, s: null, t: null }) : undefined
      default:
        return write(session, frame)
    }
  }

  const toSession = (session: Session, type: string, data: Readonly<Record<string, unknown>>) => {
    const isMessage = type.startsWith('MESSAGE_') || type === 'INTERACTION_CREATE'
    const fault = isMessage ? options.plan().next('dispatch') : null
    if (fault?.do === 'deaf-link') session.deaf = true
    // The event is neither sent nor kept. Only the history has it.
    if (fault?.do === 'gap' || fault?.do === 'ghost' || session.deaf || deaf) return
    const frame = keep(session, type, data)
    if (fault === null) write(session, frame)
    else troubled(session, frame, fault)
  }

  const begin = (link: Link, data: Readonly<Record<string, unknown>>) => {
    const intents = Number(data.intents)
    if (data.token !== options.token()) return link.socket.close(4004, 'Authentication failed.')
    if (!Number.isInteger(intents) || intents < 0 || intents >= 2 ** 31)
      return link.socket.close(4013, 'Invalid intent(s).')
    if ((intents & (1 << 15)) !== 0 && !options.contentIntent())
      return link.socket.close(4014, 'Disallowed intent(s).')
    const [shard = 0, of = 1] = Array.isArray(data.shard) ? (data.shard as number[]) : []
    if (of < options.shards) return link.socket.close(4011, 'Sharding required.')
    if (shard >= of) return link.socket.close(4010, 'Invalid shard.')
    counts = { ...counts, identified: counts.identified + 1 }
    fake.startsLeft -= 1
    const session: Session = {
      id: randomUUID().replaceAll('-', ''),
      intents,
      shard: [shard, of],
      seq: 0,
      buffer: [],
      link,
      leftAt: 0,
      deaf: false,
    }
    sessions.set(session.id, session)
    link.session = session
    const ready = {
      v: 10,
      user: world.bot,
      guilds: world.kicked ? [] : [{ id: world.guild.id, unavailable: true }],
      session_id: session.id,
      resume_gateway_url: `${options.base().replace(/^http/, 'ws')}/resume`,
      shard: [shard, of],
      application: { id: APP_ID, flags: options.contentIntent() ? 1 << 19 : 0 },
      _trace: ['["gateway-emulated"]'],
    }
    write(session, keep(session, 'READY', ready))
    if (!world.kicked && shard === Number(BigInt(world.guild.id) >> 22n) % of)
      write(session, keep(session, 'GUILD_CREATE', wholeGuild(world)))
  }

  const resume = (link: Link, data: Readonly<Record<string, unknown>>) => {
    if (data.token !== options.token()) return link.socket.close(4004, 'Authentication failed.')
    const session = sessions.get(String(data.session_id))
    const seq = Number(data.seq)
    const isLate =
      session !== undefined && session.link === null && options.now() - session.leftAt > options.sessionMs
    const first = session?.buffer[0]?.s ?? 1
    const fault = options.plan().next('resume')
    if (fault?.do === 'conflict') return link.socket.close(4000, 'Unknown error.')
    if (session === undefined || isLate || seq < first - 1 || fault?.do === 'error') {
      sessions.delete(String(data.session_id))
      return send(link, { op: 9, d: false, s: null, t: null })
    }
    if (seq > session.seq) return link.socket.close(4007, 'Invalid seq.')
    counts = { ...counts, resumed: counts.resumed + 1 }
    const before = session.link
    session.link = link
    link.session = session
    if (before !== null && before !== link) before.socket.close(4000)
    for (const frame of session.buffer) if (frame.s > seq) send(link, frame)
    write(session, keep(session, 'RESUMED', { _trace: ['["gateway-emulated"]'] }))
  }

  const take = (link: Link, frame: { readonly op?: unknown; readonly d?: unknown }) => {
    const { op, d } = frame
    if (typeof op !== 'number') return link.socket.close(4002, 'Decode error.')
    if (op === 1) {
      if (typeof d === 'number') {
        lastBeat = d
        link.lastBeat = d
      }
      if (options.plan().next('heartbeat')?.do === 'deaf') return
      return send(link, { op: 11, d: null, s: null, t: null })
    }
    heard.push({ op, d })
    const data = (d ?? {}) as Readonly<Record<string, unknown>>
    if (op === 2)
      return link.session === null ? begin(link, data) : link.socket.close(4005, 'Already authenticated.')
    if (op === 6) return resume(link, data)
    if (link.session === null) return link.socket.close(4003, 'Not authenticated.')
    if (op !== 3 && op !== 4 && op !== 8) link.socket.close(4001, 'Unknown opcode.')
  }

  const gone = (link: Link, code: number) => {
    links.delete(link)
    closes.push(code)
    const { session } = link
    if (session === null || session.link !== link) return
    session.link = null
    session.leftAt = options.now()
    if (code === 1000 || code === 1001) sessions.delete(session.id)
  }

  const fake: FakeGateway = {
    heard,
    closes,
    startsLeft: 1_000,
    upgrade(request, raw, head) {
      const url = new URL(request.url ?? '/', 'http://fake')
      const fault = options.plan().next('upgrade')
      if (fault?.do === 'deaf' || fault?.do === 'half-open') return
      if (fault?.do === 'error' || !/^\/(gateway|resume)\/?$/.test(url.pathname)) {
        raw.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n')
        return
      }
      server.handleUpgrade(request, raw, head, (socket) => {
        socket.on('error', () => undefined)
        counts = { ...counts, made: counts.made + 1 }
        if (url.searchParams.get('v') !== '10') return socket.close(4012, 'Invalid API version.')
        const write = writerOf(socket, url.searchParams.get('compress'))
        const link: Link = { socket, raw, write, session: null, silent: false, lastBeat: null }
        links.add(link)
        lastBeat = null
        socket.on('close', (code) => gone(link, code))
        socket.on('message', (data) => {
          if (link.silent) return
          const frame = parsed(data)
          if (frame === null) socket.close(4002, 'Decode error.')
          else take(link, frame)
        })
        const hello = options.plan().next('hello')
        if (hello?.do === 'deaf' || hello?.do === 'half-open') return
        if (hello?.do === 'drop-request') return socket.terminate()
        send(link, { op: 10, d: { heartbeat_interval: options.heartbeatMs }, s: null, t: null })
      })
    },
    dispatch(type, data, scope) {
      for (const session of sessions.values()) {
        if (!wantsEvent(type, scope, session)) continue
        toSession(session, type, blanked(data, scope, session.intents, world.bot.id))
      }
    },
    askBeat() {
      for (const link of links) send(link, { op: 1, d: null, s: null, t: null })
    },
    lastBeat: () => lastBeat,
    lastSeq: () => lastSeq,
    raw(frame) {
      for (const { socket } of links) socket.send(frame)
    },
    reconnect() {
      for (const link of links) send(link, { op: 7, d: null, s: null, t: null })
    },
    invalidate(resumable) {
      for (const link of [...links]) {
        if (!resumable && link.session) sessions.delete(link.session.id)
        send(link, { op: 9, d: resumable, s: null, t: null })
      }
    },
    close(code) {
      for (const { socket } of [...links]) socket.close(code)
    },
    silence() {
      for (const link of links) link.silent = true
    },
    forgetSessions: () => sessions.clear(),
    deafen(now) {
      deaf = now
      if (!now) for (const session of sessions.values()) session.deaf = false
    },
    open: () =>
      [...links].filter(({ socket, session }) => socket.readyState === 1 && session !== null).length,
    counts: () => counts,
    stop() {
      stopped = true
      for (const timer of timers) clearTimeout(timer)
      for (const { socket } of links) socket.terminate()
    },
  }
  return fake
}
