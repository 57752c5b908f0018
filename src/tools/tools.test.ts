// The tools as data: their schemas, the reading of arguments, and the result of a call in all cases.
import { describe, expect, it } from 'vitest'
import { defined, FILE_IN_REPLY, OWN_READS, SwitchboardError, type ToolCaller } from '../contract/index.ts'
import { createRecordingLog } from '../testing/recording-log.ts'
import { type Answers, createRecordingActions, done } from './fixtures/recording-actions.ts'
import { callTool, createAbsentActions, inputSchemaOf, sessionSchemaOf, TOOLS, toolByName } from './index.ts'
import { toolsReference } from './reference.ts'

const CALLER: ToolCaller = { agent: 'kate', session: null, user: 'ann', turn: null, idempotencyKey: null }

async function call(name: string, input: unknown, answers: Answers = {}) {
  const tool = toolByName(name)
  if (tool === undefined) throw new Error(`no tool ${name}`)
  const { actions, asked } = createRecordingActions(answers)
  const log = createRecordingLog()
  const outcome = await callTool(tool, { actions, caller: CALLER, input, log })
  return { outcome, asked, log, input: asked[0]?.input }
}

const GOOD: Readonly<Record<string, readonly [input: Record<string, unknown>, verb: string, told: unknown]>> =
  {
    send_message: [
      { platform: 'slack', target: 'C0123ABC', body: 'build green ✓', thread: '17.1', integration: 'ops' },
      'sendMessage',
      { platform: 'slack', target: 'C0123ABC', body: 'build green ✓', thread: '17.1', integration: 'ops' },
    ],
    handoff: [
      { chat_id: 'chat:ann', reason: 'She asks for a refund.', summary: 'Order 7, twice paid.' },
      'handoff',
      { chatId: 'chat:ann', reason: 'She asks for a refund.', summary: 'Order 7, twice paid.' },
    ],
    notify_user: [
      {
        message: 'Your statement is due in 5 days. $267 minimum.',
        channel: 'telegram:int_gXuDla4UZipcm2tg3McPX',
        urgency: 'normal',
        claim_thread: true,
        claim_thread_label: 'cc-payment',
      },
      'notifyUser',
      {
        message: 'Your statement is due in 5 days. $267 minimum.',
        channel: 'telegram:int_gXuDla4UZipcm2tg3McPX',
        urgency: 'normal',
        claimThread: true,
        claimThreadLabel: 'cc-payment',
      },
    ],
    reply: [
      { chat_id: 'tg:1', text: 'hi', reply_to: '7', files: ['/tmp/a.png'] },
      'reply',
      { chatId: 'tg:1', text: 'hi', replyTo: '7', files: ['/tmp/a.png'] },
    ],
    channel_list: [{}, 'channelList', undefined],
    channel_status: [{ server: 'slack' }, 'channelStatus', { server: 'slack' }],
    service_tools: [{ chat_id: 'miriad:c1' }, 'serviceTools', { chatId: 'miriad:c1' }],
    call_service_tool: [
      { chat_id: 'miriad:c1', name: 'miriad__read', arguments: { slug: 'x' } },
      'callServiceTool',
      { chatId: 'miriad:c1', name: 'miriad__read', arguments: { slug: 'x' } },
    ],
    channel_send: [
      { server: 'slack', content: 'hi', arguments: { channel: 'C1', blocks: [{ type: 'divider' }] } },
      'channelSend',
      { server: 'slack', content: 'hi', arguments: { channel: 'C1', blocks: [{ type: 'divider' }] } },
    ],
    react: [
      { chat_id: 'tg:1', message_id: '7', emoji: '👍' },
      'react',
      { chatId: 'tg:1', messageId: '7', emoji: '👍' },
    ],
    edit_message: [
      { chat_id: 'tg:1', message_id: '7', text: 'new' },
      'editMessage',
      { chatId: 'tg:1', messageId: '7', text: 'new' },
    ],
    download_attachment: [
      { chat_id: 'tg:1', message_id: '7' },
      'downloadAttachment',
      { chatId: 'tg:1', messageId: '7' },
    ],
    fetch_messages: [{ channel: 'tg:1' }, 'fetchMessages', { chatId: 'tg:1', limit: 20 }],
    get_roster: [{ chat_id: 'tg:1' }, 'getRoster', { chatId: 'tg:1' }],
    ack: [{ message_id: '7' }, 'ack', { messageId: '7' }],
    pending_messages: [{}, 'pendingMessages', undefined],
  }

