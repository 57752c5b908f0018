// The platform `mcp`: the shared suite, and its own cases: requests in both dialects, destinations of arguments, ids in
// answers, and gates as doctor shows them.
import { describe, expect, it } from 'vitest'
import {
  address,
  RELAY_PLACE,
  type SendRequest,
  type ServerToolResult,
  SwitchboardError,
} from '../../contract/index.ts'
import { createFakeIntake, describePlatform } from '../../testing/index.ts'
import { destinationsIn } from './destinations.ts'
import { APPROVED, CHANNELS, ID, made, open, tick } from './fixtures/adapter-scene.ts'
import { messageIds } from './render.ts'

const request = (op: SendRequest['op'], conversation = 'chat_id=C1'): SendRequest => ({
  to: address(ID, conversation),
  op,
  key: 'o1',
  seq: 1,
})
const PROMPT = {
  kind: 'prompt',
  approval: 'abcde',
  text: 'Run it?',
  choices: [],
  ask: { toolName: 'Bash', description: 'Run the tests', input: '😀'.repeat(300) },
} as const

describePlatform(
  'mcp',
  async ({ fault }) => {
    const scene = await open()
    const { slack, adapter, clock, log } = scene
    slack.becomes({ permissionRelay: true })
    if (fault === 'down') slack.down()
    if (fault === 'rejects') slack.answer = () => ({ isError: true, text: 'channel_not_found' })
    if (fault === 'silent')
      slack.answer = () => {
        throw new SwitchboardError('outcome_unknown', 'no answer within 30 s')
      }
    // The protocol has no acknowledgement, so an empty queue is the only sign.
    const pushed = async (push: () => void) => {
      await clock.advance(6_000)
      const troubles = log.lines.length
      push()
      while (adapter.link?.state().detail?.includes('wait for the store') && log.lines.length === troubles)
        await tick()
      return { acknowledged: adapter.link?.state().detail === undefined, sentBack: '' }
    }
    return {
      adapter,
      inbound: [
        {
          name: 'a message with meta',
          deliver: () => pushed(() => slack.says('hi', { chat_id: 'C1', user_id: 'U1', message_id: '1' })),
        },
        { name: 'the bare minimum', deliver: () => pushed(() => slack.says('hi')) },
        {
          name: 'broken characters',
          deliver: () => pushed(() => slack.says('\ud800 \0', { chat_id: 'C1', user: '\ud800', note: '\0' })),
        },
      ],
      malformed: [
        { name: 'no content', deliver: () => pushed(() => slack.pushes({ params: {} })) },
        {
          name: 'a number in meta',
          deliver: () => pushed(() => slack.pushes({ params: { content: 'x', meta: { n: 1 } } })),
        },
        {
          name: 'an id that no index takes',
          deliver: () => pushed(() => slack.says('x', { chat_id: 'c'.repeat(1_000) })),
        },
        {
          name: 'an id that no store can keep as it is',
          deliver: () => pushed(() => slack.says('x', { chat_id: 'C\0\ud800' })),
        },
        {
          name: 'a verdict without behaviour',
          deliver: () => pushed(() => slack.pushes({ kind: 'verdict', params: { request_id: 'abcde' } })),
        },
      ],
      unverified: [],
      address: address(ID, 'chat_id=C1'),
      reads: async () => String(slack.texts().at(-1)),
      planted: [],
      pass: () => clock.advance(1_000),
      logLines: () => log.lines,
      close: async () => undefined,
    }
  },
  {
    faults: ['down', 'rejects', 'silent'],
    without: {
      history: 'the protocol has no way to ask what was pushed before',
      busy: 'the protocol has no way to ask for patience',
      lease: 'the pool of its servers holds the lease: see channel-servers.process.test.ts',
      unverified: 'servers are called, not heard at a door: which are let in is in gates.test.ts',
      planted:
        'it has no secret of its own; those of its server are looked for in test/faults/hosted-secrets.test.ts',
    },
  },
)

