// Reads and writes the frames of the fake gateway, plain or as one compressed stream.
import { createDeflate, constants as zlib } from 'node:zlib'
import type { WebSocket } from 'ws'

/** With `zlib-stream`, one compression context serves the whole connection. Each message ends with a flush. */
export function writerOf(socket: WebSocket, compress: string | null): (text: string) => void {
  if (compress !== 'zlib-stream') return (text) => socket.send(text)
  const deflate = createDeflate()
  let parts: Buffer[] = []
  deflate.on('data', (part: Buffer) => parts.push(part))
  return (text) => {
    deflate.write(text)
    deflate.flush(zlib.Z_SYNC_FLUSH, () => {
      const whole = Buffer.concat(parts)
      parts = []
      if (socket.readyState === 1) socket.send(whole)
    })
  }
}

export function parsed(data: unknown): { readonly op?: unknown; readonly d?: unknown } | null {
  try {
    const value: unknown = JSON.parse(String(data))
    return typeof value === 'object' && value !== null ? value : null
  } catch {
    return null
  }
}
