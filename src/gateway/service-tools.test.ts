// Tools of a service in front, behind the session's own endpoint: names, guard, timeouts, and untrusted declarations.
import { describe, expect, it } from 'vitest'
import {
  type AgentSettings,
  MCP_SERVERS_REF,
  type SessionRow,
  SwitchboardError,
  type TurnRow,
} from '../contract/index.ts'
import type { GuardedFetch } from '../kit/index.ts'
import { createRecordingLog } from '../testing/recording-log.ts'
import { createTestClock } from '../testing/test-clock.ts'
import { testAgent, testIntegration, testSettings } from '../testing/test-settings.ts'
import { serviceToolName } from '../tools/mcp/service-tools.ts'
import { createServiceTools } from './service-tools.ts'

const SCHEMA = { type: 'object', properties: { q: { type: 'string' } } }

interface Server {
  readonly tools?: readonly { readonly name: string; readonly annotations?: object }[]
  readonly mute?: boolean
}

/** Servers by host name, behind a guard that the test controls. */
function opened(
  servers: Readonly<Record<string, Server>>,
  given: unknown,
  options: Readonly<Record<string, unknown>> = {},
  agents: readonly AgentSettings[] = [],
) {
  const asked: {
    host: string
    method: string | undefined
    params: unknown
    allowPrivate: boolean | undefined
    authorization: string | undefined
  }[] = []
  const fetch: GuardedFetch = async ({ url, method, body, headers, allowPrivate }) => {
    if (method !== 'POST') return { status: 200, headers: {}, body: Buffer.alloc(0), truncated: false }
    const host = new URL(url).hostname
    const server = servers[host]
    if (!server) throw new SwitchboardError('forbidden', `${host} is a private address`)
    if (server.mute) return new Promise(() => undefined)
    const call = JSON.parse(String(body)) as { id?: number; method?: string; params?: { name?: string } }
    asked.push({
      host,
      method: call.method,
      params: call.params,
      allowPrivate,
      authorization: headers?.authorization,
    })
    const result = {
      initialize: {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'x', version: '1' },
      },
      'tools/list': { tools: (server.tools ?? []).map((tool) => ({ inputSchema: SCHEMA, ...tool })) },
      'tools/call': {
        content: [{ type: 'text', text: `ran ${call.params?.name}` }],
        structuredContent: { n: 1 },
      },
    }[call.method ?? '']
    if (result === undefined) return { status: 202, headers: {}, body: Buffer.alloc(0), truncated: false }
    const answer = JSON.stringify({ jsonrpc: '2.0', id: call.id, result })
    return {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(answer),
      truncated: false,
    }
  }
  const clock = createTestClock()
  const turn = {
    ...{ id: 't1', agent: 'kate', integration: 'up', conversation: 'room', thread: null },
    body: { meta: { [MCP_SERVERS_REF]: 'secret:given.up.d1.mcp' } },
  } as unknown as TurnRow
  const services = createServiceTools({
    clock,
    log: createRecordingLog(),
    fetch,
    settings: () =>
      testSettings({ integrations: [testIntegration('up', { platform: 'chorus', options })], agents }),
    store: {
      turns: async () => [turn],
      turn: async () => turn,
      session: async () => ({ agent: 'kate', address: 'up:room' }) as SessionRow,
    },
    credentials: (integration) => ({
      get: async (name) => (integration === 'up' && name === 'd1.mcp' ? JSON.stringify(given) : null),
    }),
  })
  return { services, asked, clock, turn }
}

const url = (host: string) => `https://${host}/mcp`

