// /mcp over a real listener: real clients of both SDK lines, every kind of bad credential and body, many at once.
import { SdkHttpError } from '@modelcontextprotocol/client'
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterEach, describe, expect, it } from 'vitest'
import { SwitchboardError } from '../../contract/index.ts'
import { bearer, type OpenedTools, openTools, rpc } from '../fixtures/open-tools.ts'
import { type Answers, done } from '../fixtures/recording-actions.ts'
import { TOOLS } from '../index.ts'

let open: OpenedTools | null = null
const opened = async (answers?: Answers): Promise<OpenedTools> => {
  open = await openTools(answers)
  return open
}
afterEach(async () => {
  await open?.close()
  open = null
})

const SLACK = { platform: 'slack', target: 'C0123ABC', body: 'build green ✓' }
const sent = () => done('Message sent to slack:C0123ABC', { status: 'sent', platform_ids: ['17.1'] })
const call = (name: string, args: Record<string, unknown>) => rpc('tools/call', { name, arguments: args })

it('[I35.b16] what is said of final text is true for the connector of the agent', async () => {
  const tools = await opened()
  const said = async (scope: Record<string, string>) => {
    const { token } = await tools.mint('agent', scope)
    const listed = await tools.post('/mcp', rpc('tools/list'), bearer(token))
    return listed.json.result.tools.find(({ name }: { name: string }) => name === 'reply')
      .description as string
  }
  const inSession = { agent: 'kate', session: 's1' }
  tools.connectors.kate = { holdsDecisions: true, endsTurns: true }
  expect(await said(inSession)).toContain('The text with which you end a turn is sent to that chat by itself')
  expect(await said(inSession)).not.toContain('reaches nobody')
  tools.connectors.kate = { holdsDecisions: true }
  expect(await said(inSession)).toContain('Your own answer to a message is sent to that chat by itself')
  // An attached host, and a client without a session, answer only by tools.
  tools.connectors.kate = { holdsDecisions: false }
  expect(await said(inSession)).toContain('Your transcript reaches nobody')
  tools.connectors.kate = { holdsDecisions: true, endsTurns: true }
  expect(await said({ agent: 'kate' })).toContain('Your transcript reaches nobody')
})

