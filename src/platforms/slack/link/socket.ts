// One connection of Socket Mode: it opens, gets a hello, delivers envelopes, is asked to leave, and closes. Opening and
// leaving have deadlines. Silence means nothing, so the link requests a pong now and then.
import { type Cancel, type Clock, defined, SwitchboardError } from '../../../contract/index.ts'
import type { Timings } from '../config.ts'

export interface Envelope {
  readonly envelope_id: string
  readonly type: string
  readonly payload: unknown
}

export interface SocketEvents {
  /**
   * Resolves after the commit, with the content of the acknowledgement. If it throws, Slack sends the envelope again.
   */
  envelope(envelope: Envelope): Promise<object | undefined>
  /** Slack asks it to leave: `warning`, `refresh_requested`, `link_disabled`, `too_many_websockets`. */
  disconnect(reason: string): void
  /** A frame that is not JSON. */
  unreadable(): void
}

export interface SlackSocket {
  /** The number of the app's connections when this one began, by Slack's count. Null: Slack did not say. */
  readonly connections: number | null
  isOpen(): boolean
  /** Resolves with the reason when it is closed. */
  readonly closed: Promise<string>
  /** Sends a ping. Resolves when anything arrives. Without that it never resolves. */
  probe(): Promise<boolean>
  /** Closes it when nothing is in progress any more, at the latest after `drainMs`. */
  drain(): void
}

const MAX_FRAME_BYTES = 4 * 1_048_576

export interface OpenDeps {
  readonly clock: Clock
  readonly timings: Pick<Timings, 'helloMs' | 'drainMs'>
  /** Closes it, also during the opening. */
  readonly signal: AbortSignal
}

/** Resolves at Slack's hello. Throws `platform_unavailable`. */
export async function openSocket(
  url: string,
  events: SocketEvents,
  { clock, timings, signal }: OpenDeps,
): Promise<SlackSocket> {
  const { WebSocket } = await import('ws')
  signal.throwIfAborted()
  const socket = new WebSocket(url, {
    handshakeTimeout: timings.helloMs,
    maxPayload: MAX_FRAME_BYTES,
    perMessageDeflate: false,
    followRedirects: false,
  })
  return new Promise<SlackSocket>((resolve, reject) => {
    let live = false
    let ended = false
    let underway = 0
    let draining = false
    let drained: Cancel = () => undefined
    let close: (why: string) => void = () => undefined
    const probes = new Set<() => void>()
    const closed = new Promise<string>((resolve) => {
      close = resolve
    })

    const end = (why: string) => {
      if (ended) return
      ended = true
      hello()
      drained()
      signal.removeEventListener('abort', stop)
      socket.terminate()
      close(why)
      reject(new SwitchboardError('platform_unavailable', `Socket Mode: ${why}`))
    }
    const stop = () => end('it was closed')
    signal.addEventListener('abort', stop)
    const hello = clock.after(timings.helloMs, () => end('no hello came'))

    const heard = () => {
      for (const answer of probes) answer()
      probes.clear()
    }

    const settle = () => {
      underway -= 1
      if (draining && underway === 0) socket.close(1000)
    }
    const take = (envelope: Envelope) => {
      underway += 1
      events
        .envelope(envelope)
        .then((payload) => {
          if (socket.readyState !== 1) return
          const answer = defined({ payload })
          socket.send(JSON.stringify({ envelope_id: envelope.envelope_id, ...answer }))
        })
        .catch(() => undefined)
        .finally(settle)
    }

    const began = (connections: number | null) => {
      live = true
      hello()
      resolve({
        connections,
        isOpen: () => !ended,
        closed,
        probe: () =>
          new Promise<boolean>((answer) => {
            probes.add(() => answer(true))
            socket.ping('Probe from client')
          }),
        drain() {
          draining = true
          drained = clock.after(timings.drainMs, () => end('it was left'))
        },
      })
    }

    socket.on('message', (data, isBinary) => {
      heard()
      const frame = isBinary ? null : parsed(data)
      if (frame === null) return events.unreadable()
      if (frame.type === 'hello') {
        if (!live) began(typeof frame.num_connections === 'number' ? frame.num_connections : null)
      } else if (frame.type === 'disconnect') {
        const reason = typeof frame.reason === 'string' ? frame.reason.slice(0, 60) : 'no reason'
        events.disconnect(reason)
        if (!live) end(reason)
      } else if (typeof frame.envelope_id === 'string') {
        take({ envelope_id: frame.envelope_id, type: String(frame.type), payload: frame.payload })
      }
    })
    socket.on('ping', heard)
    socket.on('pong', heard)
    // Only the code, because a network error's message may contain the URL with its ticket.
    socket.on('error', (error) =>
      end(`the connection failed (${(error as NodeJS.ErrnoException).code ?? 'protocol'})`),
    )
    socket.on('close', (code) => end(`closed with ${code}`))
  })
}

function parsed(data: Buffer): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(data.toString('utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
