// The functions of the host's owner: questions, sends, list and status.
import { describe, expect, it } from 'vitest'
import { agent, openHost } from './fixtures/open-host.ts'

describe('questions', () => {
  const question = { toolName: 'Bash', description: 'Deletes', input: `{"command":"${'x'.repeat(300)}"}` }

  it('go to the servers that relay, in their dialect, and the first answer counts', async () => {
    const { host, slack, other, verdicts } = await openHost([agent('kate')])
    other.facts = { ...other.facts, prefix: 'claude' }
    const asked = host.ask(question)
    expect(slack.notified).toEqual([
      {
        method: 'notifications/nexo/channel/permission_request',
        params: {
          schema: 1,
          request_id: asked.id,
          tool_name: 'Bash',
          description: 'Deletes',
          input_preview: `${question.input.slice(0, 200)}…`,
        },
      },
    ])
    expect(other.notified).toEqual([
      {
        method: 'notifications/claude/channel/permission_request',
        params: {
          request_id: asked.id,
          tool_name: 'Bash',
          description: 'Deletes',
          input_preview: question.input,
        },
      },
    ])
    slack.verdict(asked.id.toUpperCase(), 'Allow')
    slack.verdict(asked.id, 'deny')
    expect(await asked.outcome).toEqual({ behavior: 'allow', by: 'server:slack', reason: 'decided' })
    expect(verdicts.map(({ counted }) => counted)).toEqual([true, false])
    expect(asked.decide('deny')).toBe(false)
  })

  it('[I35.b45-host-ask] may give their input as an object, as the models do; what cannot be shown is refused at once', async () => {
    const { host, slack } = await openHost([agent('kate')])
    const asked = host.ask({ ...question, input: { command: 'ls', deep: { er: [1, 2] } } })
    const { input_preview } = (slack.notified[0]?.params ?? {}) as { input_preview?: string }
    expect(JSON.parse(input_preview ?? '')).toEqual({ command: 'ls', deep: { er: [1, 2] } })
    slack.verdict(asked.id, 'allow')
    expect(await asked.outcome).toEqual({ behavior: 'allow', by: 'server:slack', reason: 'decided' })
    const refused = (wrong: object) => () => host.ask({ ...question, ...wrong })
    expect(refused({ input: { long: 'x'.repeat(200_000) } })).toThrow(/too deep to be shown/)
    expect(refused({ input: { n: 1n } })).toThrow(expect.objectContaining({ code: 'input_invalid' }))
    expect(refused({ toolName: { name: 'Bash' } })).toThrow(/toolName must be a text/)
    expect(slack.notified).toHaveLength(1)
  })

  it('are answered by nobody who was not asked, does not pass, or has the wrong id', async () => {
    const { host, slack, other, verdicts, configured, clock } = await openHost([agent('kate')])
    other.facts = { ...other.facts, permissionRelay: false }
    const asked = host.ask(question)
    other.facts = { ...other.facts, permissionRelay: true }
    other.verdict(asked.id, 'allow')
    slack.verdict('zzzzz', 'allow')
    await configured(agent('kate', { approved: [{ server: 'other' }] }))
    slack.verdict(asked.id, 'allow')
    expect(verdicts.map(({ counted }) => counted)).toEqual([false, false, false])
    await clock.advance(600_000)
    expect(await asked.outcome).toEqual({ behavior: 'deny', by: null, reason: 'expired' })
  })

  it('of one agent are not answered by the server of another', async () => {
    const only = (id: string, server: string) => agent(id, { approved: [{ server }] })
    const { host, other, slack } = await openHost([only('kate', 'slack'), only('bob', 'other')])
    const asked = host.ask({ ...question, agent: 'kate' })
    expect(other.notified).toEqual([])
    other.verdict(asked.id, 'allow')
    slack.verdict(asked.id, 'deny')
    expect(await asked.outcome).toMatchObject({ behavior: 'deny', by: 'server:slack' })
  })

  it('that reach nobody are denied at once, unless one has a prompt of one’s own', async () => {
    const { host, slack, other } = await openHost([agent('kate')])
    slack.deaf = new Error('gone')
    other.facts = { ...other.facts, permissionRelay: false }
    expect(await host.ask(question).outcome).toEqual({ behavior: 'deny', by: null, reason: 'nobody' })
    const local = host.ask({ ...question, local: true })
    await Promise.resolve()
    expect(local.decide('allow')).toBe(true)
    expect(await local.outcome).toEqual({ behavior: 'allow', by: 'local', reason: 'decided' })
  })

  it('end with the host, and when they are withdrawn', async () => {
    const { host } = await openHost([agent('kate')])
    const [one, two] = [host.ask(question), host.ask(question)]
    one.withdraw()
    await host.stop()
    expect(await one.outcome).toMatchObject({ reason: 'withdrawn' })
    expect(await two.outcome).toMatchObject({ behavior: 'deny', reason: 'withdrawn' })
  })
})

