// The connection to a foreign MCP server stays the same, also if its tools change with every call.
import { expect, it } from 'vitest'
import type { StreamingFetch } from '../../kit/index.ts'
import { testConnectorDeps } from '../../testing/test-deps.ts'
import { readConfig } from './config.ts'
import { createMcpServers } from './mcp-servers.ts'

interface Asked {
  readonly id?: number
  readonly method: string
  readonly params?: { readonly protocolVersion?: string }
}

/** A server that has one more tool after every call, and announces it. `breaks`: it can no longer list them. */
function growingServer() {
  const methods: string[] = []
  const server = { methods, breaks: false, fetch: undefined as unknown as StreamingFetch }
  let tools = 1
  const answer = (id: number | undefined, result: unknown) => ({ jsonrpc: '2.0', id, result })
  const json = (value: unknown) =>
    new Response(JSON.stringify(value), { headers: { 'content-type': 'application/json' } })
  server.fetch = (async (_url: unknown, init: RequestInit = {}) => {
    if (init.method !== 'POST') return new Response(null, { status: 405 })
    const { id, method, params } = JSON.parse(String(init.body)) as Asked
    methods.push(method)
    switch (method) {
      case 'initialize':
        return json(
          answer(id, {
            protocolVersion: params?.protocolVersion,
            capabilities: { tools: { listChanged: true } },
            serverInfo: { name: 'growing', version: '1' },
          }),
        )
      case 'tools/list': {
        if (server.breaks)
          return json({ jsonrpc: '2.0', id, error: { code: -32_603, message: 'no list today' } })
        const names = Array.from({ length: tools }, (_, at) => `tool_${at}`)
        return json(answer(id, { tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })) }))
      }
      case 'tools/call': {
        tools += 1
        const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }
        const done = answer(id, { content: [{ type: 'text', text: 'done' }] })
        const events = [changed, done].map((one) => `data: ${JSON.stringify(one)}\n\n`).join('')
        return new Response(events, { headers: { 'content-type': 'text/event-stream' } })
      }
      default:
        return id === undefined
          ? new Response(null, { status: 202 })
          : json({ jsonrpc: '2.0', id, error: { code: -32_601, message: 'unknown' } })
    }
  }) as StreamingFetch
  return server
}

function scene() {
  const server = growingServer()
  const options = {
    ...{ provider: 'openai-compatible', base_url: 'http://127.0.0.1:9/v1', model: 'm1' },
    mcp: { growing: { url: 'http://127.0.0.1:9/mcp' } },
  }
  const deps = testConnectorDeps({ options })
  const servers = createMcpServers(readConfig(deps), { ...deps, fetch: server.fetch, version: '1', path: '' })
  const tools = () => servers.tools(new Set())
  const count = (method: string) => server.methods.filter((one) => one === method).length
  return { server, servers, tools, count, clock: deps.clock }
}

it('[I35.b21-list-changed] a server whose tools change with every call keeps its one connection, and its new tools are seen', async () => {
  const { servers, tools, count } = scene()
  for (let calls = 0; calls < 5; calls++) {
    const found = await tools()
    expect(found).toHaveLength(calls + 1)
    await found[0]?.call({}, new AbortController().signal)
  }
  expect(count('initialize')).toBe(1)
  expect(count('tools/list')).toBe(5)
  await servers.stop()
})

it('[I35.b21-list-changed] one that cannot list its tools again is left out with the reason, and connected again later', async () => {
  const { server, servers, tools, count, clock } = scene()
  await (await tools())[0]?.call({}, new AbortController().signal)
  server.breaks = true
  expect(await tools()).toEqual([])
  expect(servers.problems().get('growing')).toContain('no list today')
  server.breaks = false
  expect(await tools()).toEqual([])
  await clock.advance(60_000)
  expect(await tools()).toHaveLength(2)
  expect(servers.problems().size).toBe(0)
  expect(count('initialize')).toBe(2)
  await servers.stop()
})