describe('what a server is sent', () => {
  it('[S9.relay-schema] [S9.relay-capable] a permission request in its own dialect: five fields and 200 code points for nexo, four whole strings for claude', async () => {
    const { adapter, slack } = await open()
    await adapter.start(createFakeIntake(), null)
    expect(adapter.channel?.relaysApprovals()).toBe(false)
    await expect(adapter.send(request(PROMPT, RELAY_PLACE))).rejects.toMatchObject({
      code: 'platform_rejected',
    })
    slack.up({ permissionRelay: true })
    expect(adapter.channel?.relaysApprovals()).toBe(true)
    await adapter.send(request(PROMPT, RELAY_PLACE))
    slack.up({ permissionRelay: true, prefix: 'claude' })
    await adapter.send(request(PROMPT, RELAY_PLACE))
    const common = { request_id: 'abcde', tool_name: 'Bash', description: 'Run the tests' }
    expect(slack.notified).toEqual([
      {
        method: 'notifications/nexo/channel/permission_request',
        params: { schema: 1, ...common, input_preview: `${'😀'.repeat(200)}…` },
      },
      {
        method: 'notifications/claude/channel/permission_request',
        params: { ...common, input_preview: PROMPT.ask.input },
      },
    ])
    await adapter.stop()
  })

  it('the tool that the row names, whatever the configuration says by now', async () => {
    const { adapter, slack, configure } = await open()
    await adapter.start(createFakeIntake(), null)
    slack.up({}, ['send_message', 'post'])
    configure(made({ ...CHANNELS, approved: [{ ...APPROVED, outboundToolName: 'post' }] }))
    await adapter.send(request({ kind: 'call', tool: 'send_message', input: { text: 'a' }, text: 'a' }))
    await adapter.send(request({ kind: 'text', text: 'b', tool: 'send_message' }))
    await adapter.send(request({ kind: 'text', text: 'of a row without one' }))
    expect(slack.calls.map(({ tool }) => tool)).toEqual(['send_message', 'send_message', 'post'])
    expect(adapter.channel?.outboundTool()).toBe('post')
    await adapter.stop()
  })

  it('[I8.gates-at-the-call] nothing, when a gate is closed while its tools are asked for', async () => {
    const { adapter, slack, configure } = await open()
    await adapter.start(createFakeIntake(), null)
    const sent = adapter.send(request({ kind: 'text', text: 'late' }))
    configure(made({ ...CHANNELS, enabled: false }))
    await expect(sent).rejects.toMatchObject({
      code: 'platform_rejected',
      message: 'channels.enabled is false (operator killswitch)',
    })
    expect(slack.calls).toEqual([])
    await adapter.stop()
  })

  it('that is lost is told as lost in the log, not as one without the capability', async () => {
    const { adapter, slack, log } = await open()
    await adapter.start(createFakeIntake(), null)
    slack.down('the program ended')
    const line = log.lines.find((one) => one.includes('unregistered'))
    expect(line).toContain('the program ended')
    expect(line).not.toContain('capability')
    await adapter.stop()
  })

  it.each<[Partial<ServerToolResult>, readonly string[]]>([
    [{ text: 'sent (id: 7)' }, ['7']],
    [{ text: 'sent (m1700000000000-3)' }, ['m1700000000000-3']],
    [{ text: 'sent 2 parts (ids: 7, 8)' }, ['7', '8']],
    [{ structured: { message_id: 7 } }, ['7']],
    [{ structured: { ts: '1.2' } }, ['1.2']],
    [{ structured: { message_ids: ['a', 'b'] } }, ['a', 'b']],
    [{ text: 'done' }, []],
    [{ structured: { id: { no: 'id' } } }, []],
  ])('ids of the message are read where they are known: %j', (result, ids) => {
    expect(messageIds({ isError: false, content: [], structured: null, text: '', ...result })).toEqual(ids)
  })

  it.each<[Record<string, unknown>, readonly string[]]>([
    [{ chat_id: 'C1', text: 'to: you' }, ['conversation C1']],
    [{ channel: 'C1', thread_ts: '1.2' }, ['conversation C1', 'thread 1.2']],
    [{ chatId: 412 }, ['conversation 412']],
    [{ recipients: ['a', 'b'] }, ['conversation a', 'conversation b']],
    [{ message: { to: { address: 'x@y' } } }, ['conversation x@y']],
    [{ channel: { id: 'C2' }, to: [{ name: 'x' }] }, ['conversation C2', 'conversation x']],
    [{ thread: { ref: '7' } }, ['thread 7']],
    [{ to_user: 'U1' }, ['conversation U1']],
    [{ text: 'hi', parse_mode: 'HTML', reply_to: '5' }, []],
    [{ a: [[[[[[[[[['deep']]]]]]]]]] }, ['conversation (nested too deeply)']],
  ])('every way to name a destination is seen: %j', (input, found) => {
    expect(destinationsIn(input).map(({ of, value }) => `${of} ${value}`)).toEqual(found)
  })
})