describe('sends', () => {
  it('fill the text, keep what is given, and say what the tool said', async () => {
    const { host, slack } = await openHost([agent('kate')])
    slack.answer = {
      isError: true,
      content: [{ type: 'text', text: 'not_in_channel' }],
      structured: { code: 1 },
    }
    expect(await host.send({ server: ' slack ', content: 'hi' })).toEqual({
      server: 'slack',
      tool_name: 'send_message',
      is_error: true,
      content: [{ type: 'text', text: 'not_in_channel' }],
      structured_content: { code: 1 },
    })
    await host.send({ server: 'slack', content: 'hi', arguments: { text: 'own' } })
    await host.send({ server: 'slack', content: 'hi', arguments: { content: 'own' } })
    await host.send({ server: 'slack', arguments: null })
    expect(slack.calls.map(({ input }) => input)).toEqual([
      { text: 'hi' },
      { text: 'own' },
      { content: 'own' },
      {},
    ])
  })

  it('go only to conversations that spoke, or are listed', async () => {
    const { host, slack, configured } = await openHost([agent('kate')])
    const to = (chat_id: string) => host.send({ server: 'slack', content: 'hi', arguments: { chat_id } })
    await expect(to('C1')).rejects.toMatchObject({ code: 'forbidden' })
    slack.say('hello', { chat_id: 'C1' })
    await to('C1')
    await configured(agent('kate', {}, { messaging: { allow: ['slack:C2'] } }))
    await to('C2')
    await expect(to('C3')).rejects.toMatchObject({ code: 'forbidden' })
    expect(slack.calls).toHaveLength(2)
  })

  it('[I8.spoken-last] are never refused to the conversation that just spoke, however many others there are', async () => {
    const { host, slack } = await openHost([agent('kate')])
    slack.say('first', { chat_id: 'old' })
    for (let at = 0; at < 9_999; at++) slack.say('x', { chat_id: `C${at}` })
    const to = (chat_id: string) => host.send({ server: 'slack', content: 'hi', arguments: { chat_id } })
    slack.say('again', { chat_id: 'old' })
    slack.say('new', { chat_id: 'new' })
    for (const spoke of ['new', 'old']) await to(spoke)
    await expect(to('C0')).rejects.toMatchObject({ code: 'forbidden' })
  })

  it('a reply goes to where its message came from', async () => {
    const { messages, slack, clock } = await openHost([agent('kate')])
    slack.say('hello', { room_id: 'R', thread_id: '7' })
    await clock.settle()
    await messages[0]?.reply('hi')
    expect(slack.calls).toEqual([
      { tool: 'send_message', input: { text: 'hi', room_id: 'R', thread_id: '7' } },
    ])
  })

  it("[I14.host-mapping] a reply names its place as the gateway does: by the tool's schema, or as the configuration maps it", async () => {
    const { messages, slack, clock, configured } = await openHost([agent('kate')])
    slack.arguments = ['channel', 'text', 'thread_ts']
    slack.say('hello', { channel_id: 'C1', thread_ts: '1.2' })
    await clock.settle()
    await messages[0]?.reply('hi')
    expect(slack.calls.at(-1)?.input).toEqual({ text: 'hi', channel: 'C1', thread_ts: '1.2' })
    const outbound_arguments = { room: 'target', words: 'body', under: 'thread' } as const
    configured(agent('kate', { approved: [{ server: 'slack', outbound_arguments }] }))
    await messages[0]?.reply('again')
    expect(slack.calls.at(-1)?.input).toEqual({ words: 'again', room: 'C1', under: '1.2' })
  })

  it('[I14.host-mapping] [I35.b18] a place that no argument can name is replied to while it is the only one, then refused', async () => {
    const { messages, slack, clock } = await openHost([agent('kate')])
    slack.arguments = ['text']
    slack.say('hello', { channel_id: 'C1' })
    await clock.settle()
    await messages[0]?.reply('alone')
    expect(slack.calls.splice(0)).toMatchObject([{ input: { text: 'alone' } }])
    slack.say('hello', { channel_id: 'C2' })
    await clock.settle()
    await expect(messages[0]?.reply('hi')).rejects.toMatchObject({
      code: 'platform_rejected',
      message: expect.stringContaining('has no argument that can name "C1"'),
    })
    expect(slack.calls).toEqual([])
  })

  it('are refused in the words of the seed', async () => {
    const { host, slack } = await openHost([agent('kate')])
    const words = (order: object) => host.send(order as never).catch((thrown: Error) => thrown.message)
    expect(await words({ server: '  ' })).toBe("channel_send: 'server' must be a non-empty string")
    expect(await words({ server: 'nobody' })).toBe(
      "channel_send: server 'nobody' is not registered for binding 'telegram:kate_tg' (run channel_list to see what's available)",
    )
    expect(await words({ server: 'slack', arguments: [] })).toBe(
      "channel_send: 'arguments' must be an object",
    )
    expect(await words({ server: 'slack', content: 'x'.repeat(65_537) })).toBe(
      "channel_send: 'content' exceeds 65536 bytes",
    )
    slack.tools = ['post']
    expect(await words({ server: 'slack', content: 'x' })).toContain(
      'has no tool "send_message" (outbound_tool_name); it offers: post',
    )
    slack.facts = { ...slack.facts, state: 'down' }
    expect(await words({ server: 'slack', content: 'x' })).toContain('is not registered')
  })
})

