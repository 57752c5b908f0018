// Writing answers: plain replies, errors from the one table, streams with a bounded backlog.
import type { ServerResponse } from 'node:http'
import { type HttpReply, type StreamSink, SwitchboardError } from '../contract/index.ts'

/** For pages and the API: nothing foreign is loaded, nothing is framed, nothing is guessed or told onward. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

export function json(status: number, value: unknown, headers?: Readonly<Record<string, string>>): HttpReply {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: JSON.stringify(value),
  }
}

/** The error as a caller may see it. An `internal` one says no more than that: its message may hold anything. */
export function errorReply(error: SwitchboardError, more: Readonly<Record<string, unknown>> = {}): HttpReply {
  const { httpStatus, retryable } = error.nature
  const headers: Record<string, string> = {}
  if (error.retryAfterMs !== undefined) headers['retry-after'] = retryAfter(error.retryAfterMs)
  else if (httpStatus === 503 && retryable) headers['retry-after'] = '5'
  if (httpStatus === 401) headers['www-authenticate'] = 'Bearer realm="switchboard"'
  const told = error.code === 'internal' ? 'an internal error; the log has the story' : error.message
  const hint = error.hint === undefined || error.code === 'internal' ? {} : { hint: error.hint }
  return json(httpStatus, { ok: false, code: error.code, error: told, ...hint, ...more }, headers)
}

/** Whole seconds, at least one: a client that comes back at once would be refused again. */
function retryAfter(delayMs: number): string {
  return String(Math.min(86_400, Math.max(1, Math.ceil(delayMs / 1000))))
}

export function methodNotAllowed(allow: string): HttpReply {
  const error = new SwitchboardError('method_not_allowed', `this path takes ${allow} only`)
  const reply = errorReply(error)
  return { ...reply, headers: { ...reply.headers, allow } }
}

export function notFound(what = 'there is nothing at this path'): HttpReply {
  return errorReply(new SwitchboardError('not_found', what))
}

/** Writes a reply that has a body or none. `last` asks the peer to close the connection. */
export function writeReply(response: ServerResponse, reply: HttpReply, last: boolean): void {
  if (response.destroyed || response.headersSent) return
  if (last) response.shouldKeepAlive = false
  const { body } = reply
  const length = body === undefined ? 0 : typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength
  response.writeHead(reply.status, { ...reply.headers, 'content-length': length })
  response.end(body)
}

export interface StreamBounds {
  /** With more than this waiting at the next event a reader is dropped. */
  readonly backlogBytes: number
  /** A reader that takes not a byte of what waits for it is dropped after this long. */
  readonly stallMs: number
}

/** Opens a stream: headers at once, then whatever `stream` writes until one side ends it. */
export function writeStream(
  response: ServerResponse,
  reply: HttpReply & { readonly stream: (sink: StreamSink) => void },
  { backlogBytes, stallMs }: StreamBounds,
): void {
  if (response.destroyed || response.headersSent) return
  // no-transform and X-Accel-Buffering keep proxies from holding events back.
  response.writeHead(reply.status, { 'x-accel-buffering': 'no', ...reply.headers })
  response.flushHeaders()
  response.socket?.setNoDelay(true)
  // The socket's own clock: it counts from the last byte that left, also within one large event.
  response.setTimeout(stallMs, () => {
    if (response.writableLength > 0) response.destroy()
  })
  // A stream that fails on its way is broken off: the reader sees that it is not whole, for the status is out already.
  const breakOff = () => response.destroy()
  try {
    const going: unknown = reply.stream(createSink(response, backlogBytes))
    if (going instanceof Promise) going.catch(breakOff)
  } catch {
    breakOff()
  }
}

function createSink(response: ServerResponse, backlogBytes: number): StreamSink {
  return {
    write(chunk) {
      if (response.destroyed || response.writableEnded) return
      // Looked at before: one event larger than the mark still reaches a reader who reads.
      if (response.writableLength > backlogBytes) response.destroy()
      else response.write(chunk)
    },
    async drained() {
      while (response.writableLength > 0 && !response.destroyed) {
        await new Promise<void>((resolve) => {
          const done = () => {
            response.off('drain', done)
            response.off('close', done)
            resolve()
          }
          response.on('drain', done)
          response.on('close', done)
          // 'drain' comes only when the buffer was over its mark; an empty write tells when the rest is out.
          if (!response.writableNeedDrain) response.write('', done)
        })
      }
    },
    get closed() {
      return response.destroyed || response.writableEnded
    },
    onClose(run) {
      response.once('close', run)
    },
    end() {
      response.end()
    },
  }
}
