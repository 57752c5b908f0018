// /mcp/notify over a real listener: plain JSON-RPC as the seed shows it, each error row, and SDK clients on top.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { bearer, type OpenedTools, openTools, rpc } from '../fixtures/open-tools.ts'
import { type Answers, done } from '../fixtures/recording-actions.ts'

let open: OpenedTools | null = null
const opened = async (answers?: Answers): Promise<OpenedTools> => {
  open = await openTools({ notifyUser: () => done('Notification sent via telegram:int_1'), ...answers })
  return open
}
afterEach(async () => {
  await open?.close()
  open = null
})

const PATH = '/mcp/notify'
const notify = (args: unknown, id: number | string = 1) =>
  rpc('tools/call', { name: 'notify_user', arguments: args }, id)
const minted = async (tools: OpenedTools, scope: Record<string, string> = {}) =>
  (await tools.mint('notify', { agent: 'kate', user: 'ann', session: 's1', ...scope })).token

describe('clients of 2026-07-28', () => {
  it('[I14.notify-2026] are answered in that form, with the one tool', async () => {
    const tools = await opened()
    const client = await tools.newClient(PATH, await minted(tools), 'auto')
    expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28')
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['notify_user'])
    expect(await client.callTool({ name: 'notify_user', arguments: { message: 'x' } })).toMatchObject({
      content: [{ type: 'text', text: 'Notification sent via telegram:int_1' }],
    })
    expect(await client.callTool({ name: 'send_message', arguments: {} })).toMatchObject({ isError: true })
    expect(tools.asked).toHaveLength(1)
  })

  it('[I14.notify-2026] one that says so and does not keep to it is refused, not answered in another form', async () => {
    const tools = await opened()
    const headers = { ...bearer(await minted(tools)), 'mcp-protocol-version': '2026-07-28' }
    const answer = await tools.post(PATH, notify({ message: 'x' }), headers)
    expect(answer.status).toBe(400)
    expect(answer.json.error).toBeDefined()
    expect(tools.asked).toEqual([])
  })
})

describe('plain JSON-RPC', () => {
  it('[S11.notify-endpoint] initialize, tools/list and tools/call, as the seed shows them', async () => {
    const tools = await opened()
    const token = await minted(tools)
    expect(token).toMatch(/^notify_/)
    const hello = await tools.post(PATH, rpc('initialize'), bearer(token))
    expect(hello.json).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: {
        protocolVersion: '2024-11-05',
        capabilities: { tools: {} },
        serverInfo: { name: 'switchboard-notify', version: expect.any(String) },
      },
    })
    const list = await tools.post(PATH, rpc('tools/list', {}, 'two'), bearer(token))
    expect(list.json.id).toBe('two')
    expect(list.json.result.tools.map(({ name }: { name: string }) => name)).toEqual(['notify_user'])
    expect(list.json.result.tools[0].inputSchema.properties.channel.enum).toBeUndefined()
    const call = await tools.post(PATH, notify({ message: 'Your statement is due.' }), bearer(token))
    expect([call.status, call.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
    expect(call.json).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: { content: [{ type: 'text', text: 'Notification sent via telegram:int_1' }] },
    })
  })

  it('[S11.notify-bearer] [S11.notify-session-args] [F7.notify-args-ignored] the token says who calls, arguments do not', async () => {
    const tools = await opened()
    const args = {
      message: 'x',
      claim_thread: true,
      session: 's2',
      session_id: 's2',
      sessionId: 's2',
      user: 'eve',
    }
    await tools.post(PATH, notify(args), { ...bearer(await minted(tools)), 'idempotency-key': 'k' })
    expect(tools.asked).toEqual([
      {
        verb: 'notifyUser',
        caller: { agent: 'kate', session: 's1', user: 'ann', turn: null, idempotencyKey: 'k' },
        input: { message: 'x', claimThread: true },
      },
    ])
  })

  it('[F7.notify-token-other] each token acts for its own session and agent', async () => {
    const tools = await opened()
    const mine = await minted(tools)
    const other = await minted(tools, { agent: 'bob', user: 'eve', session: 's9' })
    await tools.post(PATH, notify({ message: 'x' }), bearer(other))
    await tools.post(PATH, notify({ message: 'x' }), bearer(mine))
    expect(tools.asked.map(({ caller }) => [caller.agent, caller.user, caller.session])).toEqual([
      ['bob', 'eve', 's9'],
      ['kate', 'ann', 's1'],
    ])
  })

  it('[I35.b46-notify] a failure is isError and the reason', async () => {
    const text = 'Telegram integration int_1 not found'
    const tools = await opened({
      notifyUser: () => ({
        text,
        isError: true,
        structured: { ok: false, code: 'execution_failed' },
      }),
    })
    const answer = await tools.post(PATH, notify({ message: 'x' }), bearer(await minted(tools)))
    expect(answer.json.result).toEqual({ content: [{ type: 'text', text }], isError: true })
  })

  it('curl is client enough', async (context) => {
    const tools = await opened()
    const token = await minted(tools)
    const run = promisify(execFile)
    const curl = await run('curl', [
      '-sS',
      `${tools.base}${PATH}`,
      '-H',
      `Authorization: Bearer ${token}`,
      '-H',
      'Content-Type: application/json',
      '-d',
      JSON.stringify(notify({ message: 'Your statement is due in 5 days.', urgency: 'high' })),
    ]).catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code === 'ENOENT') context.skip('curl is not installed')
      throw thrown
    })
    expect(JSON.parse(curl.stdout).result.content[0].text).toBe('Notification sent via telegram:int_1')
    expect(tools.asked[0]?.input).toEqual({ message: 'Your statement is due in 5 days.', urgency: 'high' })
  })

  it('a notification is taken without a word; a request without an id is answered as number 0', async () => {
    const tools = await opened()
    const headers = bearer(await minted(tools))
    const told = await tools.post(PATH, { jsonrpc: '2.0', method: 'notifications/initialized' }, headers)
    expect([told.status, told.text]).toEqual([202, ''])
    const bare = await tools.post(PATH, { jsonrpc: '2.0', method: 'tools/list' }, headers)
    expect(bare.json.id).toBe(0)
    expect((await tools.post(PATH, rpc('ping'), headers)).json.result).toEqual({})
  })
})

