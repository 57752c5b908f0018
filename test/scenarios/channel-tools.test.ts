// channel_list, channel_send and channel_status: what an agent sees of its channel servers, and where it may send.
import { expect, it } from 'vitest'
import { SwitchboardError, type ToolOutcome } from '../../src/contract/index.ts'
import { testIntegration } from '../../src/testing/test-settings.ts'
import { approved, channels, hosting, hostingAgent, SLACK } from './hosting.ts'
import { describeRiver, type OpenRiver, type River } from './river.ts'
import { caller, outcomeOf } from './tool-caller.ts'

/** `slack` is up, and the chat C1 spoke through it. */
async function spoken(open: OpenRiver, over: Parameters<typeof hosting>[0] = {}): Promise<River> {
  const river = await open(hosting(over))
  const slack = river.server('slack')
  slack.up({ stamp: { source: 'slack@anthropic', verified: true } }, ['send_message', 'post'])
  slack.says('hello', { chat_id: 'C1', thread_ts: '1.5' })
  await river.settle()
  return river
}

const send = (river: River, input: Record<string, unknown>, over = {}): Promise<ToolOutcome> =>
  outcomeOf(river, river.tools().channelSend(caller(over), { server: 'slack', ...input }))

/** The transport fails before anything was written. */
const away = () => {
  throw new SwitchboardError('platform_unavailable', 'it is being started again')
}

const inputs = (river: River) =>
  river
    .server('slack')
    .calls.slice(1)
    .map(({ tool, input }) => ({ tool, input }))

