// A scripted model behind both wire formats, as their vendors document them. It streams, is slow, cuts its stream off,
// asks to wait, is overloaded, refuses, and calls tools well or badly. It works as a `fetch` function and on loopback.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { anthropicBody, anthropicEvents } from './anthropic-wire.ts'
import { openAiChunks, openAiError } from './openai-wire.ts'

export interface FakeCall {
  readonly name: string
  /** The input as the model writes it: an object, or text that may be invalid JSON. */
  readonly input: unknown
  readonly id?: string
}

export interface FakeReply {
  readonly text?: string
  readonly calls?: readonly FakeCall[]
  readonly thinking?: string
  readonly stop?: 'length' | 'refusal' | 'pause'
  readonly usage?: {
    readonly input?: number
    readonly output?: number
    readonly cacheRead?: number
    readonly cacheWrite?: number
  }
  /** The number of events after which the connection ends. */
  readonly cutAfter?: number
  /** The fake waits for this before the head of the answer. It waits for `between` between two events. */
  readonly before?: () => Promise<void>
  readonly between?: () => Promise<void>
  /** Answers with an error instead. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly error?: { readonly type?: string; readonly code?: string; readonly message?: string }
  /** An error event in the stream, after HTTP 200. */
  readonly errorInStream?: { readonly type: string; readonly message: string }
  /** Raw lines of the stream, for the quirks of other servers. */
  readonly raw?: readonly string[]
  /** The status for the `raw` lines, if not 200. */
  readonly rawStatus?: number
}

export interface FakeRequest {
  readonly wire: 'anthropic' | 'openai'
  readonly model: string
  readonly body: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>
  /** The text of the newest message of the person, or of the newest tool results. */
  readonly last: string
  /** Whether the newest message holds tool results. */
  readonly isResult: boolean
}

export type FakeScript = (request: FakeRequest, at: number) => FakeReply | Promise<FakeReply>

export interface FakeLlm {
  readonly requests: FakeRequest[]
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>
  /** Listens on loopback. `url` is the base URL for Anthropic's wire format. For OpenAI's format, append /v1. */
  listen(port?: number): Promise<{ readonly url: string; close(): Promise<void> }>
}

export interface FakeLlmOptions {
  readonly key?: string
  readonly models?: readonly string[]
  readonly script?: FakeScript
  readonly onRequest?: (request: FakeRequest) => void
}