describe('error rows', () => {
  it.each([
    ['no version', { id: 1, method: 'tools/list' }],
    ['another version', { jsonrpc: '1.0', id: 1, method: 'tools/list' }],
    ['no method', { jsonrpc: '2.0', id: 1 }],
    ['a method that is no text', { jsonrpc: '2.0', id: 1, method: 5 }],
    ['params that are no object', { jsonrpc: '2.0', id: 1, method: 'tools/list', params: [] }],
    ['an id that is neither text nor number', { jsonrpc: '2.0', id: {}, method: 'tools/list' }],
    ['a batch', [rpc('tools/list')]],
    ['a number', 5],
    ['null', null],
  ])('%s: -32600 Invalid JSON-RPC request', async (_, body) => {
    const tools = await opened()
    const answer = await tools.post(PATH, JSON.stringify(body), bearer(await minted(tools)))
    expect(answer.status).toBe(400)
    expect(answer.json).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32600, message: 'Invalid JSON-RPC request' },
    })
  })

  it('[F7.notify-token-missing] without a header: -32000 Missing Authorization header, even for initialize', async () => {
    const tools = await opened()
    for (const body of [rpc('initialize'), rpc('tools/list'), notify({ message: 'x' })]) {
      const answer = await tools.post(PATH, body)
      expect([answer.status, answer.json.id]).toEqual([401, 1])
      expect(answer.json.error).toEqual({ code: -32000, message: 'Missing Authorization header' })
      expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="switchboard"')
    }
    expect(tools.asked).toEqual([])
  })

  it('[F7.notify-token-expired] expired, revoked, made up or for something else: -32000', async () => {
    const tools = await opened()
    const scope = { agent: 'kate', user: 'ann', session: 's1' }
    const expired = await tools.mint('notify', scope, 1_000)
    const revoked = await tools.mint('notify', scope)
    const chat = await tools.mint('web', { integration: 'chat', sender: 'ann' })
    await tools.tokens.revoke(revoked.id, 'test')
    expect((await tools.post(PATH, rpc('ping'), bearer(expired.token))).status).toBe(200)
    await tools.clock.advance(1_000)
    const all = [bearer(expired.token), bearer(revoked.token), bearer(chat.token), bearer('notify_x')]
    for (const headers of [...all, { authorization: 'Basic x' }, { authorization: '' }]) {
      const answer = await tools.post(PATH, notify({ message: 'x' }), headers)
      expect(answer.status).toBe(401)
      expect(answer.json.error).toEqual({ code: -32000, message: 'Invalid or expired session token' })
    }
    expect(tools.asked).toEqual([])
  })

  it('each bad call as the seed words it', async () => {
    const tools = await opened()
    const headers = bearer(await minted(tools))
    const error = async (body: unknown) => (await tools.post(PATH, body, headers)).json.error
    const result = async (body: unknown) => (await tools.post(PATH, body, headers)).json.result
    const toolError = (text: string) => ({ content: [{ type: 'text', text }], isError: true })
    const nameless = { code: -32602, message: 'Missing tool name in params' }
    expect(await error(rpc('tools/call'))).toEqual(nameless)
    expect(await error(rpc('tools/call', { name: '' }))).toEqual(nameless)
    expect(await error(rpc('resources/list'))).toEqual({
      code: -32601,
      message: 'Method not found: resources/list',
    })
    expect(await result(rpc('tools/call', { name: 'send_message' }))).toEqual(
      toolError('Unknown tool: send_message'),
    )
    for (const args of [undefined, {}, { message: '' }, { channel: 'slack' }])
      expect(await result(notify(args))).toEqual(toolError('Missing required parameter: message'))
    expect(await result(notify('x'))).toEqual(toolError('the arguments must be an object'))
    expect(tools.asked).toEqual([])
  })

  it('[I14.notify-credential] without a credential it is 401, whatever the body is', async () => {
    const tools = await opened()
    const bodies = ['{"jsonrpc":"2.0",', '', '[]', { hello: 1 }, rpc('no/such'), notify({ message: 'x' })]
    for (const body of bodies) {
      for (const headers of [{}, bearer('notify_made-up')]) {
        const answer = await tools.post(PATH, body, headers)
        expect([body, answer.status, answer.json.error.code]).toEqual([body, 401, -32000])
      }
    }
    expect(tools.asked).toEqual([])
  })

  it('[S16.413] [S16.415] oversize, wrong type, no JSON, no POST', async () => {
    const tools = await opened()
    const headers = bearer(await minted(tools))
    expect((await tools.post(PATH, notify({ message: 'x'.repeat(30_000) }), headers)).status).toBe(413)
    const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' }
    expect((await tools.post(PATH, notify({ message: 'x' }), form)).status).toBe(415)
    const broken = await tools.post(PATH, '{"jsonrpc":"2.0",', headers)
    expect([broken.status, broken.json.error.code]).toEqual([400, -32700])
    for (const method of ['GET', 'DELETE'])
      expect((await tools.fetch(PATH, { method, headers })).status).toBe(405)
    expect(tools.asked).toEqual([])
  })
})

