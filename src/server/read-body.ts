// Reads a request's body up to a limit. A Content-Length above it is refused before any byte is stored.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type HttpReply, SwitchboardError } from '../contract/index.ts'
import { DRAINING } from './connections.ts'
import { errorReply } from './reply.ts'

const NOTHING = Buffer.alloc(0)

/** A refused body is read for this long, so that a reset does not destroy the answer. */
const LINGER_MS = 1_000

/** An unread body up to this size is discarded as it arrives, and the connection stays open. */
const SMALL_BYTES = 65_536

export type BodyProblem = 'too large' | 'too many' | 'too slow' | 'draining'

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

export function declaredTooLarge(request: IncomingMessage, maxBytes: number): boolean {
  const declared = request.headers['content-length']
  return declared !== undefined && Number(declared) > maxBytes
}

/**
 * Calls back once, with the body or its error. If the peer leaves, it never calls back. `keep` says whether there is
 * room for more bytes. Returns a function that stops it without a call, or null when it has already called back.
 */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  done: (body: Buffer | BodyProblem) => void,
  keep: (bytes: number) => boolean = always,
): (() => void) | null {
  if (declaredTooLarge(request, maxBytes)) {
    done('too large')
    return null
  }
  let first: Buffer = NOTHING
  let more: Buffer[] | null = null
  let size = 0
  const stop = () => {
    request.off('data', onData)
    request.off('end', onEnd)
    first = NOTHING
    more = null
  }
  const onData = (chunk: Buffer) => {
    size += chunk.length
    if (size > maxBytes || !keep(chunk.length)) {
      stop()
      done(size > maxBytes ? 'too large' : 'too many')
    } else if (first === NOTHING) first = chunk
    else if (more === null) more = [first, chunk]
    else more.push(chunk)
  }
  const onEnd = () => done(more === null ? first : Buffer.concat(more))
  request.on('data', onData)
  request.on('end', onEnd)
  return stop
}

function always(): boolean {
  return true
}

export function bodyRefusal(problem: BodyProblem, maxBytes: number): HttpReply {
  if (problem === 'too large')
    return errorReply(new SwitchboardError('too_large', `the body is over the limit of ${maxBytes} bytes`))
  if (problem === 'too many')
    return errorReply(
      new SwitchboardError('draining', 'too many bodies are on their way at once', { retryAfterMs: 2_000 }),
    )
  if (problem === 'draining')
    return errorReply(new SwitchboardError('draining', 'the daemon ended before the whole body came'))
  return { ...errorReply(new SwitchboardError('input_invalid', 'the body came too slowly')), status: 408 }
}

/** Whether the peer may still send much when the answer is written now. */
export function isStillSending(request: IncomingMessage): boolean {
  if (request.complete) return false
  const { 'content-length': declared, 'transfer-encoding': encoding } = request.headers
  return encoding !== undefined || Number(declared ?? 0) > SMALL_BYTES
}

/**
 * Writes the whole answer before it closes the connection. The peer still sends, and closing at once would reset it.
 */
export function refuseUnread(request: IncomingMessage, response: ServerResponse, reply: HttpReply): void {
  if (response.headersSent || response.destroyed) return
  const body = Buffer.from(reply.body ?? '')
  response.shouldKeepAlive = false
  response.writeHead(reply.status, { ...reply.headers, 'content-length': body.length })
  response.write(body)
  request.resume()
  const finish = () => {
    clearTimeout(timer)
    response.end()
  }
  const timer = setTimeout(finish, LINGER_MS)
  request.once('end', finish)
  request.once('close', finish)
  response.once(DRAINING, finish)
}
