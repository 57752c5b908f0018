// An agent behind the TCP fault proxy, with the product's connectors http, chorus and llm, on a river with a driven
// clock. The test waits for sockets in real time while the river's time passes.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createChorusAgent } from '../../src/agents/chorus/index.ts'
import { createHttpAgent } from '../../src/agents/http/index.ts'
import { createLlmConnector } from '../../src/agents/llm/index.ts'
import {
  type AgentConnector,
  asSwitchboardError,
  type ConnectorDeps,
  type TokenList,
} from '../../src/contract/index.ts'
import { createStreamingFetch } from '../../src/kit/index.ts'
import { createFaultProxy, type FaultProxy } from '../../src/testing/faults/fault-proxy.ts'
import { createFakeLlm } from '../../src/testing/llm/fake-llm.ts'
import { testAgent } from '../../src/testing/test-settings.ts'
import type { OpenRiver, River } from './river.ts'

export type Kind = 'http' | 'chorus' | 'llm'
export const KINDS: readonly Kind[] = ['http', 'chorus', 'llm']

export interface FaultyAgent {
  readonly river: River
  readonly proxy: FaultProxy
  /** How many requests the agent got. */
  asked(): number
  /** Lets time pass until `look` returns a value. Returns undefined if it never does. */
  until<T>(look: () => Promise<T | undefined> | T | undefined, stepMs?: number): Promise<T | undefined>
  standing(): Promise<{ state: string; detail?: string } | undefined>
  close(): Promise<void>
}

interface Backend {
  readonly port: number
  readonly count: () => number
  readonly close: () => Promise<void>
}

const LLM_OPTIONS = { provider: 'openai-compatible', api_key: 'env:KEY', model: 'm1' }

export async function openFaultyAgent(kind: Kind, open: OpenRiver): Promise<FaultyAgent> {
  let connector: AgentConnector | null = null
  let tokens: TokenList | null = null
  const door = await serve(async (request, response) => {
    try {
      const found = await tokens?.find((request.url ?? '').split('/').at(-1) ?? '')
      const body = Buffer.from(await textOf(request))
      const headers = request.headers as Record<string, string>
      const raw = {
        method: 'POST',
        path: '',
        query: new URLSearchParams(),
        headers,
        body,
        fromLoopback: true,
      }
      const reply = await connector?.callback?.(found?.scope ?? {}, raw)
      response.writeHead(reply?.status ?? 404).end()
    } catch (thrown) {
      response.writeHead(asSwitchboardError(thrown).nature.httpStatus).end()
    }
  })
  const backend = kind === 'llm' ? await llmBackend() : await httpBackend(kind)
  const proxy = await createFaultProxy({ port: backend.port })
  const make = async (deps: ConnectorDeps): Promise<AgentConnector> => {
    tokens = deps.tokens ?? null
    const given = { ...deps, secret: () => proxy.url, publicBase: () => door.url }
    const reach = createStreamingFetch({
      clock: deps.clock,
      headTimeoutMs: 120_000,
      connectTimeoutMs: 10_000,
    })
    connector =
      kind === 'http'
        ? createHttpAgent(given)
        : kind === 'chorus'
          ? createChorusAgent(given)
          : await createLlmConnector({ ...given, secret: () => 'sk-none' }, reach)
    return connector
  }
  const options = {
    http: { url: proxy.url, allow_private: true },
    chorus: { url: 'env:KATE', allow_private: true },
    llm: { ...LLM_OPTIONS, base_url: `${proxy.url}/v1` },
  }[kind]
  const river = await open({
    agents: [testAgent('kate', ['chat'], { connector: { type: kind, options } })],
    connectors: { [kind]: make },
  })
  return {
    river,
    proxy,
    asked: backend.count,
    async until(look, stepMs = 1_000) {
      for (let rounds = 0; rounds < 1_500; rounds++) {
        const found = await look()
        if (found !== undefined) return found
        await river.pass(stepMs)
        await new Promise<void>((resolve) => setTimeout(resolve, 2))
      }
      return undefined
    },
    standing: async () => (await river.operator().status()).agents.find(({ id }) => id === 'kate'),
    async close() {
      await proxy.stop()
      await Promise.all([backend.close(), door.close()])
    },
  }
}

/** An agent that answers each turn once, because it keeps its results by the id of the turn. */
async function httpBackend(kind: 'http' | 'chorus'): Promise<Backend> {
  let count = 0
  const answered = new Set<string>()
  const { port, close } = await serve(async (request, response) => {
    const body = await textOf(request)
    const turn = JSON.parse(body)
    count += 1
    if (kind === 'http') {
      response.writeHead(200, { 'content-type': 'application/json' })
      return void response.end(JSON.stringify({ text: `re: ${turn.text}` }))
    }
    response.writeHead(200).end('{"ok":true}')
    const { id, content } = turn.message
    if (answered.has(id)) return
    answered.add(id)
    const answer = JSON.stringify({ type: 'message', content: `re: ${content}`, event_id: id })
    for (let tries = 0; tries < 2_000; tries++) {
      const posted = await fetch(turn.callback, { method: 'POST', body: answer }).catch(() => null)
      if (posted && posted.status !== 503) return
      await new Promise<void>((resolve) => setTimeout(resolve, 5))
    }
  })
  return { port, count: () => count, close }
}

async function llmBackend(): Promise<Backend> {
  const fake = createFakeLlm({ script: ({ last }) => ({ text: `re: ${last}` }) })
  const { url, close } = await fake.listen()
  return { port: Number(new URL(url).port), count: () => fake.requests.length, close }
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}

async function serve(take: (request: IncomingMessage, response: ServerResponse) => Promise<void>) {
  const server = createServer((request, response) => {
    take(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
