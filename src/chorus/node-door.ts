// One handler, two runtimes: Node's http and the web's Request/Response. Bodies are read up to a limit.

/** What the core of a handler sees and answers. */
export interface PlainRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Uint8Array
}
export interface PlainReply {
  readonly status: number
  readonly body: unknown
}

/** The parts of node:http that are used, so that the types need no import. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}
export interface NodeResponse {
  writeHead(status: number, headers: Record<string, string>): unknown
  end(body: string): unknown
}

export interface Handlers {
  /** For web-standard runtimes: `export default { fetch: agent.fetch }`. */
  readonly fetch: (request: Request) => Promise<Response>
  /** For Node: `createServer(agent.node)`. */
  readonly node: (request: NodeRequest, response: NodeResponse) => void
}

const MAX_BODY_BYTES = 1_048_576
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' }
const TOO_LARGE: PlainReply = { status: 413, body: problem('the body is over the limit of 1 MiB') }

export function problem(error: string): { readonly ok: false; readonly error: string } {
  return { ok: false, error }
}

export function createHandlers(answer: (request: PlainRequest) => Promise<PlainReply>): Handlers {
  const safely = (request: PlainRequest) =>
    answer(request).catch(() => ({ status: 500, body: problem('an internal error') }))
  return {
    fetch: async (request) => {
      const body = await readStream(request)
      const headers = Object.fromEntries(request.headers)
      const path = new URL(request.url).pathname
      const reply = body === null ? TOO_LARGE : await safely({ method: request.method, path, headers, body })
      return new Response(JSON.stringify(reply.body), { status: reply.status, headers: JSON_TYPE })
    },
    node(request, response) {
      const reply = async (): Promise<PlainReply> => {
        const body = await readAll(request)
        if (body === null) return TOO_LARGE
        const [path = '/'] = (request.url ?? '/').split('?')
        const headers = Object.fromEntries(
          Object.entries(request.headers).map(([name, value]) => [
            name,
            Array.isArray(value) ? value[0] : value,
          ]),
        )
        return safely({ method: request.method ?? 'GET', path, headers, body })
      }
      reply().then(
        ({ status, body }) => {
          response.writeHead(status, JSON_TYPE)
          response.end(JSON.stringify(body))
        },
        () => undefined, // The peer went away while it was speaking.
      )
    },
  }
}

/** Null as soon as it is over the limit: the rest is not even read. */
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

async function readAll(request: NodeRequest): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.byteLength
    if (size <= MAX_BODY_BYTES) chunks.push(chunk)
  }
  return size > MAX_BODY_BYTES ? null : Buffer.concat(chunks)
}