describeRiver('tools for channel servers', (open) => {
  it('[S9.tools] [S9.status-unknown] list and status tell what is registered, for the binding or the agent', async () => {
    const river = await spoken(open)
    const all = await river.tools().channelList(caller())
    expect(all.structured).toEqual({
      binding_id: 'demo',
      count: 1,
      servers: [{ server_name: 'slack', plugin_source: 'slack@anthropic', permission_relay: false }],
    })
    expect(JSON.parse(all.text)).toEqual(all.structured)
    const [turn] = await river.store().turns({ integration: SLACK, limit: 1 })
    const there = caller({ turn: turn?.id ?? null })
    expect((await river.tools().channelList(there)).structured).toMatchObject({
      binding_id: 'test:chat',
      count: 1,
    })
    const row = {
      binding_id: 'demo',
      server_name: 'slack',
      registered: true,
      plugin_source: 'slack@anthropic',
      outbound_tool_name: 'send_message',
      permission_relay: false,
      registered_at_ms: expect.any(Number),
    }
    const status = (server?: string) =>
      river.tools().channelStatus(caller(), server === undefined ? {} : { server })
    expect((await status('slack')).structured).toEqual(row)
    expect((await status()).structured).toEqual({ binding_id: 'demo', count: 1, servers: [row] })
    expect(await status('pager')).toMatchObject({
      isError: false,
      structured: { binding_id: 'demo', server_name: 'pager', registered: false },
    })
    expect(await status(' ')).toMatchObject({
      isError: true,
      text: "channel_status: 'server' must be non-empty",
    })
  })

  it('[S9.tools] a binding that does not list the server has none', async () => {
    const river = await spoken(open, {
      bindings: [
        { plugin: 'test', instance: 'chat', allowedChannelServers: [] },
        { plugin: 'test', instance: 'work', allowedChannelServers: ['slack'] },
      ],
    })
    await river.person('anna').says('hi')
    await river.settle()
    const [turn] = await river.store().turns({ integration: 'chat', limit: 1 })
    const there = { turn: turn?.id ?? null }
    expect((await river.tools().channelList(caller(there))).structured).toMatchObject({
      binding_id: 'test:chat',
      count: 0,
    })
    expect((await send(river, { content: 'x' }, there)).text).toBe(
      "channel_send: server 'slack' is not registered for binding 'test:chat' (run channel_list to see what's available)",
    )
  })

  it('[S9.tools] [I8.tools-by-binding] of two bindings to one chat platform the one counts that took the conversation', async () => {
    const group = 'group'
    const river = await open(
      hosting(
        {
          channels: channels({ approved: [approved('slack'), approved('pager')] }),
          bindings: [
            { plugin: 'test', instance: 'chat', conversations: [group], allowedChannelServers: ['slack'] },
            { plugin: 'test', instance: 'chat', allowedChannelServers: ['pager'] },
          ],
        },
        { mcpServers: ['slack', 'pager'].map((name) => ({ name, options: {} })) },
      ),
    )
    for (const name of ['slack', 'pager']) river.server(name).up()
    await river.person('anna').says('hi')
    await river.settle()
    const [turn] = await river.store().turns({ integration: 'chat', limit: 1 })
    for (const there of [{ turn: turn?.id ?? null }, { session: turn?.session ?? null }]) {
      expect((await river.tools().channelList(caller(there))).structured).toMatchObject({
        binding_id: 'test:chat',
        servers: [{ server_name: 'pager' }],
      })
      expect(await send(river, { content: 'x' }, there)).toMatchObject({ isError: true })
    }
    expect(river.server('slack').calls).toEqual([])
  })

  it('[I14.tools-binding] without a session’s token the bindings of all open turns count: what all of them admit', async () => {
    const river = await open(
      hosting(
        {
          channels: channels({ approved: [approved('slack'), approved('pager')] }),
          bindings: [
            { plugin: 'test', instance: 'chat', allowedChannelServers: ['slack'] },
            { plugin: 'test', instance: 'other', allowedChannelServers: ['slack', 'pager'] },
          ],
        },
        {
          integrations: [testIntegration('chat'), testIntegration('other')],
          mcpServers: ['slack', 'pager'].map((name) => ({ name, options: {} })),
          agent: { window: 8 },
        },
      ),
    )
    for (const name of ['slack', 'pager']) river.server(name).up()
    river.agent.script = () => undefined
    await river.person('anna').says('narrow')
    await river.person('bert', 'bert', { integration: 'other' }).says('wide')
    await river.settle()
    const idOf = (text: string) => river.agent.deliveries.find((one) => one.text === text)?.turn ?? ''
    const seen = async (open: readonly string[], used = true) => {
      const { structured } = await river.tools().channelList(caller({ host: { open, used } }))
      return [
        structured.binding_id,
        (structured.servers as { server_name: string }[]).map((s) => s.server_name),
      ]
    }
    expect(await seen([idOf('wide')])).toEqual(['test:other', ['slack', 'pager']])
    expect(await seen([idOf('narrow')])).toEqual(['test:chat', ['slack']])
    expect(await seen([idOf('narrow'), idOf('wide')])).toEqual(['test:chat,test:other', ['slack']])
    expect(await seen([])).toEqual(['demo', ['slack']])
    expect(await seen([], false)).toEqual(['demo', ['slack', 'pager']])
    const refused = await send(
      river,
      { server: 'pager', content: 'x' },
      { host: { open: [idOf('narrow')], used: true } },
    )
    expect(refused).toMatchObject({ isError: true })
    expect(river.server('pager').calls).toEqual([])
    const status = await river
      .tools()
      .channelStatus(caller({ host: { open: [idOf('narrow')], used: true } }), { server: 'pager' })
    expect(status.structured).toMatchObject({ registered: false })
  })

  it('[S9.tools] [I8.tools-by-binding] a turn through a server that is down still has its own binding, and none where none lets it in', async () => {
    const two = { mcpServers: ['slack', 'pager'].map((name) => ({ name, options: {} })) }
    const both = channels({ approved: [approved('slack'), approved('pager')] })
    const bindings = (first: readonly string[]) => [
      { plugin: 'test', instance: 'chat', allowedChannelServers: first },
      { plugin: 'test', instance: 'work', allowedChannelServers: ['pager'] },
    ]
    const river = await open(hosting({ channels: both, bindings: bindings(['slack']) }, two))
    for (const name of ['slack', 'pager']) river.server(name).up()
    river.server('slack').says('hello', { chat_id: 'C1' })
    await river.settle()
    const [turn] = await river.store().turns({ integration: SLACK, limit: 1 })
    const there = caller({ turn: turn?.id ?? null })
    river.server('slack').down()
    // Another node may not know that it is down; it knows as well that this binding lets no other in.
    const own = (await river.tools().channelList(there)).structured
    expect(own).toMatchObject({ binding_id: 'test:chat' })
    expect(JSON.stringify(own)).not.toContain('pager')
    await river.configure(hosting({ channels: both, bindings: bindings([]) }, two))
    expect((await river.tools().channelList(there)).structured).toEqual({
      binding_id: 'demo',
      count: 0,
      servers: [],
    })
    expect((await river.tools().channelList(caller())).structured).toMatchObject({ count: 1 })
  })

  it('[F7.tool-server-empty] [F7.tool-not-registered] [S9.send-cap] [F7.tool-content-cap] wrong input is told in the words of the seed, and nothing is sent', async () => {
    const river = await spoken(open)
    const text = async (input: Record<string, unknown>) => (await send(river, input)).text
    expect(await text({ server: '  ', content: 'x' })).toBe(
      "channel_send: 'server' must be a non-empty string",
    )
    expect(await text({ server: 'pager', content: 'x' })).toBe(
      "channel_send: server 'pager' is not registered for binding 'demo' (run channel_list to see what's available)",
    )
    expect(await text({ content: 'ä'.repeat(32_769) })).toBe("channel_send: 'content' exceeds 65536 bytes")
    expect(await text({})).toBe("channel_send: 'content' is required")
    expect(inputs(river)).toEqual([])
    await send(river, { content: 'ä'.repeat(32_768) })
    expect(inputs(river)).toHaveLength(1)
  })

  it('[S9.send-destination] destinations must have spoken through that server, or be allowed', async () => {
    const river = await spoken(open, { messagingAllow: ['slack:C7', 'telegram:*'] })
    const to = async (input: Record<string, unknown>) =>
      (await send(river, { content: 'x', arguments: input })).isError
    expect(await to({ chat_id: 'C1' })).toBe(false)
    expect(await to({ channel: 'C1', thread_ts: '77' })).toBe(false)
    expect(await to({ thread_ts: '1.5' })).toBe(false)
    expect(await to({ channel_id: 'C7' })).toBe(false)
    const before = inputs(river).length
    expect(await to({ chat_id: 'C2' })).toBe(true)
    expect(await to({ channel: 'C1', cc: ['C2'] })).toBe(true)
    expect(await to({ thread_ts: '1.6' })).toBe(true)
    expect(await to({ message: { recipient: { id: 'x', user_id: 'U9' } } })).toBe(true)
    expect(await to({ channel: { id: 'C2' } })).toBe(true)
    expect(await to({ channel: 'C1', to: [{ name: 'C2' }] })).toBe(true)
    expect((await send(river, { content: 'x', arguments: { chat_id: 'C2' } })).text).toContain(
      'Target "slack:C2" is not in the personality\'s allowed messaging targets. Allowed: slack:C7, telegram:*',
    )
    expect(inputs(river)).toHaveLength(before)
  })

  it('[S9.send-destination] two agents on one server see nothing of each other: neither chats, nor words, nor questions', async () => {
    const closed = channels({ enabled: false })
    const agents = [hostingAgent('demo'), hostingAgent('kate', { origin: 'agents[1]', channels: closed })]
    const river = await open(hosting({}, { agents }))
    river.server('slack').up({}, ['send_message'])
    river.server('slack').says('for demo alone', { chat_id: 'C1' })
    await river.settle()
    const both = [hostingAgent('demo'), hostingAgent('kate', { origin: 'agents[1]' })]
    await river.configure(hosting({}, { agents: both }))
    river.server('slack').says('for both', { chat_id: 'C2' })
    await river.settle()
    const kate = { agent: 'kate' }
    const to = async (chat_id: string) =>
      (await send(river, { content: 'x', arguments: { chat_id } }, kate)).isError
    expect([await to('C1'), await to('C2')]).toEqual([true, false])
    for (const chatId of [`channel%3Aslack%40demo:chat_id%3DC1`, `channel%3Aslack%40kate:chat_id%3DC1`]) {
      const read = await river.tools().fetchMessages(caller(kate), { chatId, limit: 10 })
      expect([read.isError, JSON.stringify(read)]).toEqual([true, expect.not.stringContaining('alone')])
      const wrote = await outcomeOf(river, river.tools().reply(caller(kate), { chatId, text: 'x' }))
      expect(wrote.isError).toBe(true)
    }
    const pending = await river.tools().pendingMessages(caller(kate))
    expect(JSON.stringify(pending)).not.toContain('slack%40demo')
  })

  it('[S9.send-destination] the whole server can be allowed', async () => {
    const river = await spoken(open, { messagingAllow: ['slack:*'] })
    expect((await send(river, { content: 'x', arguments: { channel: 'C99' } })).isError).toBe(false)
  })

  it('[S9.send-tool-name] [F7.reload-in-flight] [S3.inflight-tool-names] a send on its way keeps the tool that it was ordered with', async () => {
    const river = await spoken(open)
    const slack = river.server('slack')
    slack.answer = away
    const ordered = river.tools().channelSend(caller(), { server: 'slack', content: 'ordered before' })
    await river.settle()
    const entry = approved('slack', { outboundToolName: 'post' })
    await river.configure(hosting({ channels: channels({ approved: [entry] }) }))
    slack.answer = () => ({})
    expect((await outcomeOf(river, ordered)).structured).toMatchObject({
      tool_name: 'send_message',
      status: 'sent',
    })
    await send(river, { content: 'ordered after' })
    expect(inputs(river)).toEqual([
      { tool: 'send_message', input: { text: 'ordered before' } },
      { tool: 'send_message', input: { text: 'ordered before' } },
      { tool: 'post', input: { text: 'ordered after' } },
    ])
  })

  it('[S3.inflight-tool-names] so does an answer that was accepted before the reload', async () => {
    const river = await open(hosting())
    const slack = river.server('slack')
    slack.up({}, ['send_message', 'post'])
    slack.answer = away
    slack.says('before', { chat_id: 'C1' })
    await river.settle()
    const tries = slack.calls.length
    expect(tries).toBeGreaterThan(0)
    const entry = approved('slack', { outboundToolName: 'post' })
    await river.configure(hosting({ channels: channels({ approved: [entry] }) }))
    slack.answer = () => ({})
    await river.pass(60_000)
    slack.says('after', { chat_id: 'C2' })
    await river.settle()
    const [first, second] = slack.calls.slice(-2)
    expect(first).toMatchObject({ tool: 'send_message', input: { chat_id: 'C1' } })
    expect(second).toMatchObject({ tool: 'post', input: { chat_id: 'C2' } })
    expect(new Set(slack.calls.slice(0, -1).map(({ tool }) => tool))).toEqual(new Set(['send_message']))
  })

  it('[F7.tool-evicted] a server that was evicted is not there for the tools any more', async () => {
    const river = await spoken(open)
    await river.configure(hosting({ channels: channels({ enabled: false }) }))
    expect((await river.tools().channelList(caller())).structured).toMatchObject({ count: 0, servers: [] })
    expect((await send(river, { content: 'x' })).text).toContain('is not registered for binding')
    expect(inputs(river)).toEqual([])
  })

  it('[I8.ask-again] what only the allowlist opened is asked again at the moment of sending', async () => {
    const river = await spoken(open, { messagingAllow: ['slack:C7'] })
    river.server('slack').answer = away
    const ordered = river
      .tools()
      .channelSend(caller(), { server: 'slack', content: 'x', arguments: { channel: 'C7' } })
    await river.settle()
    await river.configure(hosting({ messagingAllow: [] }))
    expect((await outcomeOf(river, ordered)).isError).toBe(true)
    expect(inputs(river)).toHaveLength(1)
    expect(await river.operator().sends({ integration: SLACK, limit: 1 })).toMatchObject([
      { state: 'failed', reason: 'not_allowed' },
    ])
  })

  it('the same call again by its key is the same send; a loop is held by the recipient limit', async () => {
    const river = await spoken(open)
    const key = { idempotencyKey: 'call-1' }
    const first = await send(river, { content: 'once' }, key)
    const second = await send(river, { content: 'once' }, key)
    expect(second.structured.outbox_id).toBe(first.structured.outbox_id)
    expect(inputs(river)).toHaveLength(1)
    let refused = ''
    for (let n = 0; n < 40 && refused === ''; n++) {
      const { isError, text } = await send(river, { content: `m${n}` })
      if (isError) refused = text
    }
    expect(refused).toContain('tunables.recipient_limit')
  })
})

