// Writes answers: plain replies, errors from the error table, streams with a bounded backlog.
import type { ServerResponse } from 'node:http'
import { type HttpReply, type StreamSink, SwitchboardError } from '../contract/index.ts'

/** For pages and the API: no foreign resources, no frames, no content sniffing, no referrer. */
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

/** Returns the error as a caller may see it. An `internal` error hides its message, which may contain anything. */
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

/** Whole seconds, at least one. A client that returns at once would be refused again. */
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

/** Writes a reply with or without a body. `last` asks the peer to close the connection. */
export function writeReply(response: ServerResponse, reply: HttpReply, last: boolean): void {
  if (response.destroyed || response.headersSent) return
  if (last) response.shouldKeepAlive = false
  const { body } = reply
  const length = body === undefined ? 0 : typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength
  response.writeHead(reply.status, { ...reply.headers, 'content-length': length })
  response.end(body)
}

export interface StreamBounds {
  /** A reader with more waiting bytes than this is dropped at the next event. */
  readonly backlogBytes: number
  /** A reader that takes no byte for this long is dropped. */
  readonly stallMs: number
}

/** Opens a stream: headers at once, then all that `stream` writes until one side ends it. */
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
  // The socket's own timeout counts from the last byte sent, also within one large event.
  response.setTimeout(stallMs, () => {
    if (response.writableLength > 0) response.destroy()
  })
  // The status was already sent, so a failing stream is aborted. The reader then sees that it is incomplete.
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
      // Checked before writing, so that one event above the limit still reaches an active reader.
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
          // 'drain' fires only after the buffer was over its mark. The callback of an empty write marks that the rest
          // was sent.
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
