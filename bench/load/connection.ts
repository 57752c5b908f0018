// One keep-alive connection with one outstanding request at a time. It parses as little as HTTP/1.1 allows, so that the
// client never dominates the measurement.
import { connect, type Socket } from 'node:net'

export interface Connection {
  /** Sends the bytes. `done` gets the status once the whole answer is there. */
  ask(request: Buffer, done: (status: number) => void): void
  close(): void
}

const HEAD_END = Buffer.from('\r\n\r\n')

export function openConnection(port: number, onFailure: (error: Error) => void): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let waiting: ((status: number) => void) | null = null
    let pending: Buffer | null = null
    let closing = false

    socket.on('data', (chunk: Buffer) => {
      const seen: Buffer = pending === null ? chunk : Buffer.concat([pending, chunk])
      const status = completeStatus(seen)
      pending = status === null ? seen : null
      if (status === null || waiting === null) return
      const done = waiting
      waiting = null
      done(status)
    })
    socket.once('connect', () =>
      resolve({
        ask(request, done) {
          waiting = done
          socket.write(request)
        },
        close() {
          closing = true
          socket.destroy()
        },
      }),
    )
    socket.once('error', (error) => {
      reject(error)
      onFailure(error)
    })
    socket.once('close', () => {
      if (!closing) onFailure(new Error('the server closed a connection'))
    })
  })
}

const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n')

/** Returns the status of a complete answer, or null if bytes are missing. Throws for an answer without a length. */
export function completeStatus(bytes: Buffer): number | null {
  const headEnd = bytes.indexOf(HEAD_END)
  if (headEnd === -1) return null
  const head = bytes.toString('latin1', 0, headEnd)
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (length === undefined && /\r\ntransfer-encoding: *chunked/i.test(head)) {
    const whole = bytes.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)
    return whole ? Number(head.slice(9, 12)) : null
  }
  if (length === undefined) throw new Error(`an answer without Content-Length: ${head.slice(0, 80)}`)
  return bytes.length < headEnd + 4 + Number(length) ? null : Number(head.slice(9, 12))
}
