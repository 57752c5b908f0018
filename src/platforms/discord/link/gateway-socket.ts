// One connection of the gateway: it opens, gets a hello, identifies or resumes, delivers dispatches and closes. Each
// step has a deadline. Silence means nothing: only an unanswered heartbeat ends it. Nothing is compressed. A frame that
// is not JSON ends the connection, and its content comes again.
import { type Cancel, type Clock, type Random, SwitchboardError } from '../../../contract/index.ts'
import type { Timings } from '../config.ts'
import { type Ending, endingOf, LEAVING } from './close-codes.ts'

/** A session with Discord. It survives its connections. */
export interface Session {
  readonly id: string
  readonly resumeUrl: string | null
  /** The newest stored position. A resume continues there, so that nothing is lost. */
  stored: number
  /** An event after that could not be stored. Later events are not accepted until the session is resumed. */
  broken?: boolean
}

export interface Dispatch {
  readonly session: Session
  readonly seq: number
  readonly type: string
  readonly data: unknown
}

export interface SocketEvents {
  /** READY is included for a new session. */
  dispatch(dispatch: Dispatch): void
  unreadable(): void
}

export interface OpenOrder {
  readonly url: string
  readonly token: string
  readonly intents: number
  readonly shard: readonly [number, number]
  readonly resume: Session | null
  /** Resolves when it may identify. A connection that is no longer wanted takes no place. */
  readonly mayIdentify: (isWanted: () => boolean) => Promise<void>
  /** Closes it, also during the opening. */
  readonly signal: AbortSignal
}

export interface GatewaySocket {
  readonly session: Session
  isOpen(): boolean
  /** Resolves when it is closed. */
  readonly closed: Promise<Ending>
  /** Sends a heartbeat. Resolves when it is answered, or the connection ends. */
  probe(): Promise<boolean>
  close(why: string): void
}

export interface OpenDeps {
  readonly clock: Clock
  readonly random: Random
  readonly timings: Timings
}

const MAX_FRAME_BYTES = 8 * 1_048_576
const LONGEST_BEAT_MS = 120_000

/** The reason why a connection ended before its session was ready. */
export class GatewayEnded extends SwitchboardError {
  readonly ending: Ending
  constructor(ending: Ending) {
    super('platform_unavailable', ending.why)
    this.ending = ending
  }
}