describe('clients of MCP', () => {
  const lines = {
    'of the line before': (tools: OpenedTools, token: string) => tools.oldClient(PATH, token),
    'of the line now': (tools: OpenedTools, token: string) => tools.newClient(PATH, token),
    'that ask first what the server speaks': (tools: OpenedTools, token: string) =>
      tools.newClient(PATH, token, 'auto'),
  }
  for (const [which, connect] of Object.entries(lines)) {
    it(`[S14.http-mcp] [S11.notify-endpoint] ${which} list the tool and call it`, async () => {
      const tools = await opened()
      const client = await connect(tools, await minted(tools))
      expect(client.getServerVersion()?.name).toBe('switchboard-notify')
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['notify_user'])
      const result = await client.callTool({
        name: 'notify_user',
        arguments: { message: 'due', channel: 'telegram:int_1' },
        _meta: { 'claudecode/toolUseId': 'toolu_7' },
      })
      expect(result.content).toEqual([{ type: 'text', text: 'Notification sent via telegram:int_1' }])
      expect(tools.asked).toHaveLength(1)
      expect(tools.asked[0]?.caller.idempotencyKey).toBe('toolu_7')
      await client.close()
    })
  }

  it('are told why they may not come in', async () => {
    const tools = await opened()
    await expect(tools.oldClient(PATH, 'notify_x')).rejects.toThrow('Invalid or expired session token')
    await expect(tools.newClient(PATH, 'notify_x')).rejects.toThrow()
  })

  it('fifty calls at once each get their own answer', async () => {
    const tools = await opened({ notifyUser: ({ input }) => done((input as { message: string }).message) })
    const client = await tools.newClient(PATH, await minted(tools))
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) =>
        client.callTool({ name: 'notify_user', arguments: { message: `n${at}` } }),
      ),
    )
    expect(answers.map(({ content }) => content)).toEqual(
      Array.from({ length: 50 }, (_, at) => [{ type: 'text', text: `n${at}` }]),
    )
    await client.close()
  })
})
