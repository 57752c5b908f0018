// Reads a request's body up to a limit. Too large is told early, by Content-Length, before a byte is stored.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { SwitchboardError } from '../contract/index.ts'
import { errorReply } from './reply.ts'

const NOTHING = Buffer.alloc(0)

/** How long a body that nobody wants is still drained, so that the answer is not lost in a reset. */
const LINGER_MS = 1_000

export function declaredTooLarge(request: IncomingMessage, maxBytes: number): boolean {
  const declared = request.headers['content-length']
  return declared !== undefined && Number(declared) > maxBytes
}

/** Calls back once: with the body, with 'too large', or (the peer went away) never. */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  done: (body: Buffer | 'too large') => void,
): void {
  if (declaredTooLarge(request, maxBytes)) {
    done('too large')
    return
  }
  let first: Buffer = NOTHING
  let more: Buffer[] | null = null
  let size = 0
  const onData = (chunk: Buffer) => {
    size += chunk.length
    if (size > maxBytes) {
      request.off('data', onData)
      request.off('end', onEnd)
      done('too large')
    } else if (first === NOTHING) first = chunk
    else if (more === null) more = [first, chunk]
    else more.push(chunk)
  }
  const onEnd = () => done(more === null ? first : Buffer.concat(more))
  request.on('data', onData)
  request.on('end', onEnd)
}

/** 413, written whole before the connection goes: the peer is still sending, and closing at once would reset it. */
export function refuseTooLarge(request: IncomingMessage, response: ServerResponse, maxBytes: number): void {
  if (response.headersSent || response.destroyed) return
  const error = new SwitchboardError('too_large', `the body is over the limit of ${maxBytes} bytes`)
  const reply = errorReply(error)
  const body = String(reply.body)
  response.shouldKeepAlive = false
  response.writeHead(413, { ...reply.headers, 'content-length': Buffer.byteLength(body) })
  response.write(body)
  request.resume()
  const finish = () => {
    clearTimeout(timer)
    response.end()
  }
  const timer = setTimeout(finish, LINGER_MS)
  request.once('end', finish)
  request.once('close', finish)
}
