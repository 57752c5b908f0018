// The Chorus draft, section by section, against a real daemon in the middle: a service and an agent that know the draft and
// nothing else, in plain HTTP. The service posts to /inbox, the daemon posts to the agent, and what the agent says comes back.
import { writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { seed } from '../../src/platforms/chorus/fixtures/chorus-scene.ts'
import { expectLedgerHolds, settled } from './river-checks.ts'
import { askJson, createScene, writeConfig } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()

interface Heard {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Record<string, unknown> & { readonly type?: string }
}

/** Records what is posted to it. `answers`: the statuses of the first ones, then 200. */
async function open(answers: number[] = []) {
  const heard: Heard[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const { method = '', url = '', headers } = request
    heard.push({ method, path: url, headers, body: JSON.parse(text) as Heard['body'] })
    // The draft ignores the body of an answer, whatever it is.
    response.writeHead(answers.shift() ?? 200).end('<html>anything</html>')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  scene.onEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  return { heard, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const post = async (
  url: string,
  body: unknown,
  headers: Record<string, string> = { 'content-type': 'application/json' },
) => {
  const answer = await fetch(url, {
    method: 'POST',
    headers,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { status: answer.status, text: await answer.text() }
}

async function openDaemon(agentUrl: string) {
  const data = scene.folder()
  writeFileSync(join(data, 'agent.url'), `${agentUrl}/inbox/sk_a1b2c3d4e5f6`, { mode: 0o600 })
  const config = writeConfig(
    data,
    `integrations:
  - { id: miriad, platform: chorus, allow_private: true }
agents:
  - id: timber
    connector: { type: chorus, url: "file:agent.url", allow_private: true }
    inbound_bindings: [{ plugin: chorus, instance: miriad }]
`,
  )
  await scene.start({ data, config })
  const connect = async (verb: string) =>
    (await askJson<{ connection_string: string }>(data, 'chorus', verb, 'miriad')).connection_string
  return { data, connect }
}

const SEED_EVENTS = [
  { type: 'tool_call', name: 'web_search', args: { query: 'oslo weather' }, id: 'tc_001' },
  { type: 'tool_result', id: 'tc_001', content: 'Oslo: 3°C, cloudy, wind 5m/s NW' },
  { type: 'status', status: 'searching weather data' },
  { type: 'message', content: 'The weather in Oslo is 3°C and cloudy.' },
]

describe('[I35.b46-seeds-chorus] the Chorus draft, both ends', () => {
  it('§1–§3, §6: its examples go through as they stand, fresh callbacks each, events in order and without credentials', async () => {
    const agent = await open()
    const service = await open()
    const { data, connect } = await openDaemon(agent.url)
    const inbox = await connect('connect')
    expect(inbox).toMatch(/^http:\/\/[^/]+\/inbox\/sk_[\w-]{20,}$/)

    const callback = (path: string) => ({ callback: `${service.url}${path}` })
    const minimal = { ...seed('minimal'), ...callback('/cb/C04ABCDEF/tok_abc123') }
    const { mcp: _, ...delivery } = seed('delivery')
    const full = { ...delivery, ...callback('/channels/ch_abc123/inbox/tok_xyz789') }
    for (const one of [minimal, full]) {
      expect((await post(inbox, one)).status).toBe(200)
      const count = agent.heard.length
      await until('the agent was asked', () => agent.heard.length > count || agent.heard.at(-1))
    }
    const asked = await until('both came to the agent', () => (agent.heard.length === 2 ? agent.heard : null))
    for (const { method, path, headers, body } of asked) {
      expect([method, path, headers['content-type']]).toEqual([
        'POST',
        '/inbox/sk_a1b2c3d4e5f6',
        'application/json',
      ])
      expect(body).toMatchObject({
        channel: { id: expect.any(String), service: expect.any(String), context: expect.any(String) },
        message: { id: expect.any(String), sender: expect.any(String), content: expect.any(String) },
        callback: expect.stringMatching(/^http.*\/callback\//),
        mcp: {
          url: expect.stringMatching(/\/mcp$/),
          headers: { Authorization: expect.stringMatching(/^Bearer /) },
        },
      })
    }
    const of = (content: string) =>
      asked.find(({ body }) => (body.message as { content: string }).content === content)?.body
    const [first, second] = [of(minimal.message.content), of(full.message.content)]
    expect(first?.callback).not.toBe(second?.callback)
    expect(first?.channel).not.toEqual(second?.channel)
    expect(second).toMatchObject({
      channel: full.channel.name === undefined ? {} : { name: full.channel.name },
      message: { sender: full.message.sender },
    })

    // The agent says everything that the draft knows, as it stands there, and brings no header of its own.
    for (const event of SEED_EVENTS) expect((await post(String(second?.callback), event)).status).toBe(200)
    const back = await until('its words came back', () => {
      const own = service.heard.filter(({ path }) => path === '/channels/ch_abc123/inbox/tok_xyz789')
      return own.at(-1)?.body.status === 'idle' ? own : null
    })
    for (const { method, headers } of back) {
      expect([method, headers['content-type'], headers.authorization]).toEqual([
        'POST',
        'application/json',
        undefined,
      ])
    }
    const events = back.map(({ body: { event_id, ...event } }) => event)
    expect(events).toEqual([
      { type: 'lifecycle', status: 'processing' },
      ...SEED_EVENTS,
      { type: 'lifecycle', status: 'idle' },
    ])

    // The agent keeps state by channel.id: the next message of that channel has the same, and another callback.
    expect(
      (await post(inbox, { ...full, message: { ...full.message, id: 'msg_next', content: 'and tomorrow?' } }))
        .status,
    ).toBe(200)
    const third = await until('the next came', () => agent.heard.at(2)?.body)
    expect(third.channel).toEqual(second?.channel)
    expect(third.callback).not.toBe(second?.callback)
    // §3 error, with and without its code.
    const failed = { type: 'error', message: 'Failed to connect to weather API', code: 'tool_error' }
    expect((await post(String(third.callback), failed)).status).toBe(200)
    expect((await post(String(first?.callback), { type: 'error', message: 'no code' })).status).toBe(200)
    await settled(data)
    await until(
      'the errors came back',
      () => service.heard.filter(({ body }) => body.type === 'error').length === 2,
    )
    const errors = service.heard.filter(({ body }) => body.type === 'error').map(({ body }) => body)
    expect(errors).toEqual([
      expect.objectContaining({ code: 'tool_error', message: expect.stringContaining(failed.message) }),
      expect.objectContaining({ message: expect.stringContaining('no code') }),
    ])
    await expectLedgerHolds(data)
  })

  it('§1, §2, §4: rotation is at once, required fields are named, the rest may be absent or unknown, 5xx is tried again', async () => {
    const agent = await open([503, 500])
    const service = await open()
    const { data, connect } = await openDaemon(agent.url)
    const old = await connect('connect')
    const inbox = await connect('rotate')
    const bare = (id: string) => ({
      channel: { id: 'c1' },
      message: { id, sender: 'alice', content: 'hello' },
      callback: `${service.url}/cb/${id}`,
    })
    expect((await post(old, bare('m0'))).status).toBe(404)
    for (const [field, body] of [
      ['channel', { ...bare('m1'), channel: undefined }],
      ['channel.id', { ...bare('m1'), channel: { name: 'ops' } }],
      ['message', { ...bare('m1'), message: undefined }],
      ['message.id', { ...bare('m1'), message: { sender: 'a', content: 'x' } }],
      ['message.sender', { ...bare('m1'), message: { id: 'm1', content: 'x' } }],
      ['message.content', { ...bare('m1'), message: { id: 'm1', sender: 'a' } }],
      ['callback', { ...bare('m1'), callback: undefined }],
      ['mcp.url', { ...bare('m1'), mcp: { headers: {} } }],
    ] as const) {
      const refused = await post(inbox, body)
      expect([field, refused.status]).toEqual([field, 400])
      expect(refused.text).toContain(field.split('.').at(-1))
    }
    const unknown = { ...bare('m2'), trace: 1, channel: { id: 'c1', later: true } }
    expect((await post(inbox, unknown, { 'content-type': 'application/json; charset=utf-8' })).status).toBe(
      200,
    )
    expect((await post(inbox, bare('m2'))).status).toBe(200)
    const tried = await until('it was tried until it was taken', () =>
      agent.heard.length === 3 ? agent.heard : null,
    )
    expect(new Set(tried.map(({ body }) => (body.message as { id: string }).id)).size).toBe(1)
    const { callback } = tried.at(-1)?.body ?? {}
    expect((await post(String(callback), { type: 'message', content: 'Hello Alice!' })).status).toBe(200)
    await settled(data)
    await until('it came back', () => service.heard.some(({ body }) => body.content === 'Hello Alice!'))
    expect(service.heard.filter(({ body }) => body.type === 'message')).toHaveLength(1)
    expect(agent.heard).toHaveLength(3)
    await expectLedgerHolds(data)
  })
})
