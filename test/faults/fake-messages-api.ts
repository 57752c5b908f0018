// A Messages API on loopback for a real Claude Code. It plays a model that writes and calls what a script says.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One answer of the model. */
export type ModelAnswer =
  | { readonly say: string }
  | { readonly call: string; readonly input: Readonly<Record<string, unknown>> }

export interface ModelRequest {
  readonly tools?: readonly { readonly name: string }[]
  readonly system?: unknown
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
}

export interface FakeMessagesApi {
  readonly url: string
  /** The requests that the script answered. */
  readonly requests: readonly ModelRequest[]
  stop(): Promise<void>
}

/** Calls `answer` for every request that carries tools. Side requests (titles and the like) get a short text. */
export async function createFakeMessagesApi(
  answer: (request: ModelRequest) => ModelAnswer,
): Promise<FakeMessagesApi> {
  const requests: ModelRequest[] = []
  let calls = 0

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await textOf(request)
    if (request.method !== 'POST' || !request.url?.startsWith('/v1/messages')) return response.end('{}')
    if (request.url.includes('count_tokens')) return response.end('{"input_tokens":1}')
    const asked = JSON.parse(body) as ModelRequest & { stream?: boolean }
    const main = (asked.tools?.length ?? 0) > 0
    if (main) requests.push(asked)
    const { block, stop } = blockOf(main ? answer(asked) : { say: 'ok' }, () => `toolu_${++calls}`)
    const message = {
      id: `msg_${requests.length}`,
      type: 'message',
      role: 'assistant',
      model: 'claude-test',
      usage: { input_tokens: 1, output_tokens: 1 },
    }
    if (asked.stream !== true) {
      response.setHeader('content-type', 'application/json')
      return response.end(
        JSON.stringify({ ...message, content: [block], stop_reason: stop, stop_sequence: null }),
      )
    }
    response.setHeader('content-type', 'text/event-stream')
    const send = (type: string, more: object) =>
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`)
    send('message_start', { message: { ...message, content: [], stop_reason: null, stop_sequence: null } })
    const started = block.type === 'text' ? { ...block, text: '' } : { ...block, input: {} }
    send('content_block_start', { index: 0, content_block: started })
    const delta =
      block.type === 'text'
        ? { type: 'text_delta', text: block.text }
        : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }
    send('content_block_delta', { index: 0, delta })
    send('content_block_stop', { index: 0 })
    send('message_delta', { delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: 1 } })
    send('message_stop', {})
    response.end()
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

type Block =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'tool_use'
      readonly id: string
      readonly name: string
      readonly input: Readonly<Record<string, unknown>>
    }

function blockOf(answer: ModelAnswer, id: () => string): { readonly block: Block; readonly stop: string } {
  return 'say' in answer
    ? { block: { type: 'text', text: answer.say }, stop: 'end_turn' }
    : { block: { type: 'tool_use', id: id(), name: answer.call, input: answer.input }, stop: 'tool_use' }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return String(Buffer.concat(chunks))
}
