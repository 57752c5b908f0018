// One connection of Socket Mode. It is made, says hello, brings envelopes, is told to go, and ends; each of these has a
// deadline or is told, so that nobody waits for a connection that is not one. That it is quiet means nothing: only a ping
// without an answer does.
import { type Cancel, type Clock, defined, SwitchboardError } from '../../../contract/index.ts'
import type { Timings } from '../config.ts'

export interface Envelope {
  readonly envelope_id: string
  readonly type: string
  readonly payload: unknown
}

export interface SocketEvents {
  /** Handled and committed: acknowledged with what comes back. What is thrown leaves it unacknowledged, to come again. */
  envelope(envelope: Envelope): Promise<object | undefined>
  /** Slack tells it to go: `warning`, `refresh_requested`, `link_disabled`, `too_many_websockets`. */
  disconnect(reason: string): void
  /** Once, whoever ended it. */
  closed(why: string): void
  /** A frame that is no JSON. */
  unreadable(): void
}

export interface SlackSocket {
  /** How many connections the app has, by Slack's count when this one began; null: it did not say. */
  readonly connections: number | null
  /** Whether a ping is answered. */
  probe(): Promise<boolean>
  /** Ends it once nothing is on its way any more, at the latest after `ms`. */
  drain(ms: number): void
  close(): void
}

const MAX_FRAME_BYTES = 4 * 1_048_576
const PROBE_MS = 10_000

export interface OpenDeps {
  readonly clock: Clock
  readonly timings: Pick<Timings, 'helloMs' | 'pingMs'>
}

/** Resolves at Slack's hello. Throws `platform_unavailable`, with Slack's reason where it gave one. */
export async function openSocket(
  url: string,
  events: SocketEvents,
  { clock, timings }: OpenDeps,
): Promise<SlackSocket> {
  const { WebSocket } = await import('ws')
  const socket = new WebSocket(url, {
    handshakeTimeout: timings.helloMs,
    maxPayload: MAX_FRAME_BYTES,
    perMessageDeflate: false,
    followRedirects: false,
  })
  return new Promise<SlackSocket>((resolve, reject) => {
    let live = false
    let ended = false
    let missed = 0
    let underway = 0
    let draining = false
    let pinging: Cancel = () => undefined
    let drained: Cancel = () => undefined
    const pongs = new Set<() => void>()

    const end = (why: string) => {
      if (ended) return
      ended = true
      hello()
      pinging()
      drained()
      socket.terminate()
      if (live) events.closed(why)
      else reject(new SwitchboardError('platform_unavailable', `Socket Mode: ${why}`))
    }
    const hello = clock.after(timings.helloMs, () => end('no hello came'))

    const ping = () => {
      pinging = clock.after(timings.pingMs, () => {
        // Two in a row: one is missed whenever this process was busy for a while.
        if (missed >= 2) return end('pings are not answered')
        missed += 1
        socket.ping('Ping from client')
        ping()
      })
    }
    const heard = () => {
      missed = 0
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
      ping()
      resolve({
        connections,
        probe: () =>
          new Promise<boolean>((answer) => {
            if (ended) return answer(false)
            const cancel = clock.after(PROBE_MS, () => {
              pongs.delete(back)
              answer(false)
            })
            const back = () => {
              cancel()
              pongs.delete(back)
              answer(true)
            }
            pongs.add(back)
            socket.ping('Probe from client')
          }),
        drain(ms) {
          draining = true
          drained = clock.after(ms, () => end('it was left'))
        },
        close: () => end('it was closed'),
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
        if (live) events.disconnect(reason)
        else end(reason)
      } else if (typeof frame.envelope_id === 'string') {
        take({ envelope_id: frame.envelope_id, type: String(frame.type), payload: frame.payload })
      }
    })
    socket.on('ping', heard)
    socket.on('pong', () => {
      heard()
      for (const back of [...pongs]) back()
    })
    // Only the code: a message of the network can name the URL, and its ticket.
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