describe('the words of channel_send and channel_status', () => {
  it.each([
    ['channel_send', {}, "channel_send: 'server' must be a non-empty string"],
    ['channel_send', { server: ' ' }, "channel_send: 'server' must be a non-empty string"],
    ['channel_send', { server: 7 }, "channel_send: 'server' must be a non-empty string"],
    ['channel_send', { server: 's', arguments: [] }, "channel_send: 'arguments' must be an object"],
    ['channel_send', { server: 's', arguments: 'x' }, "channel_send: 'arguments' must be an object"],
    ['channel_send', { server: 's', content: 1 }, "channel_send: 'content' must be a string"],
    ['channel_status', { server: '' }, "channel_status: 'server' must be non-empty"],
  ])(
    '[F7.tool-server-empty] [F7.tool-args-object] [F7.tool-status-empty] %s %j: %s',
    async (name, input, text) => {
      const { outcome, asked } = await call(name, input)
      expect(outcome).toMatchObject({ isError: true, text, structured: { code: 'input_invalid' } })
      expect(asked).toEqual([])
    },
  )

  it('null arguments are none', async () => {
    expect((await call('channel_send', { server: 's', content: 'x', arguments: null })).input).toEqual({
      server: 's',
      content: 'x',
    })
  })
})

describe('the surface', () => {
  it('has each tool once, described, with a schema of an object', () => {
    expect(TOOLS.map(({ name }) => name).sort()).toEqual(Object.keys(GOOD).sort())
    for (const tool of TOOLS) {
      const schema = inputSchemaOf(tool)
      expect(schema.type).toBe('object')
      expect(schema).not.toHaveProperty('$schema')
      expect(schema).not.toHaveProperty('additionalProperties')
      expect(tool.description.length).toBeGreaterThan(40)
      expect(tool.alwaysLoad).toBe(tool.name === 'reply')
    }
    expect(toolByName('nothing')).toBeUndefined()
  })

  it('[I9.tools-suffice] who speaks for one session need not say where, and the schema says so', async () => {
    const caller = { ...CALLER, session: 's1' }
    for (const name of [
      'reply',
      'react',
      'edit_message',
      'download_attachment',
      'fetch_messages',
      'get_roster',
      'handoff',
    ]) {
      const tool = toolByName(name) ?? fail()
      const { chat_id: _, channel: __, ...rest } = GOOD[name]?.[0] ?? {}
      const { actions, asked } = createRecordingActions()
      await callTool(tool, { actions, caller, input: rest, log: createRecordingLog() })
      expect(asked, name).toMatchObject([{ input: { chatId: 's1' } }])
      const at = tool.chat ?? ''
      const schema = sessionSchemaOf(tool) as unknown as {
        required: string[]
        properties: Record<string, { type: string; description: string }>
      }
      expect(schema.required).not.toContain(at)
      expect(schema.properties[at]).toMatchObject({
        type: 'string',
        description: expect.stringMatching(/leave it out/i),
      })
    }
    expect(sessionSchemaOf(toolByName('ack') ?? fail())).toEqual(inputSchemaOf(toolByName('ack') ?? fail()))
  })

  for (const [name, [input, verb, told]] of Object.entries(GOOD)) {
    it(`${name} hands its arguments to the actions`, async () => {
      const { asked, outcome } = await call(name, input)
      expect(asked).toEqual([{ verb, caller: CALLER, input: told }])
      expect(outcome).toEqual(done(`${verb} done`))
    })

    it(`${name} overlooks arguments that it does not know, and nulls`, async () => {
      const { asked } = await call(name, { ...input, session_id: 'other', agent: 'bob', nothing: null })
      expect(asked).toEqual([{ verb, caller: CALLER, input: told }])
    })
  }

  it('send_message has the fields of the seed, and any platform may be named', () => {
    const schema = inputSchemaOf(toolByName('send_message') ?? fail())
    expect(schema.required).toEqual(['platform', 'target', 'body'])
    const properties = schema.properties as Record<string, { type: string; enum?: unknown }>
    const { template, ...seed } = properties
    expect(template?.type).toBe('object')
    expect(Object.keys(seed)).toEqual(['platform', 'target', 'body', 'thread', 'integration'])
    for (const one of Object.values(seed)) {
      expect(one.type).toBe('string')
      expect(one.enum).toBeUndefined()
    }
    expect(toolByName('send_message')?.maxResultChars).toBe(1024)
  })

  it('notify_user has the fields of the seed; channel has no enum, and every type may be one', () => {
    const tool = toolByName('notify_user') ?? fail()
    const schema = inputSchemaOf(tool)
    expect(schema.required).toEqual(['message'])
    const properties = schema.properties as Record<string, { type: string; enum?: unknown }>
    expect(Object.entries(properties).map(([field, { type }]) => `${field}: ${type}`)).toEqual([
      'message: string',
      'channel: string',
      'urgency: string',
      'claim_thread: boolean',
      'claim_thread_label: string',
    ])
    expect(properties.channel?.enum).toBeUndefined()
    expect(properties.urgency?.enum).toEqual(['low', 'normal', 'high'])
    expect(tool.description).toContain('<type>:<integration_id>')
  })

  it('is told whole in the reference', () => {
    const page = toolsReference()
    for (const { name } of TOOLS) expect(page).toContain(`## ${name}\n`)
    expect(page).toContain('| `limit` | integer 1–100, default 20 | no | How many. |')
    expect(page).not.toMatch(/(?<!\\)<type>/)
  })
})

