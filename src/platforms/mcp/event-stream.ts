// Reads an event stream before the SDK does. The SDK's schema refuses messages that must be recorded, so channel
// notifications are taken out raw. All other bytes pass unchanged.
import { readMessage, type ServerPush, TooComplex } from '../../contract/index.ts'
import { newsOf } from './parse.ts'

export interface EventTaps {
  news(push: ServerPush): void
  /** A larger event ends the stream. */
  readonly maxBytes: number
}

/** The most lines of one event. A message has one, or a few. */
const MOST_LINES = 10_000
const LF = 10
const CR = 13
/**
 * Replaces a taken notification. The SDK keeps the event's id, so that it can resume, and ignores the unknown method.
 */
const TAKEN = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/switchboard/taken' })

export function tapEvents(taps: EventTaps): TransformStream<Uint8Array, Uint8Array> {
  let parts: Buffer[] = []
  let size = 0
  // An empty line ends an event. Lines end with LF, CR or both, and a chunk may end between the two.
  let lineIsEmpty = true
  let afterCr = false
  let lines = 0

  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
      let from = 0
      let line = 0
      const ends = createLineEnds(bytes)
      for (let at = ends.next(0); at !== -1; at = ends.next(at + 1)) {
        if (at > line) {
          lineIsEmpty = false
          afterCr = false
        }
        line = at + 1
        lines += 1
        if (lines > MOST_LINES) return controller.error(new Error('an event has too many lines'))
        const isSecondHalf = afterCr && bytes[at] === LF
        afterCr = bytes[at] === CR
        if (isSecondHalf) {
          // It belongs to the event before, which has ended already.
          if (parts.length === 0 && from === at) {
            controller.enqueue(bytes.subarray(from, line))
            from = line
          }
          continue
        }
        if (!lineIsEmpty) {
          lineIsEmpty = true
          continue
        }
        parts.push(bytes.subarray(from, line))
        from = line
        for (const out of taken(Buffer.concat(parts), taps)) controller.enqueue(out)
        parts = []
        size = 0
        lines = 0
      }
      if (line < bytes.length) {
        lineIsEmpty = false
        afterCr = false
      }
      if (from === bytes.length) return
      parts.push(bytes.subarray(from))
      size += bytes.length - from
      if (size > taps.maxBytes) controller.error(new Error('an event is too large'))
    },
    flush(controller) {
      for (const part of parts) controller.enqueue(part)
    },
  })
}

/** Takes the notifications out of an event. Returns the bytes that pass in its place. */
function taken(block: Buffer, taps: EventTaps): readonly Buffer[] {
  const lines = block.toString('utf8').split(/\r\n|\n|\r/)
  const type = fieldsOf(lines, 'event').at(-1) ?? ''
  const data = fieldsOf(lines, 'data')
  if (data.length === 0 || (type !== '' && type !== 'message')) return [block]
  let written: unknown
  try {
    written = readMessage(data.join('\n'))
  } catch (thrown) {
    // The SDK would parse it whole.
    if (thrown instanceof TooComplex) throw thrown
    return [block]
  }
  const messages = Array.isArray(written) ? written : [written]
  const left: unknown[] = []
  for (const message of messages) {
    const push = pushOf(message)
    if (push === null) left.push(message)
    else taps.news(push)
  }
  if (left.length === messages.length) return [block]
  const others = lines.filter((line) => line !== '' && !isField(line, 'data'))
  const event = (text: string) => Buffer.from([...others, `data: ${text}`, '', ''].join('\n'))
  return left.length === 0 ? [event(TAKEN)] : left.map((one) => event(JSON.stringify(one)))
}

function pushOf(message: unknown): ServerPush | null {
  if (typeof message !== 'object' || message === null || 'id' in message) return null
  const { jsonrpc, method, params } = message as Readonly<Record<string, unknown>>
  if (jsonrpc !== '2.0' || typeof method !== 'string') return null
  const news = newsOf(method, params)
  return news.ok ? news.value : null
}

function isField(line: string, name: string): boolean {
  return line === name || line.startsWith(`${name}:`)
}

function fieldsOf(lines: readonly string[], name: string): readonly string[] {
  return lines
    .filter((line) => isField(line, name))
    .map((line) => line.slice(name.length + 1).replace(/^ /, ''))
}

/** Finds the line ends of a chunk, each once. Most streams contain no CR at all. */
function createLineEnds(bytes: Buffer) {
  let lf = -2
  let cr = -2
  return {
    next(from: number): number {
      if (lf !== -1 && lf < from) lf = bytes.indexOf(LF, from)
      if (cr !== -1 && cr < from) cr = bytes.indexOf(CR, from)
      if (lf === -1 || cr === -1) return Math.max(lf, cr)
      return Math.min(lf, cr)
    },
  }
}