describe('clients', () => {
  const lines = {
    'of the line before': (tools: OpenedTools, token: string) => tools.oldClient('/mcp', token),
    'of the line now': (tools: OpenedTools, token: string) => tools.newClient('/mcp', token),
    'that ask first what the server speaks': (tools: OpenedTools, token: string) =>
      tools.newClient('/mcp', token, 'auto'),
  }
  for (const [which, connect] of Object.entries(lines)) {
    it(`[S14.http-mcp] ${which} list the tools and call them`, async () => {
      const tools = await opened({ sendMessage: sent })
      const { token } = await tools.mint('agent', { agent: 'kate', session: 's1', user: 'ann' })
      const client = await connect(tools, token)
      expect(client.getServerVersion()).toMatchObject({ name: 'switchboard' })
      const list = await client.listTools()
      const offered = TOOLS.filter((tool) => tool.needs === undefined)
      expect(list.tools.map(({ name }) => name)).toEqual(offered.map(({ name }) => name))
      const reply = list.tools.find(({ name }) => name === 'reply')
      expect(reply?._meta).toMatchObject({ 'anthropic/alwaysLoad': true })
      expect(list.tools.find(({ name }) => name === 'fetch_messages')?.annotations?.readOnlyHint).toBe(true)
      expect(reply?.description).toContain('Your transcript reaches nobody')
      // The token belongs to one session, so no conversation is named.
      expect(reply?.inputSchema.required).toEqual(['text'])

      const result = await client.callTool({
        name: 'send_message',
        arguments: { ...SLACK, session: 's2', agent: 'bob' },
        _meta: { 'claudecode/toolUseId': 'toolu_1' },
      })
      expect(result.content).toEqual([{ type: 'text', text: 'Message sent to slack:C0123ABC' }])
      expect(result.structuredContent).toEqual({ ok: true, status: 'sent', platform_ids: ['17.1'] })
      expect(result.isError ?? false).toBe(false)
      expect(tools.asked).toEqual([
        {
          verb: 'sendMessage',
          caller: { agent: 'kate', session: 's1', user: 'ann', turn: null, idempotencyKey: 'toolu_1' },
          input: SLACK,
        },
      ])
      const bad = await client.callTool({ name: 'send_message', arguments: { platform: 'slack' } })
      expect(bad).toMatchObject({
        isError: true,
        content: [{ type: 'text', text: 'platform, target, and body are required' }],
        structuredContent: { ok: false, code: 'input_invalid' },
      })
      const unknown = await client.callTool({ name: 'rm', arguments: {} })
      expect(unknown).toMatchObject({ isError: true, structuredContent: { code: 'not_found' } })
      await client.close()
    })
  }

  it('[S9.tools] [S9.read-only-hint] of an agent with channels see the tools for them, and which of them only read', async () => {
    const tools = await opened()
    const client = await tools.newClient('/mcp', (await tools.mint('agent', { agent: 'bob' })).token)
    const list = (await client.listTools()).tools.filter(({ name }) => name.startsWith('channel_'))
    expect(list.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([
      ['channel_list', true],
      ['channel_send', false],
      ['channel_status', true],
    ])
    await client.callTool({ name: 'channel_status', arguments: { server: 'slack' } })
    expect(tools.asked).toMatchObject([{ verb: 'channelStatus', input: { server: 'slack' } }])
    const kate = await tools.newClient('/mcp', (await tools.mint('agent', { agent: 'kate' })).token)
    expect(await kate.callTool({ name: 'channel_list', arguments: {} })).toMatchObject({ isError: true })
    await client.close()
    await kate.close()
  })

  it('speak the version that they ask for: the newest, or the ones before', async () => {
    const tools = await opened()
    const { token } = await tools.mint('agent', { agent: 'kate' })
    const now = await tools.newClient('/mcp', token, 'auto')
    expect(now.getNegotiatedProtocolVersion()).toBe('2026-07-28')
    const before = await tools.newClient('/mcp', token)
    expect(before.getNegotiatedProtocolVersion()).toBe('2025-11-25')
    await Promise.all([now.close(), before.close()])
  })

  it('that are no more than curl get one JSON answer', async () => {
    const tools = await opened({ sendMessage: sent })
    const { token } = await tools.mint('agent', { agent: 'kate' })
    const answer = await tools.post('/mcp', call('send_message', SLACK), {
      ...bearer(token),
      accept: '*/*',
      'idempotency-key': 'k1',
    })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toContain('application/json')
    expect(answer.json).toMatchObject({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text' }] } })
    expect(tools.asked[0]?.caller).toEqual({
      agent: 'kate',
      session: null,
      user: null,
      turn: null,
      idempotencyKey: 'k1',
    })
    const long = { ...bearer(token), 'idempotency-key': 'x'.repeat(1000) }
    await tools.post('/mcp', call('send_message', SLACK), long)
    expect(tools.asked[1]?.caller.idempotencyKey).toMatch(/^sha256:[0-9a-f]{64}$/)
  })

  it('[I36.one-server] fifty at once get each their own answer', async () => {
    const tools = await opened({
      sendMessage: async ({ input, caller }) => {
        await new Promise((resolve) => setImmediate(resolve))
        return done(`${caller.agent} ${(input as { body: string }).body}`)
      },
    })
    const kate = (await tools.mint('agent', { agent: 'kate' })).token
    const bob = (await tools.mint('agent', { agent: 'bob' })).token
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) =>
        tools.post('/mcp', call('send_message', { ...SLACK, body: `n${at}` }), bearer(at % 2 ? bob : kate)),
      ),
    )
    expect(answers.map(({ json }) => json.result.content[0].text)).toEqual(
      Array.from({ length: 50 }, (_, at) => `${at % 2 ? 'bob' : 'kate'} n${at}`),
    )
    expect(tools.asked).toHaveLength(50)
  })

  it('[I36.one-server] end no call of another caller, whatever ids they name', async () => {
    let release: () => void = () => undefined
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const tools = await opened({ sendMessage: () => released.then(sent) })
    const kate = (await tools.mint('agent', { agent: 'kate' })).token
    const bob = (await tools.mint('agent', { agent: 'bob' })).token
    const pending = tools.post('/mcp', call('send_message', SLACK), bearer(kate))
    await expect.poll(() => tools.asked.length).toBe(1)
    for (const requestId of [1, 2, 3]) {
      const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }
      const answer = await tools.post('/mcp', cancelled, bearer(bob))
      expect(answer.status).toBe(202)
    }
    release()
    expect((await pending).json.result.structuredContent.status).toBe('sent')
  })
})