function fail(): never {
  throw new Error('no such tool')
}

describe('bad arguments', () => {
  it.each([
    [{}],
    [{ platform: 'slack', target: 'C1' }],
    [{ platform: 'slack', body: 'x' }],
    [{ target: 'C1', body: 'x' }],
    [{ platform: '', target: 'C1', body: 'x' }],
    [{ platform: 'slack', target: 'C1', body: null }],
    [undefined],
  ])('[F7.send-missing-field] [S16.tool-is-error] send_message %j lacks what is required', async (input) => {
    const { outcome, asked } = await call('send_message', input)
    const error = 'platform, target, and body are required'
    expect(outcome).toEqual({
      text: error,
      isError: true,
      structured: { ok: false, status: 'failed', code: 'input_invalid', error },
    })
    expect(asked).toEqual([])
  })

  it.each([
    ['send_message', { platform: 'slack', target: 5, body: 'x' }, 'target must be a string'],
    ['send_message', { platform: 'slack', target: 'C', body: 'x', thread: 1 }, 'thread must be a string'],
    ['send_message', { platform: 'slack', target: 'C', body: 'x', thread: '' }, 'thread must not be empty'],
    ['send_message', [1], 'the arguments must be an object'],
    ['send_message', 'x', 'the arguments must be an object'],
    ['notify_user', {}, 'Missing required parameter: message'],
    ['notify_user', { message: '' }, 'Missing required parameter: message'],
    ['notify_user', { message: null }, 'Missing required parameter: message'],
    ['notify_user', { message: 5 }, 'message must be a string'],
    ['notify_user', { message: 'x', urgency: 'loud' }, 'urgency must be one of low, normal, high'],
    ['notify_user', { message: 'x', channel: {} }, 'channel must be a string'],
    ['reply', { text: 'x' }, 'chat_id is required'],
    ['reply', {}, 'chat_id is required; text is required'],
    ['reply', { chat_id: 'a:b', text: 'x', files: '/etc/passwd' }, 'files must be an array'],
    ['reply', { chat_id: 'a:b', text: 'x', files: [1] }, 'files.0 must be a string'],
    ['react', { chat_id: 'a:b', message_id: '1' }, 'emoji is required'],
    ['fetch_messages', {}, 'channel is required'],
    ['fetch_messages', { channel: 'a:b', limit: 1.5 }, 'limit must be a whole number'],
    ['ack', {}, 'message_id is required'],
  ])('[S16.tool-is-error] %s %j: %s', async (name, input, error) => {
    const { outcome, asked, log } = await call(name, input)
    expect(outcome.isError).toBe(true)
    expect(outcome.text).toBe(error)
    expect(outcome.structured).toEqual({ ok: false, status: 'failed', code: 'input_invalid', error })
    expect(asked).toEqual([])
    expect(log.lines).toEqual([])
  })

  it.each([
    ['true', undefined],
    [1, undefined],
    [false, undefined],
    [true, true],
  ])('claim_thread %j counts only if it is true itself', async (claim_thread, claimThread) => {
    const { input } = await call('notify_user', { message: 'x', claim_thread, claim_thread_label: 7 })
    expect(input).toEqual({ message: 'x', ...defined({ claimThread }) })
  })

  it('fetch_messages takes chat_id too, and at most what there can be', async () => {
    const { input } = await call('fetch_messages', { chat_id: 'a:b', limit: 500 })
    expect(input).toEqual({ chatId: 'a:b', limit: 100 })
  })
})

