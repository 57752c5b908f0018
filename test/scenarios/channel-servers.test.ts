// Hosted channel servers in the river: what they push comes in through their gates, answers go out through their tool,
// and a new configuration counts at once, in both directions.
import { expect, it } from 'vitest'
import { approved, channels, hosting, hostingAgent, SLACK } from './hosting.ts'
import { describeRiver, type River } from './river.ts'
import { caller, outcomeOf } from './tool-caller.ts'

const turns = async (river: River, integration = SLACK) =>
  (await river.store().turns({ integration, oldestFirst: true, limit: 100 })).map(
    ({ state, reason, source, conversation, thread, sender }) => ({
      ...{ state, reason, source, conversation, thread, sender },
    }),
  )
const states = async (river: River) =>
  (await turns(river)).map(({ state, reason }) => (reason === null ? state : `${state}: ${reason}`))

describeRiver('hosted channel servers', (open) => {
  it('[S9.source-logged] [F7.audit-source] [S7.mcp-out] [S9.two-prefixes] a message goes to the agent and its answer through the outbound tool, whatever the prefix', async () => {
    for (const prefix of ['nexo', 'claude'] as const) {
      const river = await open(hosting())
      river.server('slack').up({ prefix })
      river.server('slack').says('hello', { chat_id: 'C1', user: 'Anna', user_id: 'U1', message_id: '7' })
      await river.settle()
      expect(await turns(river)).toEqual([
        {
          state: 'answered',
          reason: null,
          source: 'channel:slack',
          conversation: 'chat_id=C1',
          thread: null,
          sender: 'U1',
        },
      ])
      expect(river.server('slack').calls).toEqual([
        { tool: 'send_message', input: { text: 're: hello', chat_id: 'C1' } },
      ])
      const found = await river.store().turns({ source: 'channel:slack', limit: 10 })
      expect(found.map((turn) => turn.integration)).toEqual([SLACK])
      expect(await river.operator().sends({ integration: SLACK, limit: 10 })).toMatchObject([
        { state: 'sent' },
      ])
    }
  })

  it('[I35.b21] what the server says of its messages goes along with each, while it is connected', async () => {
    const river = await open(hosting())
    river.server('slack').up({ instructions: 'Answer in the thread.' })
    river.server('slack').says('hello', { chat_id: 'C1' })
    await river.settle()
    expect(river.agent.deliveries[0]?.instructions).toEqual({
      server: 'slack',
      text: 'Answer in the thread.',
    })
    river.server('slack').up({ instructions: null })
    river.server('slack').says('again', { chat_id: 'C1' })
    await river.settle()
    expect(river.agent.deliveries[1]).not.toHaveProperty('instructions')
  })

  it("the model sees the server's meta beside ours; what is ours keeps its meaning", async () => {
    const river = await open(hosting())
    river.server('slack').up({ prefix: 'claude' })
    river.server('slack').pushes({
      params: {
        content: 'hi',
        meta: { chat_id: 'C1', thread_ts: '1.2', ts: '9', team: 'T1', user: 'Anna', 'a-b': 'x', n: 3 },
      },
    })
    await river.settle()
    const [delivery] = river.agent.deliveries
    expect(delivery?.meta).toMatchObject({
      chat_id: 'channel%3Aslack%40demo:chat_id%3DC1:thread_ts%3D1.2',
      server_chat_id: 'C1',
      server_ts: '9',
      thread_ts: '1.2',
      team: 'T1',
      user: 'Anna',
      platform: 'mcp',
      integration: SLACK,
      dropped_keys: '2',
    })
    expect(delivery?.source).toBe('channel:slack')
    expect(river.server('slack').calls[0]?.input).toEqual({
      text: 're: hi',
      chat_id: 'C1',
      thread_ts: '1.2',
    })
  })

  it('[S9.bad-meta] [F7.parse-number-value] what does not parse is recorded, and the next message is not held up', async () => {
    const river = await open(hosting())
    river.server('slack').up()
    river.server('slack').pushes({ params: { content: 'lost', meta: { n: 3 } } })
    river.server('slack').pushes({ params: null })
    river.server('slack').says('kept')
    await river.settle()
    expect(await states(river)).toEqual(['refused: unparsable', 'refused: unparsable', 'answered'])
    const entries = await river.store().ledger({ afterSeq: 0, limit: 1_000 })
    expect(entries.map((entry) => entry.detail).join('\n')).toContain('params.meta must be an object')
    expect(river.agent.texts()).toEqual(['kept'])
  })

  it('[I8.pushed-once] what was committed and not heard of is stored once, with an id of its own or without', async () => {
    const river = await open(hosting())
    const slack = river.server('slack')
    slack.up()
    river.loseAnswer('receive', 1)
    slack.says('without')
    slack.says('with', { message_id: '7' })
    await river.pass(10_000)
    slack.says('without')
    await river.settle()
    expect(river.agent.texts()).toEqual(['without', 'with', 'without'])
    expect(await states(river)).toEqual(['answered', 'answered', 'answered'])
  })

  it('[S5.mcp-thread-order] [S5.mcp-no-thread] [S5.mcp-parent-joined] [F7.session-two-channels] threads and chats are sessions of their own', async () => {
    const river = await open(hosting())
    const slack = river.server('slack')
    slack.up()
    slack.says('a', { thread_ts: '1', channel_id: 'C1' })
    slack.says('b', { thread_ts: '1', channel_id: 'C2' })
    slack.says('c', { thread_ts: '1', channel_id: 'C1' })
    slack.says('d', { user_id: 'U1' })
    slack.says('e', { user_id: 'U2', chat_id: '' })
    await river.settle()
    const session = (text: string) => river.agent.deliveries.find((one) => one.text === text)?.session
    expect(session('a')).toBe(session('c'))
    expect(session('a')).not.toBe(session('b'))
    expect(session('d')).toBe(session('e'))
    expect(session('d')).not.toBe(session('a'))
  })

  it('[I8.thread-alone] equal message ids in two threads that name no chat are two turns in two sessions, each answered in its own', async () => {
    const river = await open(hosting())
    const slack = river.server('slack')
    slack.up()
    slack.says('a', { thread_id: 'T1', message_id: '1' })
    slack.says('b', { thread_id: 'T2', message_id: '1' })
    slack.says('b', { thread_id: 'T2', message_id: '1' })
    await river.settle()
    // Two sessions: which of them is handed over first is nobody's promise.
    expect([...river.agent.texts()].sort()).toEqual(['a', 'b'])
    const [a, b] = river.agent.deliveries
    expect(a?.session).not.toBe(b?.session)
    expect(slack.calls.map(({ input }) => input.thread_id).sort()).toEqual(['T1', 'T2'])
    const told = await river.tools().channelSend(caller(), {
      server: 'slack',
      content: 'x',
      arguments: { thread_id: 'T3' },
    })
    expect(told.isError).toBe(true)
    const sent = river.tools().channelSend(caller(), {
      server: 'slack',
      content: 'x',
      arguments: { thread_id: 'T2' },
    })
    expect((await outcomeOf(river, sent)).isError).toBe(false)
  })

  it('[S9.gates-every-message] [S9.skip-names-key] what its gates bar is recorded with the gate and the key, and goes nowhere', async () => {
    const river = await open(hosting({ channels: channels({ approved: [] }) }))
    river.server('slack').up()
    river.server('slack').says('let me in')
    await river.settle()
    expect(await states(river)).toEqual(['refused: gate_allowlist'])
    expect(river.agent.deliveries).toEqual([])
    const doctor = await river.operator().doctor()
    const slack = doctor.integrations.find((one) => one.id === SLACK)
    expect(slack?.gates.filter((gate) => !gate.pass)).toEqual([
      {
        gate: 'allowlist',
        pass: false,
        reason: expect.stringContaining('server slack is not in channels.approved'),
        key: 'agents[0].channels.approved',
      },
    ])
    expect(doctor.ok).toBe(false)
  })

  it('[I14.gates-once] doctor shows the gates of a server once, and a server that is skipped passes nowhere', async () => {
    const named = { plugin: 'mcp', instance: 'slack', allowedChannelServers: ['slack'] }
    const settings = (enabled: boolean) =>
      hosting({ channels: channels({ enabled }), bindings: [...hostingAgent('demo').bindings, named] })
    const river = await open(settings(true))
    river.server('slack').up()
    await river.settle()
    const look = async () => {
      const doctor = await river.operator().doctor()
      const own = doctor.integrations.find((one) => one.id === SLACK)?.gates ?? []
      const bindings = doctor.agents[0]?.bindings ?? []
      const of = (id: string) => bindings.find((one) => one.integration === id)?.gates ?? []
      return { doctor, own, made: of(SLACK), written: of('slack') }
    }
    const before = await look()
    expect(before.own.map(({ gate }) => gate)).toContain('marketplace')
    expect(before.made.map(({ gate, pass }) => [gate, pass])).toEqual([
      ['server', true],
      ['agent', true],
    ])
    expect(before.written.map(({ gate, pass }) => [gate, pass])).toEqual([['server', true]])
    await river.configure(settings(false))
    const shut = await look()
    for (const gates of [shut.made, shut.written]) {
      expect(gates[0]).toMatchObject({
        gate: 'server',
        pass: false,
        reason: expect.stringContaining(`skipped (disabled): see ${SLACK}`),
        key: 'agents[0].channels.enabled',
      })
    }
    expect(shut.doctor.ok).toBe(false)
  })

  it('[S9.bucket-before-parse] [F7.rate-before-parse] [F7.rate-visible] the bucket of the server comes before parsing; drops are counted and seen', async () => {
    const limit = { rps: 1, burst: 2 }
    const river = await open(hosting({ channels: channels({ defaultRateLimit: limit }) }))
    const slack = river.server('slack')
    slack.up()
    for (let n = 0; n < 5; n++) slack.pushes({ params: n < 2 ? { content: `m${n}` } : 'not even an object' })
    await river.settle()
    expect(river.agent.texts()).toEqual(['m0', 'm1'])
    expect(await states(river)).toEqual(['answered', 'answered'])
    const doctor = await river.operator().doctor()
    expect(doctor.integrations.find((one) => one.id === SLACK)).toMatchObject({
      drops: { rate_limited: 3 },
      refusals: [{ reason: 'rate_limited', count: 3, key: 'agents[0].channels.default_rate_limit' }],
    })
    expect((await river.operator().status()).counts.refused).toBe(3)
    await river.pass(1_000)
    slack.says('again')
    await river.settle()
    expect(river.agent.texts()).toEqual(['m0', 'm1', 'again'])
  })

  it('[I35.b22] where the server is the sender its own bucket alone decides, also above 20 a second and with 0/0', async () => {
    const MANY = 600
    for (const defaultRateLimit of [
      { rps: 0, burst: 0 },
      { rps: 1_000, burst: MANY },
    ]) {
      const river = await open(
        hosting(
          { channels: channels({ defaultRateLimit }) },
          { agent: { window: MANY }, tunables: { senderLimit: { rps: 20, burst: 500 } } },
        ),
      )
      const slack = river.server('slack')
      slack.up()
      for (let n = 0; n < MANY; n++) slack.says(`m${n}`, { chat_id: `C${n % 7}` })
      await river.settle()
      expect(await river.operator().status()).toMatchObject({ counts: { received: MANY, refused: 0 } })
    }
  })

  it('[I35.b22] a person whom the server names has the limit of a sender, and doctor names the key that was drawn from', async () => {
    const over = { tunables: { senderLimit: { rps: 1, burst: 2 } } } as const
    const river = await open(
      hosting({ channels: channels({ defaultRateLimit: { rps: 1, burst: 5 } }) }, over),
    )
    const slack = river.server('slack')
    slack.up()
    const refusal = async () =>
      (await river.operator().doctor()).integrations.find((one) => one.id === SLACK)?.refusals
    for (let n = 0; n < 4; n++) slack.says(`m${n}`, { chat_id: 'C1', user_id: 'U1' })
    await river.settle()
    expect(await refusal()).toEqual([
      expect.objectContaining({ reason: 'rate_limited', count: 2, key: 'tunables.sender_limit' }),
    ])
    for (let n = 0; n < 4; n++) slack.says(`n${n}`, { chat_id: 'C1' })
    await river.settle()
    expect(await refusal()).toEqual([
      expect.objectContaining({ count: 5, key: 'agents[0].channels.default_rate_limit' }),
    ])
    const own = approved('slack', { rateLimit: { rps: 1, burst: 1 } })
    await river.configure(hosting({ channels: channels({ approved: [approved('other'), own] }) }, over))
    await river.pass(1_000)
    for (let n = 0; n < 3; n++) slack.says(`o${n}`, { chat_id: 'C1' })
    await river.settle()
    expect((await refusal())?.[0]).toMatchObject({
      reason: 'rate_limited',
      key: 'agents[0].channels.approved[1].rate_limit',
    })
  })

  it('[I35.b45-skip-at-boot] a closed gate is logged as Skip with its kind and reason, at start and at every reconnect', async () => {
    const river = await open(hosting({ channels: channels({ approved: [] }) }))
    const slack = river.server('slack')
    const skips = () => river.logLines.filter((line) => /\bSkip\b/.test(line))
    slack.up()
    await river.settle()
    expect(skips()).toEqual([expect.stringContaining('allowlist')])
    expect(skips()[0]).toContain('server slack is not in channels.approved (add it to vet the source)')
    slack.says('one more')
    await river.settle()
    await river.tools().channelStatus(caller({ agent: 'demo' }), {})
    await river.tools().channelList(caller({ agent: 'demo' }))
    expect(skips(), 'once a connection').toHaveLength(1)
    slack.down()
    slack.up({ connectedAt: 2 })
    await river.settle()
    expect(skips()).toHaveLength(2)
  })

  it('[I35.b45-one-way-servers] a server without tools is one-way: an answer settles the turn, and no send is made that must fail', async () => {
    const river = await open(hosting())
    river.server('slack').up({ oneWay: true }, [])
    river.server('slack').says('the build broke', { chat_id: 'ci' })
    await river.settle()
    expect(await states(river)).toEqual(['answered'])
    river.agent.script = () => undefined
    river.server('slack').says('again', { chat_id: 'ci' })
    await river.settle()
    const { turn = '', chatId = '' } = river.agent.deliveries.at(-1) ?? {}
    const told = await outcomeOf(river, river.tools().reply(caller({ turn }), { chatId, text: 'on it' }))
    expect(told).toMatchObject({ isError: true, text: expect.stringContaining('is one-way') })
    expect(await states(river)).toEqual(['answered', 'answered'])
    expect(await river.store().sends({ integration: SLACK, limit: 10 })).toEqual([])
    expect(river.server('slack').calls).toEqual([])
  })

  it('[S9.reload-stops] [F7.reload-killswitch] [S9.reload-starts] [F7.reload-restores] the killswitch stops what flows and lets it flow again, without a restart of anything', async () => {
    const river = await open(hosting())
    const slack = river.server('slack')
    slack.up()
    slack.says('one')
    await river.settle()
    await river.configure(hosting({ channels: channels({ enabled: false }) }))
    slack.says('two')
    await river.settle()
    await river.configure(hosting())
    slack.says('three')
    await river.settle()
    expect(river.agent.texts()).toEqual(['one', 'three'])
    expect(await states(river)).toEqual(['answered', 'refused: gate_disabled', 'answered'])
    expect(river.logLines.join('\n')).toContain('operator killswitch')
  })

  it('[F7.reload-evicts] [S9.reload-stops] a server that is no longer approved is evicted with its reason; answers on their way stop too', async () => {
    const river = await open(hosting({}, { agent: { window: 1 } }))
    const slack = river.server('slack')
    slack.up()
    river.agent.script = () => undefined
    slack.says('work', { chat_id: 'C1' })
    await river.settle()
    await river.configure(hosting({ channels: channels({ approved: [] }) }))
    const [delivery] = river.agent.deliveries
    if (delivery) await river.agent.answer(delivery, 'too late')
    await river.settle()
    expect(slack.calls).toEqual([])
    expect(await river.operator().sends({ integration: SLACK, limit: 10 })).toMatchObject([
      { state: 'failed', reason: 'not_allowed' },
    ])
    expect(river.logLines.find((line) => line.includes('channel server unregistered'))).toContain('allowlist')
  })

  it('[S3.server-two-bindings] a server in two bindings of one agent delivers once', async () => {
    const bindings = ['chat', 'other'].map((instance) => ({
      plugin: 'test',
      instance,
      allowedChannelServers: ['slack'],
    }))
    const river = await open(hosting({ bindings }))
    river.server('slack').up()
    river.server('slack').says('once')
    await river.settle()
    expect(river.agent.texts()).toEqual(['once'])
  })

  it('[I8.two-agents] two agents that both let it in hear it each in a session of their own; a third that does not, does not', async () => {
    const agents = ['demo', 'kate'].map((id) => hostingAgent(id))
    const bob = hostingAgent('bob', { channels: channels({ enabled: false }), origin: 'agents[2]' })
    const river = await open(hosting({}, { agents: [...agents, bob] }))
    river.server('slack').up()
    river.server('slack').says('all of you')
    await river.settle()
    expect(river.agentNamed('demo').texts()).toEqual(['all of you'])
    expect(river.agentNamed('kate').texts()).toEqual(['all of you'])
    expect(river.agentNamed('bob').texts()).toEqual([])
    const sessions = ['demo', 'kate'].map((id) => river.agentNamed(id).deliveries[0]?.session)
    expect(new Set(sessions).size).toBe(2)
    expect(await turns(river, 'channel:slack@bob')).toMatchObject([
      { state: 'refused', reason: 'gate_disabled' },
    ])
  })

  it('[I8.narrow-by-id] [S4.default-mcp] access beside the server narrows it to ids; a name is no id', async () => {
    const access = { readable: true, dm: 'allowlist', allowFrom: ['U1'], approvers: [] } as const
    const policy = { ...access, groups: {}, mentionPatterns: [] }
    const mcpServers = [{ name: 'slack', options: { access: policy } }]
    const river = await open(hosting({}, { mcpServers }))
    const slack = river.server('slack')
    slack.up()
    slack.says('me', { user_id: 'U1' })
    slack.says('not me', { user_id: 'U2' })
    slack.says('called like me', { user: 'U1' })
    await river.settle()
    expect(await states(river)).toEqual([
      'answered',
      'refused: sender_not_allowed',
      'refused: sender_not_allowed',
    ])
    expect(river.agent.texts()).toEqual(['me'])
  })

  it('[I8.store-away] messages that come while the store is away wait in order', async () => {
    const river = await open(hosting())
    river.server('slack').up()
    river.storeAway('receive', 3)
    for (const text of ['a', 'b', 'c']) river.server('slack').says(text)
    await river.pass(2_000)
    expect(river.agent.texts()).toEqual(['a', 'b', 'c'])
    expect(await states(river)).toEqual(['answered', 'answered', 'answered'])
  })

  it('an answer waits for a server that is away; one it cannot take ends with the reason', async () => {
    const river = await open(hosting())
    const slack = river.server('slack')
    slack.up()
    river.agent.script = () => undefined
    slack.says('hi', { chat_id: 'C1' })
    await river.settle()
    slack.down('the program ended with code 1')
    const [delivery] = river.agent.deliveries
    if (delivery) await river.agent.answer(delivery, 'here')
    await river.pass(6_000)
    expect(slack.calls).toEqual([])
    expect((await river.operator().status()).integrations.find((one) => one.id === SLACK)).toMatchObject({
      link: 'down',
      detail: expect.stringContaining('the program ended with code 1'),
    })
    slack.up()
    await river.pass(10_000)
    expect(slack.texts()).toEqual(['here'])
  })

  it('[S9.send-tool-missing] a server that lacks the outbound tool gives an error that names it', async () => {
    const entry = approved('slack', { outboundToolName: 'chat.postMessage' })
    const river = await open(hosting({ channels: channels({ approved: [entry] }) }))
    river.server('slack').up({}, ['send', 'react'])
    river.server('slack').says('hi')
    await river.settle()
    const [send] = await river.operator().sends({ integration: SLACK, limit: 10 })
    expect(send).toMatchObject({ state: 'failed', reason: 'platform_rejected' })
    expect(send?.detail).toBe(
      'server slack has no tool "chat.postMessage" (outbound_tool_name); it offers: send, react',
    )
  })

  it('what a crash left in the inbox of a server is handed over after it, in the same session', async () => {
    const river = await open(hosting())
    river.server('slack').up()
    river.agent.detach()
    river.server('slack').says('wait for me', { chat_id: 'C1' })
    await river.settle()
    await river.restart()
    river.agent.attach()
    await river.settle()
    river.server('slack').says('and me', { chat_id: 'C1' })
    await river.settle()
    expect(river.agent.texts()).toEqual(['wait for me', 'and me'])
    expect(new Set(river.agent.deliveries.map((one) => one.session)).size).toBe(1)
  })
})
