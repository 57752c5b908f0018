// One handler for two runtimes: Node's http, and the web's Request and Response. Bodies are read up to a limit.
import { pause } from './timers.ts'

/** The request and answer of the handler's core. */
export interface PlainRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Uint8Array
}
export interface PlainReply {
  readonly status: number
  readonly body: unknown
  /** Work after the answer. Never rejects. */
  readonly goesOn?: Promise<unknown>
}

/** The used parts of node:http, so that the types need no import. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}
export interface NodeResponse {
  writeHead(status: number, headers: Record<string, string>): unknown
  write(body: string): unknown
  end(body?: string): unknown
}

export interface Handlers {
  /**
   * For web-standard runtimes: `export default { fetch: agent.fetch }`. If the second or third argument has a
   * `waitUntil`, it gets the work after the answer.
   */
  readonly fetch: (request: Request, ...runtime: readonly unknown[]) => Promise<Response>
  /** For Node: `createServer(agent.node)`. */
  readonly node: (request: NodeRequest, response: NodeResponse) => void
}

const MAX_BODY_BYTES = 1_048_576
/** How long a refused body is still read, so that the answer is not lost in a reset. */
const LINGER_MS = 1_000
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' }
const TOO_LARGE: PlainReply = { status: 413, body: problem('the body is over the limit of 1 MiB') }

export function problem(error: string): { readonly ok: false; readonly error: string } {
  return { ok: false, error }
}

export function createHandlers(answer: (request: PlainRequest) => Promise<PlainReply>): Handlers {
  const safely = (request: PlainRequest): Promise<PlainReply> =>
    answer(request).catch(() => ({ status: 500, body: problem('an internal error') }))
  return {
    fetch: async (request, ...runtime) => {
      const body = await readStream(request)
      const headers = Object.fromEntries(request.headers)
      const path = new URL(request.url).pathname
      const reply = body === null ? TOO_LARGE : await safely({ method: request.method, path, headers, body })
      if (reply.goesOn) runtime.find(canWait)?.waitUntil(reply.goesOn)
      return new Response(JSON.stringify(reply.body), { status: reply.status, headers: JSON_TYPE })
    },
    node(request, response) {
      const chunks = request[Symbol.asyncIterator]()
      const reply = async (): Promise<void> => {
        const body = await readUpTo(chunks, request.headers['content-length'])
        if (body === null) return refuseTooLarge(chunks, response)
        const [path = '/'] = (request.url ?? '/').split('?')
        const headers = Object.fromEntries(
          Object.entries(request.headers).map(([name, value]) => [
            name,
            Array.isArray(value) ? value[0] : value,
          ]),
        )
        const told = await safely({ method: request.method ?? 'GET', path, headers, body })
        response.writeHead(told.status, JSON_TYPE)
        response.end(JSON.stringify(told.body))
      }
      reply().catch(() => undefined) // The peer went away while it was speaking.
    },
  }
}

function canWait(given: unknown): given is { waitUntil(work: Promise<unknown>): void } {
  return typeof (given as { waitUntil?: unknown } | null | undefined)?.waitUntil === 'function'
}

/** Returns null at the limit. The rest is not read. */
async function readStream(request: Request): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = []
  let size =
    Number(request.headers.get('content-length') ?? 0) > MAX_BODY_BYTES ? Number.POSITIVE_INFINITY : 0
  const reader = request.body?.getReader()
  while (reader) {
    if (size > MAX_BODY_BYTES) {
      await reader.cancel().catch(() => undefined)
      return null
    }
    const { done, value } = await reader.read()
    if (done) break
    size += value.byteLength
    chunks.push(value)
  }
  return Buffer.concat(chunks)
}

/** Returns null at the limit. Not by `for await`, because leaving that closes the connection. */
async function readUpTo(chunks: AsyncIterator<Uint8Array>, declared: unknown): Promise<Uint8Array | null> {
  const kept: Uint8Array[] = []
  let size = Number(declared ?? 0) > MAX_BODY_BYTES ? Number.POSITIVE_INFINITY : 0
  while (size <= MAX_BODY_BYTES) {
    const { done, value } = await chunks.next()
    if (done) return Buffer.concat(kept)
    size += value.byteLength
    kept.push(value)
  }
  return null
}

/**
 * Sends the whole answer before the connection ends. Ending it at once, while the peer still sends, would be a reset.
 */
async function refuseTooLarge(chunks: AsyncIterator<Uint8Array>, response: NodeResponse): Promise<void> {
  const text = JSON.stringify(TOO_LARGE.body)
  const length = String(Buffer.byteLength(text))
  response.writeHead(TOO_LARGE.status, { ...JSON_TYPE, connection: 'close', 'content-length': length })
  response.write(text)
  let waiting = true
  const drain = async () => {
    while (waiting && !(await chunks.next()).done);
  }
  await Promise.race([drain().catch(() => undefined), pause(LINGER_MS)])
  waiting = false
  response.end()
}
