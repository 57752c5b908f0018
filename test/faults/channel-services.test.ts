// A Claude Code behind a Chorus service: the tools that the service lends reach it by two tools of ours, conversation by
// conversation. And one that is fed by alerts alone: a flood of them passes its window.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { openChannel } from './channel-scene.ts'
import type { Audit } from './river-checks.ts'
import { askJson, createScene } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()
type Json = Readonly<Record<string, unknown>>
const SECRET = 'Bearer front-secret'

/** A server on this machine that answers each JSON body; the tool server and the callback of the service. */
async function serve(answer: (body: Json, authorization: string) => Json | null): Promise<string> {
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const said = answer(JSON.parse(text) as Json, request.headers.authorization ?? '')
    response.writeHead(said === null ? 202 : 200, { 'content-type': 'application/json' })
    response.end(said === null ? '' : JSON.stringify(said))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  scene.onEnd(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A tool server with one tool, behind a credential of its own. */
const toolServer = (tool: string, calls: Json[]) =>
  serve(({ id, method, params }, authorization) => {
    if (authorization !== SECRET) throw new Error('the tool server was asked without its credential')
    if (id === undefined) return null
    const answer = (result: Json) => ({ jsonrpc: '2.0', id, result })
    if (method === 'initialize') {
      const { protocolVersion } = params as Json
      const serverInfo = { name: 'miriad', version: '1' }
      return answer({ protocolVersion, capabilities: { tools: {} }, serverInfo })
    }
    const inputSchema = { type: 'object', properties: { slug: { type: 'string' } } }
    if (method === 'tools/list') return answer({ tools: [{ name: tool, inputSchema }] })
    calls.push(params as Json)
    return answer({ content: [{ type: 'text', text: `from ${tool}` }] })
  })

it('[I35.b24] lists and calls the tools of the service behind a conversation, and of no other', async () => {
  const place = openChannel(scene, {
    integrations: '  - { id: miriad, platform: chorus, allow_private: true }\n',
    bindings: ', { plugin: chorus, instance: miriad }',
  })
  const claude = await place.claude()
  expect(claude.tools.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['service_tools', 'call_service_tool']),
  )
  expect(claude.instructions).toContain('`service_tools`')
  const callback = await serve(() => ({}))
  const minted = await askJson<{ connection_string: string }>(place.data, 'chorus', 'connect', 'miriad')
  const calls: Json[] = []
  const deliver = async (channel: string, tool: string) => {
    const url = await toolServer(tool, calls)
    const taken = await fetch(minted.connection_string, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        channel: { id: channel, name: channel, service: 'Miriad' },
        message: { id: `m-${channel}-${tool}`, sender: 'svale', content: `look at ${tool}` },
        callback: `${callback}/cb`,
        mcp: { name: 'miriad', url: `${url}/mcp`, headers: { Authorization: SECRET } },
      }),
    })
    expect(taken.status).toBe(200)
    const prompt = await until('it arrives', () =>
      claude.prompts.find(({ content }) => content === `look at ${tool}`),
    )
    expect(prompt.envelope).not.toContain('front-secret')
    return String(prompt.meta.chat_id)
  }
  const design = await deliver('design', 'artifact_read')
  const ops = await deliver('ops', 'restart')
  const listed = async (chat_id: string) => {
    const { structured } = await claude.call('service_tools', { chat_id })
    return (structured.tools as readonly { readonly name: string }[]).map(({ name }) => name)
  }
  expect([await listed(design), await listed(ops)]).toEqual([['miriad__artifact_read'], ['miriad__restart']])
  const input = { name: 'miriad__artifact_read', arguments: { slug: 'auth-spec' } }
  expect(await claude.call('call_service_tool', { chat_id: design, ...input })).toMatchObject({
    isError: false,
    text: 'from artifact_read',
    structured: { ok: true, tool_name: 'miriad__artifact_read' },
  })
  expect(calls).toMatchObject([{ name: 'artifact_read', arguments: { slug: 'auth-spec' } }])
  for (const chat_id of [ops, 'hook:nobody']) {
    const refused = await claude.call('call_service_tool', { chat_id, ...input })
    expect(refused).toMatchObject({ isError: true, structured: { code: 'not_found' } })
  }
  expect(calls).toHaveLength(1)

  await deliver('design', 'artifact_write')
  expect(await listed(design), 'those of the newest delivery').toEqual(['miriad__artifact_write'])
})

it('[I35.b24] a host of an agent that no service feeds is not offered them', async () => {
  const claude = await openChannel(scene).claude()
  expect(claude.tools.map(({ name }) => name)).not.toContain('service_tools')
})

it('[I35.b20] a host that is fed by alerts takes 1,500 of them without a call, and one call is evidence of all', async () => {
  const MANY = 1_500
  const place = openChannel(scene, {
    hook: '  - { id: hook, platform: webhook, sender_header: X-Sender, access: { allow_from: [dev] } }\n',
    more: 'tunables: { sender_limit: { rps: 0, burst: 0 }, flood_limit: { rps: 0, burst: 0 } }\n',
  })
  const claude = await place.claude()
  for (let n = 0; n < MANY; n += 50)
    await Promise.all(Array.from({ length: 50 }, (_, at) => place.say(`alert ${n + at}`, `a${n + at}`)))
  await until('all have arrived', () => claude.prompts.length === MANY)
  const counts = async () => (await askJson<{ counts: Record<string, number> }>(place.data, 'status')).counts
  expect(await counts()).toMatchObject({ handed: MANY, queued: 0 })
  await claude.call('get_roster', { chat_id: 'hook:elsewhere' })
  await until('they are seen', async () => (await counts()).seen === MANY)
  expect(new Set(claude.prompts.map(({ content }) => content)).size).toBe(MANY)
  const audit = await askJson<Audit>(place.data, 'audit', 'verify')
  expect(audit).toMatchObject({ ok: true, conservation: { ok: true } })
})
