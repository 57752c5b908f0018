// The common part of the two bare servers: read the body, check the HMAC, parse the JSON. They are the lower bound.
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface SignedPost {
  readonly id: string
  readonly conversation: string
  readonly body: Buffer
}

const NOTHING = Buffer.alloc(0)

/** Listens on loopback, prints its URL, and calls `take` for every request with a valid signature and valid JSON. */
export function serveSignedPosts(secret: string, take: (post: SignedPost, done: () => void) => void): void {
  const key = createSecretKey(secret, 'utf8')
  const server = createServer((request, response) => {
    let body: Buffer = NOTHING
    request.on('data', (chunk: Buffer) => {
      body = body === NOTHING ? chunk : Buffer.concat([body, chunk])
    })
    request.on('end', () => {
      const given = Buffer.from(header(request, 'x-hub-signature-256').slice('sha256='.length), 'hex')
      const right = createHmac('sha256', key).update(body).digest()
      if (given.length !== right.length || !timingSafeEqual(given, right)) {
        answer(response, 401, '{"ok":false}')
        return
      }
      let parsed: { readonly event?: { readonly channel?: string } }
      try {
        parsed = JSON.parse(body.toString('utf8'))
      } catch {
        answer(response, 400, '{"ok":false}')
        return
      }
      const id = header(request, 'idempotency-key')
      take({ id, conversation: parsed.event?.channel ?? '', body }, () => {
        answer(response, 200, `{"ok":true,"id":"${id}","state":"queued"}`)
      })
    })
  })
  server.listen(0, '127.0.0.1', () => {
    console.log(JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }))
  })
  process.on('SIGTERM', () => process.exit(0))
}

function header(request: IncomingMessage, name: string): string {
  const value = request.headers[name]
  return typeof value === 'string' ? value : ''
}

function answer(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  })
  response.end(body)
}