describe('list and status', () => {
  it('show what is registered for the agent, and why the rest is not', async () => {
    const { host, slack, clock, configured } = await openHost([agent('kate')])
    slack.facts = { ...slack.facts, stamp: { source: 'slack@anthropic', verified: false } }
    expect(host.list()).toEqual({
      binding_id: 'telegram:kate_tg',
      count: 2,
      servers: [
        { server_name: 'slack', plugin_source: 'slack@anthropic', permission_relay: true },
        { server_name: 'other', plugin_source: null, permission_relay: true },
      ],
    })
    const registered = host.status('slack')
    expect(registered).toMatchObject({
      registered: true,
      outbound_tool_name: 'send_message',
      plugin_source_verified: false,
      registered_at_ms: clock.now(),
    })
    await clock.advance(1_000)
    expect(host.status('slack')).toEqual(registered)
    expect(host.status()).toMatchObject({ count: 2 })
    expect(host.status('unknown')).toEqual({
      binding_id: 'telegram:kate_tg',
      server_name: 'unknown',
      registered: false,
      detail: 'it is not configured',
    })
    expect(() => host.status('')).toThrow("'server' must be non-empty")
    await configured(agent('kate', { approved: [{ server: 'other' }] }))
    expect(host.status('slack')).toMatchObject({ registered: false, skip: { kind: 'allowlist' } })
    slack.facts = { ...slack.facts, state: 'down', detail: 'it ended', prefix: null }
    expect(host.status('slack')).toMatchObject({ registered: false, detail: 'it ended' })
    await configured(agent('kate'), agent('bob', {}, { inbound_bindings: [] }))
    expect(() => host.list()).toThrow('say which agent')
    expect(() => host.list('eve')).toThrow('there is no agent "eve"')
    expect(host.list('bob')).toEqual({ binding_id: 'bob', count: 0, servers: [] })
  })
})
