// What carries the shim's frames to the daemon, whatever it is made of; and the simplest of them, the local socket.
import { connect } from 'node:net'
import { MAX_FRAME_BYTES } from '../contract/index.ts'
import { createFrameLines } from './frame-lines.ts'
import { gatherWrites } from './gathered-writes.ts'

/** Why a link could not be had, or broke. */
export interface LinkFailure {
  /** `absent`: nobody listens there. `refused`: somebody does, and does not let this one in. */
  readonly kind: 'absent' | 'refused' | 'broken'
  readonly problem: string
}

export interface LinkEvents {
  opened(): void
  /** One frame. */
  line(text: string): void
  /** `closed` follows. */
  failed(why: LinkFailure): void
  closed(): void
}

export interface FrameLink {
  /** One frame, with the end of its line. */
  send(text: string): void
  /** Ends in order. From now on it keeps no process alive. */
  end(): void
  destroy(): void
}

export type OpenLink = (events: LinkEvents) => FrameLink

/** The socket of a daemon on this machine. */
export function socketLink(path: string): OpenLink {
  return (events) => {
    const socket = connect(path)
    const lines = createFrameLines(MAX_FRAME_BYTES)
    socket.once('connect', events.opened)
    socket.on('data', (chunk) => {
      try {
        for (const line of lines.push(chunk)) events.line(line)
      } catch (thrown) {
        events.failed({ kind: 'broken', problem: `the daemon sent too long a frame (${String(thrown)})` })
        socket.destroy()
      }
    })
    socket.once('error', (error: NodeJS.ErrnoException) => {
      const absent = error.code === 'ENOENT' || error.code === 'ECONNREFUSED'
      const problem = `no daemon answers (${error.code ?? error.message})`
      events.failed({ kind: absent ? 'absent' : 'broken', problem })
    })
    socket.once('close', events.closed)
    const writes = gatherWrites((text) => void socket.write(text))
    return {
      send: writes.push,
      end() {
        writes.flush()
        socket.end()
        socket.unref()
      },
      destroy: () => void socket.destroy(),
    }
  }
}
