// The transport of the shim's frames to the daemon, and the simplest one: the local socket.
import { connect } from 'node:net'
import { MAX_FRAME_BYTES } from '../contract/index.ts'
import { createFrameLines } from './frame-lines.ts'
import { gatherWrites } from './gathered-writes.ts'

/** Why a connection failed or broke. */
export interface LinkFailure {
  /** `absent`: no process listens there. `refused`: one does, and does not admit this host. */
  readonly kind: 'absent' | 'refused' | 'broken'
  readonly problem: string
}

export interface LinkEvents {
  opened(): void
  /** Called with one frame. */
  line(text: string): void
  /** Called before `closed`. */
  failed(why: LinkFailure): void
  closed(): void
}

export interface FrameLink {
  /** Sends one frame, with the end of its line. */
  send(text: string): void
  /** Ends the connection in order. It then keeps no process alive. */
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