// What the tool answered is known where it was called; on another node only what became of the send.
describeRiver(
  'answers of the tools of channel servers',
  (open) => {
    it('[S9.send-fills-text] [F7.tool-content-key] content becomes the text, unless the arguments have one', async () => {
      const river = await spoken(open)
      river.server('slack').answer = () => ({
        content: [{ type: 'text', text: 'ok' }],
        text: 'ok',
        structured: { message_id: '9' },
      })
      expect(await send(river, { content: 'a', arguments: { chat_id: 'C1', blocks: [1] } })).toEqual({
        text: 'ok',
        isError: false,
        structured: {
          server: 'slack',
          tool_name: 'send_message',
          is_error: false,
          content: [{ type: 'text', text: 'ok' }],
          structured_content: { message_id: '9' },
          ok: true,
          status: 'sent',
          outbox_id: expect.any(String),
        },
      })
      await send(river, { content: 'b', arguments: { chat_id: 'C1', text: 'mine' } })
      await send(river, { content: 'c', arguments: { chat_id: 'C1', content: 'mine' } })
      await send(river, { content: 'd' })
      expect(inputs(river).map(({ input }) => input)).toEqual([
        { chat_id: 'C1', blocks: [1], text: 'a' },
        { chat_id: 'C1', text: 'mine' },
        { chat_id: 'C1', content: 'mine' },
        { text: 'd' },
      ])
      const sends = await river.operator().sends({ integration: SLACK, limit: 10 })
      expect(sends.filter((row) => row.cause === 'channel_send').map((row) => row.text)).toEqual([
        ...['d', 'c', 'mine', 'a'],
      ])
    })

    it('[F7.tool-is-error] an error of the tool is told with what it said, and the send has failed', async () => {
      const river = await spoken(open)
      const content = [{ type: 'text', text: 'channel_is_archived' }]
      river.server('slack').answer = () => ({ isError: true, text: 'channel_is_archived', content })
      expect(await send(river, { content: 'x' })).toMatchObject({
        text: 'channel_is_archived',
        isError: true,
        structured: { is_error: true, content, tool_name: 'send_message', status: 'failed' },
      })
    })
  },
  ['sqlite', 'postgres'],
)