describe('gates for people', () => {
  const stops = (views: readonly { readonly gate: string; readonly pass: boolean }[] = []) =>
    views.filter((view) => !view.pass).map((view) => view.gate)

  it('[I8.gate-views] all that are closed are shown, each with its own key', async () => {
    const { adapter, slack, configure } = await open()
    await adapter.start(createFakeIntake(), null)
    expect(stops(adapter.checks?.gates?.())).toEqual([])
    const closed = { plugin: 'telegram', instance: 'tg', allowedChannelServers: [] }
    configure({ ...made(), options: { ...made().options, channels: null, bindings: [closed] } })
    slack.up({ prefix: null })
    expect(stops(adapter.checks?.gates?.())).toEqual(['capability', 'disabled', 'session', 'allowlist'])
    expect(adapter.checks?.gates?.().map((view) => view.key)).toEqual([
      'mcp_servers.slack',
      'agents[0].channels.enabled',
      'agents[0].inbound_bindings[0].allowed_channel_servers',
      'agents[0].channels.approved[0].plugin_source',
      'agents[0].channels.approved',
      'agents[0].channels.default_rate_limit',
    ])
    await adapter.stop()
  })

  it('[S9.stamp-unverified] a stamp that was written by hand is shown as unverified', async () => {
    const source = { ...APPROVED, pluginSource: 'slack@anthropic' }
    const { adapter, slack } = await open(made({ ...CHANNELS, approved: [source] }))
    await adapter.start(createFakeIntake(), null)
    slack.up({ stamp: { source: 'slack@anthropic', verified: false } })
    const gate = () => adapter.checks?.gates?.().find((view) => view.gate === 'marketplace')
    expect(gate()).toMatchObject({ pass: true, flagged: true, reason: expect.stringContaining('unverified') })
    slack.up({ stamp: { source: 'slack@anthropic', verified: true } })
    expect(gate()).toEqual({
      gate: 'marketplace',
      pass: true,
      reason: 'installed source slack@anthropic matches',
      key: 'agents[0].channels.approved[0].plugin_source',
    })
    slack.up({ stamp: { source: 'slack@evil', verified: true } })
    expect(gate()).toMatchObject({ pass: false })
    await adapter.stop()
  })

  it('a server that is away is no gate that is closed by the configuration', async () => {
    const { adapter, slack } = await open()
    await adapter.start(createFakeIntake(), null)
    slack.down('the program ended')
    expect(adapter.checks?.gates?.()[0]).toMatchObject({
      gate: 'capability',
      pass: false,
      reason: 'not known: the server is down (the program ended)',
    })
    expect(adapter.link?.state()).toEqual({ state: 'down', detail: 'the program ended' })
    await adapter.stop()
  })
})