describe('tools of a service', () => {
  it('[I14.chorus-service-tools] [I14.chorus-tools-away] are listed under their server, without their hints, and called on', async () => {
    const { services, asked } = opened(
      { 'docs.example.com': { tools: [{ name: 'search', annotations: { readOnlyHint: true } }] } },
      { url: url('docs.example.com'), name: 'docs', headers: { Authorization: 'Bearer x' } },
    )
    expect(await services.list('s1')).toEqual([{ name: 'docs__search', inputSchema: SCHEMA }])
    expect(await services.call('s1', 'docs__search', { q: 'a' })).toEqual({
      content: [{ type: 'text', text: 'ran search' }],
      structuredContent: { n: 1 },
    })
    expect(asked.find(({ method }) => method === 'tools/call')?.params).toMatchObject({
      name: 'search',
      arguments: { q: 'a' },
    })
    expect(
      asked.every(({ allowPrivate, authorization }) => !allowPrivate && authorization === 'Bearer x'),
    ).toBe(true)
    expect(await services.call('s1', 'docs__other', {})).toBeNull()
    expect(await services.call('s1', 'search', {})).toBeNull()
  })

  it('[I35.b46-trust] are not called for words that are trusted with reading alone, unless they are named as reading', async () => {
    const tools = [{ name: 'search', annotations: { readOnlyHint: true } }, { name: 'wipe' }]
    const binding = { plugin: 'chorus', instance: 'up', allowedChannelServers: [] }
    const call = async (trust: 'read_only' | 'none' | undefined, name: string) => {
      const kate = testAgent('kate', [], {
        bindings: [{ ...binding, ...(trust ? { trust } : {}) }],
        readOnlyTools: ['docs__search'],
      })
      const { services, asked } = opened(
        { 'docs.example.com': { tools } },
        { url: url('docs.example.com'), name: 'docs' },
        {},
        [kate],
      )
      const result = await services.call('s1', `docs__${name}`, {})
      expect(asked.some(({ method }) => method === 'tools/call')).toBe(result?.isError !== true)
      return result?.isError === true ? JSON.stringify(result.content) : 'ran'
    }
    expect(await call(undefined, 'wipe')).toBe('ran')
    expect(await call('read_only', 'search')).toBe('ran')
    expect(await call('read_only', 'wipe')).toContain('trust: read_only')
    expect(await call('none', 'search')).toContain('trust: none')
  })

  it('[I14.chorus-service-tools] unnamed servers are called service, and allow_private is the integration’s', async () => {
    const { services, asked } = opened(
      { 'a.example.com': { tools: [{ name: 'x' }] }, 'b.example.com': { tools: [{ name: 'x' }] } },
      [{ url: url('a.example.com') }, { url: url('b.example.com') }],
      { allow_private: true },
    )
    expect((await services.list('s1')).map(({ name }) => name)).toEqual(['service__x', 'service__x-2'])
    await services.call('s1', 'service__x-2', {})
    expect(asked.at(-1)).toMatchObject({ host: 'b.example.com', allowPrivate: true })
  })

  it('[I14.chorus-tools-away] a server that is silent for 5 s, or refused by the guard, is left out and told; the rest is there', async () => {
    const { services, clock } = opened(
      { 'slow.example.com': { mute: true }, 'good.example.com': { tools: [{ name: 'x' }] } },
      [
        { name: 'slow', url: url('slow.example.com') },
        { name: 'inside', url: url('10.0.0.1') },
        { name: 'good', url: url('good.example.com') },
      ],
    )
    const listing = services.list('s1')
    await clock.advance(5_000)
    expect((await listing).map(({ name }) => name)).toEqual(['good__x'])
    expect(services.problems().map(({ server, problem }) => [server, problem])).toEqual([
      ['inside', expect.stringContaining('private')],
      ['slow', 'its tools were not listed within 5 s'],
    ])
    await clock.advance(25 * 3_600_000)
    expect(services.problems()).toEqual([])
  })

  it('[I14.chorus-service-tools] a reference to anything but what the turn’s own integration was given leads nowhere', async () => {
    const { services, turn } = opened({}, [])
    for (const reference of ['secret:operators', 'secret:given.other.d1.mcp', 'env:KATE', 'secret:given.up.'])
      expect(
        await services.list(Object.assign(turn.body?.meta ?? {}, { [MCP_SERVERS_REF]: reference }) && 's1'),
      ).toEqual([])
  })

  it('[I14.chorus-service-tools] names are unique within 64 characters', () => {
    const taken = new Set(['reply'])
    const long = 'n'.repeat(80)
    const names = [long, long, 'a b/c'].map((tool) => serviceToolName('srv', tool, taken))
    expect(names).toEqual([`srv__${'n'.repeat(59)}`, `srv__${'n'.repeat(57)}-2`, 'srv__a_b_c'])
  })
})