export function createFakeLlm({
  key,
  models,
  script = repeatAfterMe,
  onRequest,
}: FakeLlmOptions = {}): FakeLlm {
  const requests: FakeRequest[] = []

  const answer = async (
    path: string,
    headers: Readonly<Record<string, string>>,
    text: string,
  ): Promise<Answer> => {
    const wire = path.endsWith('/chat/completions')
      ? 'openai'
      : path.endsWith('/messages')
        ? 'anthropic'
        : null
    if (wire === null) return plain(404, { error: { message: 'there is nothing here' } })
    const body = JSON.parse(text) as Record<string, unknown>
    // Anthropic accepts either header. Its current SDK sends the second.
    const given = headers['x-api-key'] ?? headers.authorization?.replace(/^Bearer /, '')
    if (key !== undefined && given !== key)
      return failed(wire, {
        status: 401,
        error: { type: 'authentication_error', message: `Incorrect API key provided: ${given}` },
      })
    const model = String(body.model)
    if (models && !models.includes(model))
      return failed(wire, {
        status: 404,
        error: { type: 'not_found_error', code: 'model_not_found', message: `model: ${model}` },
      })
    const request = { wire, model, body, headers, ...lastOf(body, wire) } as const
    requests.push(request)
    onRequest?.(request)
    const reply = await script(request, requests.length - 1)
    await reply.before?.()
    if (reply.status !== undefined) return failed(wire, reply)
    const events =
      reply.raw ??
      (wire === 'anthropic'
        ? anthropicEvents(reply, model, requests.length)
        : openAiChunks(reply, model, requests.length))
    return {
      status: reply.rawStatus ?? 200,
      headers: { 'content-type': 'text/event-stream', 'request-id': `req_${requests.length}` },
      events,
      reply,
    }
  }

  async function* played({ events, reply }: Answer): AsyncGenerator<string> {
    for (const [at, event] of events.entries()) {
      if (reply?.cutAfter === at) throw new Error('cut')
      yield event
      await reply?.between?.()
    }
    if (reply?.cutAfter !== undefined && reply.cutAfter >= events.length) throw new Error('cut')
  }

  return {
    requests,
    async fetch(input, init = {}) {
      const url = new URL(input instanceof Request ? input.url : input)
      const headers = Object.fromEntries(new Headers(init.headers))
      init.signal?.throwIfAborted()
      const given = await untilAborted(answer(url.pathname, headers, String(init.body)), init.signal)
      const source = played(given)
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          try {
            const next = await untilAborted(source.next(), init.signal)
            if (next.done) controller.close()
            else controller.enqueue(new TextEncoder().encode(next.value))
          } catch (thrown) {
            controller.error(thrown)
          }
        },
      })
      return new Response(body, { status: given.status, headers: given.headers })
    },
    async listen(port = 0) {
      const server = createServer((request, response) => {
        const chunks: Buffer[] = []
        request.on('data', (chunk: Buffer) => chunks.push(chunk))
        request.on('end', async () => {
          try {
            const headers = request.headers as Record<string, string>
            const { pathname } = new URL(request.url ?? '/', 'http://fake')
            const given = await answer(pathname, headers, Buffer.concat(chunks).toString())
            response.writeHead(given.status, given.headers)
            for await (const event of played(given)) response.write(event)
            response.end()
          } catch {
            response.destroy()
          }
        })
      })
      await new Promise<void>((resolve, reject) =>
        server.once('error', reject).listen(port, '127.0.0.1', resolve),
      )
      return {
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        close: () =>
          new Promise<void>((resolve) => {
            server.closeAllConnections()
            server.close(() => resolve())
          }),
      }
    },
  }
}

interface Answer {
  readonly status: number
  readonly headers: Record<string, string>
  readonly events: readonly string[]
  readonly reply?: FakeReply
}

function plain(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    events: [JSON.stringify(body)],
  }
}

function failed(wire: 'anthropic' | 'openai', { status = 500, error = {}, headers = {} }: FakeReply): Answer {
  return plain(status, wire === 'anthropic' ? anthropicBody(error) : openAiError(error), headers)
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal | null | undefined): Promise<T> {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    const aborted = () => reject(Object.assign(new Error('aborted'), { name: 'AbortError' }))
    signal.addEventListener('abort', aborted, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted))
  })
}

/** The person's words without the element around them. */
function lastOf(
  body: Record<string, unknown>,
  wire: FakeRequest['wire'],
): Pick<FakeRequest, 'last' | 'isResult'> {
  const messages = body.messages as { role: string; content: unknown }[]
  const newest = messages.at(-1)
  const blocks = Array.isArray(newest?.content) ? (newest.content as Record<string, unknown>[]) : []
  const results = blocks.filter((one) => one.type === 'tool_result')
  const isResult = wire === 'openai' ? newest?.role === 'tool' : results.length > 0
  if (isResult)
    return {
      isResult,
      last:
        wire === 'openai' ? String(newest?.content) : results.map((one) => textOf(one.content)).join('\n'),
    }
  const said =
    typeof newest?.content === 'string'
      ? newest.content
      : blocks.map((one) => String(one.text ?? '')).join('\n')
  const inner = /<channel [^>]*>\n([\s\S]*)\n<\/channel>\s*$/.exec(said)
  return { isResult, last: inner?.[1] ?? said }
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return (content as { text?: string }[]).map((one) => one.text ?? '').join('\n')
}

/** `call NAME {…}` calls that tool. The model repeats the result and all other texts. */
const repeatAfterMe: FakeScript = ({ last, isResult }) => {
  if (isResult) return { text: `The tool said: ${last}` }
  const call = /^call (\S+)(?: (\{[\s\S]*\}))?$/.exec(last.trim())
  if (!call) return { text: `You said: ${last}` }
  return { calls: [{ name: call[1] ?? '', input: call[2] ?? '{}' }] }
}