/** Resolves when the session is ready. Throws `GatewayEnded`. */
export async function openSocket(
  order: OpenOrder,
  events: SocketEvents,
  deps: OpenDeps,
): Promise<GatewaySocket> {
  const { clock, timings } = deps
  const { WebSocket } = await import('ws')
  order.signal.throwIfAborted()
  const socket = new WebSocket(order.url, {
    handshakeTimeout: timings.helloMs,
    maxPayload: MAX_FRAME_BYTES,
    perMessageDeflate: false,
    followRedirects: false,
  })
  return new Promise<GatewaySocket>((resolve, reject) => {
    let session = order.resume
    let live = false
    let ended = false
    let beating: Cancel | null = null
    let isAnswered = true
    const answers = new Set<() => void>()
    let close: (ending: Ending) => void = () => undefined
    const closed = new Promise<Ending>((settle) => {
      close = settle
    })

    const end = (ending: Ending) => {
      if (ended) return
      ended = true
      deadline()
      beating?.()
      // Not 1000, because the session must stay. A connection that does not close is terminated.
      if (socket.readyState === 1) {
        socket.close(LEAVING)
        clock.after(1_000, () => socket.terminate())
      } else socket.terminate()
      order.signal.removeEventListener('abort', stop)
      answered()
      close(ending)
      reject(new GatewayEnded(ending))
    }
    const stop = () => end({ next: 'resume', why: 'stopped', offline: true })
    order.signal.addEventListener('abort', stop)
    const answered = () => {
      for (const answer of answers) answer()
      answers.clear()
    }
    let deadline = clock.after(timings.helloMs, () =>
      end({ next: 'resume', why: 'no hello came', offline: true }),
    )

    const send = (op: number, d: unknown) => {
      if (socket.readyState === 1) socket.send(JSON.stringify({ op, d }))
    }
    const beat = () => send(1, session?.stored ?? null)
    const beatEvery = (everyMs: number, firstMs: number) => {
      beating = clock.after(firstMs, () => {
        if (!isAnswered) return end({ next: 'resume', why: 'beats are not answered' })
        isAnswered = false
        beat()
        beatEvery(everyMs, everyMs)
      })
    }

    const hello = (given: unknown) => {
      if (beating !== null) return
      const asked = Number((given as { readonly heartbeat_interval?: unknown } | null)?.heartbeat_interval)
      const wanted = Number.isFinite(asked) && asked > 0 ? asked : 41_250
      const everyMs = Math.min(Math.max(wanted, timings.leastBeatMs), LONGEST_BEAT_MS)
      beatEvery(everyMs, Math.round(everyMs * fraction(deps.random)))
      deadline()
      if (session !== null) {
        session.broken = false
        deadline = clock.after(timings.readyMs, () => end({ next: 'resume', why: 'no session came' }))
        return send(6, { token: order.token, session_id: session.id, seq: session.stored })
      }
      // The last of many shards waits for minutes. Until then only its heartbeats show whether the connection lives.
      order
        .mayIdentify(() => !ended)
        .then(identify, (thrown: unknown) => {
          const why = thrown instanceof SwitchboardError ? thrown.message : 'no session may be begun now'
          end({ next: 'identify', why, offline: true })
        })
    }
    const identify = () => {
      if (ended) return
      deadline = clock.after(timings.readyMs, () => end({ next: 'identify', why: 'no session came' }))
      const properties = { os: process.platform, browser: 'switchboard', device: 'switchboard' }
      send(2, { token: order.token, intents: order.intents, properties, shard: order.shard })
    }

    const stands = (mine: Session) => {
      if (live) return
      live = true
      deadline()
      resolve({
        session: mine,
        isOpen: () => !ended,
        closed,
        probe: () =>
          new Promise<boolean>((resolveProbe) => {
            if (ended) return resolveProbe(false)
            answers.add(() => resolveProbe(!ended))
            beat()
          }),
        close: (why) => end({ next: 'resume', why }),
      })
    }

    const dispatch = (type: string, seq: number, data: unknown) => {
      if (type === 'READY') session = sessionOf(data)
      if (session === null) return
      events.dispatch({ session, seq, type, data })
      if (type === 'READY' || type === 'RESUMED') stands(session)
    }

    socket.on('message', (raw) => {
      if (ended) return
      const frame = parsed(raw)
      // Its content comes again with the session.
      if (frame === null) {
        events.unreadable()
        return end({ next: 'resume', why: 'a frame could not be read' })
      }
      const { op, d, s, t } = frame
      if (op === 0 && typeof t === 'string') dispatch(t, typeof s === 'number' ? s : 0, d)
      else if (op === 1) beat()
      else if (op === 7) end({ next: 'resume', why: 'Discord asks to connect again' })
      else if (op === 9) end(invalidSession(d === true, deps))
      else if (op === 10) hello(d)
      else if (op === 11) {
        isAnswered = true
        answered()
      }
    })
    // Only the code, because a network error's message may contain the URL.
    socket.on('error', (error) => {
      const { code } = error as NodeJS.ErrnoException
      end(
        code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'
          ? endingOf(1009)
          : { next: 'resume', why: `the connection failed (${code ?? 'protocol'})`, offline: true },
      )
    })
    socket.on('close', (code) => end(endingOf(code)))
  })
}

function invalidSession(isResumable: boolean, { random, timings }: OpenDeps): Ending {
  const delayMs = Math.round(timings.invalidMs * (0.2 + 0.8 * fraction(random)))
  return isResumable
    ? { next: 'resume', why: 'the session is held back for a moment', delayMs }
    : { next: 'identify', why: 'Discord does not know the session any more', delayMs }
}

/** Never throws. A session without an id cannot be resumed, but is valid. */
function sessionOf(ready: unknown): Session {
  const { session_id, resume_gateway_url } = (ready ?? {}) as Readonly<Record<string, unknown>>
  return {
    id: typeof session_id === 'string' ? session_id.slice(0, 200) : '',
    resumeUrl: typeof resume_gateway_url === 'string' ? resume_gateway_url.slice(0, 500) : null,
    stored: 0,
  }
}

function fraction(random: Random): number {
  return Buffer.from(random.bytes(4)).readUInt32BE(0) / 0x1_0000_0000
}

interface Frame {
  readonly op?: unknown
  readonly d?: unknown
  readonly s?: unknown
  readonly t?: unknown
}

function parsed(data: unknown): Frame | null {
  try {
    const value: unknown = JSON.parse(String(data))
    return typeof value === 'object' && value !== null ? (value as Frame) : null
  } catch {
    return null
  }
}
