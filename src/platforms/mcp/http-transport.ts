// Connects to a channel server behind a URL: Streamable HTTP with a session, and notifications on the stream of the GET
// request. A stream that cannot be resumed, or a session that the server forgot, ends the connection, so that it is
// opened again. Otherwise the link would look up and receive nothing.
import type { Transport } from '@modelcontextprotocol/client'
import {
  type Clock,
  checkMessage,
  MAX_MESSAGE_BYTES,
  type ServerPush,
  SwitchboardError,
} from '../../contract/index.ts'
import { createStreamingFetch, type StreamingFetch } from '../../kit/index.ts'
import type { HttpLaunch } from './config.ts'
import { tapEvents } from './event-stream.ts'

export interface HttpTransport {
  readonly transport: Transport
  pause(): void
  resume(): void
  /** Ends the session at the server. The request may be lost. */
  farewell(): Promise<void>
}

export interface HttpTransportDeps {
  readonly clock: Pick<Clock, 'after'>
  readonly headTimeoutMs: number
  /** Called when the stream of notifications is lost for good. */
  readonly deaf: (reason: string) => void
  readonly news: (push: ServerPush) => void
  readonly fetch?: StreamingFetch
}

/** How often the SDK resumes the stream. After that the connection is opened again. */
const STREAM_TRIES = 4

export async function createHttpTransport(
  launch: HttpLaunch,
  deps: HttpTransportDeps,
): Promise<HttpTransport> {
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const reach = deps.fetch ?? createStreamingFetch({ clock: deps.clock, headTimeoutMs: deps.headTimeoutMs })
  const gate = createGate()
  const taps = { news: deps.news, maxBytes: MAX_MESSAGE_BYTES }
  let misses = 0

  const stream = async (input: string | URL | Request, init: RequestInit): Promise<Response> => {
    const failed = (reason: string) => {
      if (++misses > STREAM_TRIES) deps.deaf(reason)
    }
    let response: Response
    try {
      response = await reach(input, init)
    } catch (thrown) {
      failed('its stream of messages cannot be opened')
      throw thrown
    }
    if (response.ok) {
      misses = 0
      return through(response, gate.stream(), tapEvents(taps))
    }
    // 404 means that the session is forgotten. 405 means that the server never pushes, except within answers.
    if (response.status === 404 || response.status === 400) deps.deaf('it has forgotten the session')
    else if (response.status !== 405) failed(`its stream of messages is refused (HTTP ${response.status})`)
    return response
  }

  const guarded: StreamingFetch = async (input, init = {}) => {
    if ((init.method ?? 'GET') === 'GET') return stream(input, init)
    const response = await reach(input, init)
    if (response.status === 404 && new Headers(init.headers).has('mcp-session-id'))
      deps.deaf('it has forgotten the session')
    if (response.status >= 300 && response.status < 400)
      throw new SwitchboardError('platform_rejected', 'the URL redirects elsewhere, which is not followed', {
        hint: 'write the final URL under mcp_servers',
      })
    const isStream = response.headers.get('content-type')?.includes('text/event-stream') ?? false
    return isStream
      ? through(response, wholeBound(), tapEvents(taps))
      : through(response, wholeBound(), whole())
  }

  const transport = new StreamableHTTPClientTransport(new URL(launch.url), {
    requestInit: { headers: { ...launch.headers } },
    fetch: guarded,
    reconnectionOptions: {
      initialReconnectionDelay: 500,
      maxReconnectionDelay: 10_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: STREAM_TRIES,
    },
  })
  return {
    transport,
    pause: gate.shut,
    resume: gate.open,
    farewell: () => transport.terminateSession().catch(() => undefined),
  }
}

function through(response: Response, ...steps: readonly TransformStream<Uint8Array, Uint8Array>[]): Response {
  if (response.body === null) return response
  let body: ReadableStream<Uint8Array> = response.body
  for (const step of steps) body = body.pipeThrough(step)
  return new Response(body, response)
}

/** Limits the size of an answer. */
function wholeBound() {
  let size = 0
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      size += chunk.length
      if (size <= MAX_MESSAGE_BYTES) controller.enqueue(chunk)
      else controller.error(new Error('the answer is too large'))
    },
  })
}

/** Checks one message before the SDK parses it. */
function whole() {
  const parts: Uint8Array[] = []
  return new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk) => void parts.push(chunk),
    flush(controller) {
      const message = Buffer.concat(parts)
      checkMessage(message.toString('utf8'))
      if (message.length > 0) controller.enqueue(message)
    },
  })
}

/** Holds the bytes of a stream back while it is shut, which keeps the peer from sending more. */
function createGate() {
  let shut: Promise<void> | null = null
  let release: () => void = () => undefined
  return {
    shut() {
      shut ??= new Promise((resolve) => {
        release = resolve
      })
    },
    open() {
      shut = null
      release()
    },
    stream: () =>
      new TransformStream<Uint8Array, Uint8Array>({
        async transform(chunk, controller) {
          while (shut !== null) await shut
          controller.enqueue(chunk)
        },
      }),
  }
}
