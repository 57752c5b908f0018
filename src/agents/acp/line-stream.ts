// The transport of an ACP agent: one JSON object per line, in both directions, over the pipes of its process. Other
// output (a banner, a log line, an unexpected answer) is counted and dropped.
import type { Readable, Writable } from 'node:stream'
import type { AnyMessage, Stream } from '@agentclientprotocol/sdk'
import { readMessage } from '../../contract/index.ts'

export interface LineStreamOptions {
  /** The longest line that is read. A longer one ends the link. */
  readonly maxLineBytes: number
  /** Called with each dropped line, cut, for the log. */
  readonly onNoise: (line: string) => void
}

const SHOWN_CHARS = 300
const UPDATE = 'session/update'
/**
 * The name under which `session/update` is passed on. The official library checks each update against its schema, even
 * with another reader. That takes a quarter of a second for the longest line, and throws at new kinds of updates.
 */
export const UPDATE_WITHIN = '_switchboard/update'

/** Reads only what the reader asks for, so the pipe slows down an agent that floods. */
export function lineStream(
  { stdin, stdout }: { stdin: Writable; stdout: Readable },
  { maxLineBytes, onNoise }: LineStreamOptions,
): Stream {
  /** Our requests without an answer. */
  const asked = new Set<string>()
  const lines = messagesOf(stdout, maxLineBytes, (line) => {
    const message = parsed(line)
    if (message === null || !belongs(message, asked)) {
      if (line.trim() !== '') onNoise(line.slice(0, SHOWN_CHARS))
      return null
    }
    return 'method' in message && message.method === UPDATE ? { ...message, method: UPDATE_WITHIN } : message
  })
  const readable = new ReadableStream<AnyMessage>(
    {
      async pull(controller) {
        try {
          const { value, done } = await lines.next()
          if (done) controller.close()
          else controller.enqueue(value)
        } catch (problem) {
          controller.error(problem)
        }
      },
      async cancel() {
        await lines.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
  const writable = new WritableStream<AnyMessage>({
    async write(message) {
      if ('method' in message && 'id' in message) asked.add(idOf(message.id))
      await written(stdin, `${JSON.stringify(message)}\n`)
    },
  })
  return { readable, writable }
}

async function* messagesOf(
  source: Readable,
  maxLineBytes: number,
  take: (line: string) => AnyMessage | null,
): AsyncGenerator<AnyMessage, undefined, undefined> {
  let pieces: Buffer[] = []
  let held = 0
  for await (const chunk of source as AsyncIterable<Buffer>) {
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      pieces.push(chunk.subarray(from, end))
      held += end - from
      if (held > maxLineBytes) throw tooLong(maxLineBytes)
      const message = take(Buffer.concat(pieces).toString('utf8'))
      pieces = []
      held = 0
      from = end + 1
      if (message) yield message
    }
    pieces.push(chunk.subarray(from))
    held += chunk.length - from
    if (held > maxLineBytes) throw tooLong(maxLineBytes)
  }
  // A last line without its end was cut, so it is no message.
  return undefined
}

function tooLong(maxLineBytes: number): Error {
  return new Error(`the agent wrote a line of more than ${maxLineBytes} bytes`)
}

function parsed(line: string): AnyMessage | null {
  try {
    const value = readMessage(line)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as AnyMessage) : null
  } catch {
    return null
  }
}

/** Whether it is a request, a notification, or the answer to an open request of ours. */
function belongs(message: AnyMessage, asked: Set<string>): boolean {
  if ('method' in message) return typeof message.method === 'string'
  if (!('id' in message) || !('result' in message || 'error' in message)) return false
  return asked.delete(idOf(message.id))
}

function idOf(id: unknown): string {
  return JSON.stringify(id) ?? ''
}

function written(stdin: Writable, line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    if (stdin.destroyed || stdin.writableEnded) return reject(new Error('the agent no longer reads'))
    stdin.write(line, (problem) => (problem ? reject(problem) : resolve()))
  })
}
