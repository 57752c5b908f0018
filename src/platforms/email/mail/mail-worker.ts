// The worker that reads mails.
import { serveTasks } from '../../../kit/workers/serve-tasks.ts'
import { MAIL_TASKS } from './mail-tasks.ts'

// The MIME reader joins each line of a mail with a Blob, and Node's takes 7 µs and 1 kB per line. Only the worker sees
// this global.
Object.assign(globalThis, { Blob: LightBlob })
serveTasks(MAIL_TASKS)

// A minimal Blob for the MIME reader: chunks that become one buffer. Node's Blob costs 7 µs and 1 kB per chunk, and the
// reader makes two chunks per line.

/** Called with `new`. */
function LightBlob(chunks: readonly (Uint8Array | ArrayBuffer | string)[]) {
  return { arrayBuffer: async () => joined(chunks) }
}

function joined(chunks: readonly (Uint8Array | ArrayBuffer | string)[]): ArrayBuffer {
  let size = 0
  for (const chunk of chunks) size += typeof chunk === 'string' ? Buffer.byteLength(chunk) : chunk.byteLength
  const bytes = Buffer.alloc(size)
  let at = 0
  for (const chunk of chunks) {
    if (typeof chunk === 'string') at += bytes.write(chunk, at)
    else {
      bytes.set(chunk instanceof ArrayBuffer ? new Uint8Array(chunk) : chunk, at)
      at += chunk.byteLength
    }
  }
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + size)
}