describe('what a call gives back', () => {
  const input = { platform: 'slack', target: 'C1', body: 'x' }

  it('without a daemon: the seed says so for send_message, and no other tool pretends', async () => {
    const actions = createAbsentActions()
    const error = 'Gateway not active — send_message requires gateway mode'
    expect(await actions.sendMessage(CALLER, input)).toEqual({
      text: error,
      isError: true,
      structured: { ok: false, status: 'failed', code: 'execution_failed', error },
    })
    for (const [name, [args]] of Object.entries(GOOD)) {
      const tool = toolByName(name) ?? fail()
      const outcome = await callTool(tool, {
        actions,
        caller: CALLER,
        input: args,
        log: createRecordingLog(),
      })
      expect(outcome.isError).toBe(true)
      expect(outcome.text).toContain('Gateway not active')
    }
  })

  it('[F7.send-1024] at most 1024 characters, never half of one', async () => {
    const error = `Adapter send failed: ${'😀'.repeat(2000)}`
    const { outcome } = await call('send_message', input, {
      sendMessage: () => ({ text: error, isError: true, structured: { ok: false, code: 'x', error } }),
    })
    expect(outcome.text.length).toBeLessThanOrEqual(1024)
    expect(outcome.text).toMatch(/😀…$/u)
    expect(outcome.structured.error).toBe(outcome.text)
    const exact = await call('send_message', input, { sendMessage: () => done('y'.repeat(1024)) })
    expect(exact.outcome.text).toBe('y'.repeat(1024))
  })

  it('[S16.tool-is-error] an error of ours as its code and text', async () => {
    const { outcome, log } = await call('send_message', input, {
      sendMessage: () => {
        throw new SwitchboardError('rate_limited', 'too many for this recipient', {
          hint: 'wait',
          retryAfterMs: 5_000,
        })
      },
    })
    expect(outcome).toEqual({
      text: 'too many for this recipient',
      isError: true,
      structured: {
        ok: false,
        status: 'failed',
        code: 'rate_limited',
        error: 'too many for this recipient',
        hint: 'wait',
        retry_after_ms: 5_000,
      },
    })
    expect(log.lines).toEqual([])
  })

  it('[I35.b46-notify] notify_user fails with the reason and nothing before it, as the seed says', async () => {
    const text = 'no channel "slack" is configured'
    const told = { text, isError: true, structured: { ok: false } }
    const refused = await call('notify_user', { message: 'x' }, { notifyUser: () => told })
    expect(refused.outcome.text).toBe(text)
    const thrown = await call(
      'notify_user',
      { message: 'x' },
      {
        notifyUser: () => {
          throw new SwitchboardError('not_found', text, { retryAfterMs: 1, hint: 'h' })
        },
      },
    )
    expect(thrown.outcome).toMatchObject({
      text,
      structured: { code: 'not_found', retry_after_ms: 1, hint: 'h' },
    })
  })

  it('a bug as `internal`, with its story in the log alone', async () => {
    const { outcome, log } = await call('send_message', input, {
      sendMessage: () => {
        throw new Error('ECONNREFUSED at hush-hush')
      },
    })
    expect(outcome).toMatchObject({ isError: true, structured: { ok: false, code: 'internal' } })
    expect(JSON.stringify(outcome)).not.toContain('hush')
    expect(log.lines).toHaveLength(1)
  })
})

it('[I35.b46-trust] what trust takes for our reads is what the tools say of themselves', () => {
  const reads = TOOLS.filter(({ readOnly }) => readOnly).map(({ name }) => name)
  // It stores a file for the reader, and changes nothing that others see.
  expect([...reads, 'download_attachment', 'fs/read_text_file', FILE_IN_REPLY].sort()).toEqual(
    [...OWN_READS].sort(),
  )
})
