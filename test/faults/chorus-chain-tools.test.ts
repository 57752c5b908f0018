// A service with tools of its own, two Switchboards in a row, and an agent written to the draft and to nothing else: it takes
// one object as `mcp`, hands it to an MCP client as it came, and posts to the callback.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, it } from 'vitest'
import { freePort } from '../../src/testing/free-port.ts'
import { askJson, createScene, writeConfig } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()
type Json = Readonly<Record<string, unknown>>

/** A server on this machine that is given each body as JSON and answers with what `answer` gives. */
async function serve(answer: (body: Json, request: IncomingMessage) => Json | null): Promise<string> {
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    if (request.method !== 'POST') return response.writeHead(405).end()
    const said = answer(JSON.parse(text) as Json, request)
    response.writeHead(said === null ? 202 : 200, { 'content-type': 'application/json' })
    return response.end(said === null ? '' : JSON.stringify(said))
  }
  const server = createServer((request, response) => void take(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  scene.onEnd(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const SECRET = 'Bearer front-secret'
/** The service's tool server: one tool, behind its own credential. */
function toolServer(calls: Json[]) {
  return serve(({ id, method, params }, request) => {
    if (request.headers.authorization !== SECRET)
      throw new Error('the tool server was asked without its credential')
    if (id === undefined) return null
    if (method === 'initialize') {
      const { protocolVersion } = params as Json
      const serverInfo = { name: 'miriad', version: '1' }
      return { jsonrpc: '2.0', id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo } }
    }
    if (method === 'tools/list') {
      const inputSchema = { type: 'object', properties: { slug: { type: 'string' } } }
      return { jsonrpc: '2.0', id, result: { tools: [{ name: 'artifact_read', inputSchema }] } }
    }
    calls.push(params as Json)
    return { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'two issues' }] } }
  })
}

interface Delivery {
  readonly channel: Json
  readonly message: Json
  readonly callback: string
  readonly mcp: { readonly url: string; readonly headers: Record<string, string> }
}

async function work({ callback, mcp }: Delivery): Promise<void> {
  const post = (event: Json) =>
    fetch(callback, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(event),
    })
  const client = new Client({ name: 'draft-agent', version: '1' })
  const { url, headers } = mcp
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  const { tools } = await client.listTools()
  const name = tools.find((tool) => tool.name.endsWith('artifact_read'))?.name ?? 'missing'
  await post({ type: 'tool_call', name, args: { slug: 'auth-spec' }, id: 'tc_1' })
  const result = await client.callTool({ name, arguments: { slug: 'auth-spec' } })
  const [said] = result.content as readonly { readonly text: string }[]
  await post({ type: 'tool_result', id: 'tc_1', content: said?.text ?? '' })
  await post({ type: 'message', content: `reviewed: ${said?.text}` })
  await client.close()
}

it('[I14.chorus-chain-draft] an agent written to the draft uses the tools of a service two Switchboards away', async () => {
  const calls: Json[] = []
  const events: Json[] = []
  const deliveries: Delivery[] = []
  const failures: unknown[] = []
  const tools = await toolServer(calls)
  const service = await serve((event) => {
    events.push(event)
    return {}
  })
  const agent = await serve((body) => {
    deliveries.push(body as unknown as Delivery)
    void work(body as unknown as Delivery).catch((thrown) => failures.push(thrown))
    return {}
  })
  /** A Switchboard whose one agent is at `url`; its own connection string comes back. */
  const link = async (url: string): Promise<string> => {
    const [data, port] = [scene.folder(), await freePort()]
    const config = writeConfig(
      data,
      `server: { port: ${port}, public_url: "http://127.0.0.1:${port}" }
integrations: [{ id: front, platform: chorus, allow_private: true }]
agents:
  - id: far
    connector: { type: chorus, url: "env:NEXT", allow_private: true }
    inbound_bindings: [{ plugin: chorus, instance: front }]
`,
    )
    await scene.start({ data, config, port, env: { NEXT: url } })
    const minted = await askJson<{ connection_string: string }>(data, 'chorus', 'connect', 'front')
    return minted.connection_string
  }
  const inbox = await link(await link(`${agent}/inbox/sk_draft`))
  const channel = { id: 'ch1', name: 'engineering', service: 'Miriad', context: 'protocol design' }
  const message = { id: 'm1', sender: 'svale', content: 'please review' }
  const mcp = { url: `${tools}/mcp`, headers: { Authorization: SECRET } }
  const taken = await fetch(inbox, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ channel, message, callback: `${service}/cb`, mcp }),
  })
  expect(taken.status).toBe(200)
  await until('the end of the turn', () => events.some(({ status }) => status === 'idle') || failures[0])
  expect(failures).toEqual([])
  const [delivery] = deliveries
  expect(deliveries).toHaveLength(1)
  expect(delivery?.channel).toEqual({ ...channel, id: expect.any(String) })
  expect(delivery?.message).toMatchObject({ sender: 'svale', content: 'please review' })
  expect([Array.isArray(delivery?.mcp), typeof delivery?.mcp.url]).toEqual([false, 'string'])
  expect(calls).toMatchObject([{ name: 'artifact_read', arguments: { slug: 'auth-spec' } }])
  const told = events.filter(({ type }) => type !== 'status').map(({ type, status }) => status ?? type)
  expect(told).toEqual(['processing', 'tool_call', 'tool_result', 'message', 'idle'])
  expect(events.find(({ type }) => type === 'message')).toMatchObject({ content: 'reviewed: two issues' })
})