describe('credentials', () => {
  it('[S1.authorize-mcp] missing, made-up, expired, revoked and foreign ones get 401, and nothing happens', async () => {
    const tools = await opened()
    const expired = await tools.mint('agent', { agent: 'kate' }, 1_000)
    const revoked = await tools.mint('agent', { agent: 'kate' })
    const user = await tools.mint('user', { user: 'ann' })
    const web = await tools.mint('web', { integration: 'chat', sender: 'ann' })
    const nobody = await tools.mint('agent', {})
    const removed = await tools.mint('agent', { agent: 'gone' })
    await tools.tokens.revoke(revoked.id, 'test')
    await tools.clock.advance(1_000)
    const all: Record<string, Record<string, string>> = {
      missing: {},
      'of another scheme': { authorization: 'Basic abc' },
      empty: { authorization: 'Bearer ' },
      'made up': bearer('agent_made-up'),
      expired: bearer(expired.token),
      revoked: bearer(revoked.token),
      'of a user': bearer(user.token),
      'of a chat': bearer(web.token),
      'of no agent': bearer(nobody.token),
      'of an agent that is not configured': bearer(removed.token),
    }
    for (const [which, headers] of Object.entries(all)) {
      const answer = await tools.post('/mcp', call('send_message', SLACK), headers)
      expect([which, answer.status]).toEqual([which, 401])
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="switchboard"/)
      expect(answer.json.error.data.code).toBe('unauthorized')
    }
    await expect(tools.oldClient('/mcp', expired.token)).rejects.toThrow(StreamableHTTPError)
    await expect(tools.newClient('/mcp', revoked.token)).rejects.toThrow(SdkHttpError)
    expect(tools.asked).toEqual([])
  })

  it('a token is looked at with every request: revoked between two, the second is refused', async () => {
    const tools = await opened()
    const { token, id } = await tools.mint('agent', { agent: 'kate' })
    const client = await tools.newClient('/mcp', token)
    await client.callTool({ name: 'pending_messages', arguments: {} })
    await tools.tokens.revoke(id, 'test')
    await expect(client.callTool({ name: 'pending_messages', arguments: {} })).rejects.toThrow()
    expect(tools.asked).toHaveLength(1)
    await client.close()
  })

  it('[S1.authorize-mcp] a token for notifications shows and serves notify_user alone', async () => {
    const tools = await opened()
    const { token } = await tools.mint('notify', { agent: 'kate', user: 'ann' })
    const client = await tools.newClient('/mcp', token)
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['notify_user'])
    const result = await client.callTool({ name: 'send_message', arguments: SLACK })
    expect(result).toMatchObject({ isError: true, content: [{ text: 'Unknown tool: send_message' }] })
    expect(tools.asked).toEqual([])
    await client.close()
  })
})

describe('bad input', () => {
  it('is told what is wrong, before any tool runs', async () => {
    const tools = await opened()
    const headers = bearer((await tools.mint('agent', { agent: 'kate' })).token)
    const list = JSON.stringify(rpc('tools/list'))
    const cases: readonly (readonly [string, Promise<{ status: number; text: string }>, number, string])[] = [
      ['malformed JSON', tools.post('/mcp', '{"jsonrpc":', headers), 400, '-32700'],
      ['nothing', tools.post('/mcp', '', headers), 400, '-32700'],
      ['no JSON-RPC', tools.post('/mcp', { hello: 1 }, headers), 400, '"error"'],
      ['a batch', tools.post('/mcp', [rpc('tools/list')], headers), 400, '-32600'],
      [
        'a form',
        tools.post('/mcp', list, { ...headers, 'content-type': 'text/plain' }),
        415,
        'application/json',
      ],
      ['too much', tools.post('/mcp', 'x'.repeat(30_000), headers), 413, 'too_large'],
      ['another path', tools.post('/mcp/other', list, headers), 404, 'not_found'],
      [
        'a foreign page',
        tools.post('/mcp', list, { ...headers, origin: 'https://evil.test' }),
        403,
        'forbidden',
      ],
      ['an unknown method', tools.post('/mcp', rpc('prompts/list'), headers), 200, '-32601'],
      ['no name', tools.post('/mcp', rpc('tools/call', {}), headers), 200, '-32602'],
    ]
    for (const [which, answer, status, holds] of cases) {
      const { status: got, text } = await answer
      expect([which, got, text]).toEqual([which, status, expect.stringContaining(holds)])
    }
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const answer = await tools.fetch('/mcp', { method, headers })
      expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, 'POST'])
    }
    expect(tools.asked).toEqual([])
  })

  it('without tools there is nothing at /mcp', async () => {
    const { openServer } = await import('../../server/fixtures/open-server.ts')
    const bare = await openServer()
    expect((await bare.fetch('/mcp', { method: 'POST', body: '{}' })).status).toBe(404)
    await bare.server.close({ graceMs: 200 })
  })
})

describe('failures', () => {
  it('[S16.tool-is-error] a tool that throws is an error of the call, and no secret is printed', async () => {
    const tools = await opened({
      sendMessage: () => {
        throw new SwitchboardError('execution_failed', 'No adapter registered for platform "slack"')
      },
      notifyUser: () => {
        throw new Error('socket hang up')
      },
    })
    const { token } = await tools.mint('agent', { agent: 'kate' })
    const failed = await tools.post('/mcp', call('send_message', SLACK), bearer(token))
    expect(failed.json.result).toMatchObject({
      isError: true,
      content: [{ text: 'No adapter registered for platform "slack"' }],
      structuredContent: { ok: false, code: 'execution_failed' },
    })
    const bug = await tools.post('/mcp', call('notify_user', { message: 'private words' }), bearer(token))
    expect(bug.json.result).toMatchObject({ isError: true, structuredContent: { code: 'internal' } })
    expect(bug.text).not.toContain('hang up')
    await tools.post('/mcp', call('notify_user', {}), bearer(`${token}x`))
    const printed = tools.log.lines.join('\n')
    expect(printed).toContain('socket hang up')
    for (const secret of [token, token.slice(10), 'private words', SLACK.body])
      expect(printed + failed.text + bug.text).not.toContain(secret)
  })
})
