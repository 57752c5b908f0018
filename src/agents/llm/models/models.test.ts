// Both wires against the fake API: the requests, the parsed answers, and the error of every fault.
import { describe, expect, it } from 'vitest'
import { createFakeLlm, type FakeReply, type FakeScript } from '../../../testing/llm/fake-llm.ts'
import { createTestClock } from '../../../testing/test-clock.ts'
import { createAnthropicModel } from './anthropic.ts'
import type { Message, ModelRequest } from './model.ts'
import { createOpenAiModel } from './openai.ts'

const KEY = 'sk-planted-4711-very-secret'
const TOOL = { name: 'look', description: 'Looks.', schema: { type: 'object', properties: {} } }

async function opened(wire: 'anthropic' | 'openai', script: FakeScript | FakeReply, key = KEY) {
  const fake = createFakeLlm({
    key: KEY,
    models: ['m1'],
    script: typeof script === 'function' ? script : () => script,
  })
  const clock = createTestClock()
  const base = { apiKey: key, baseUrl: 'http://127.0.0.1:9/v1', fetch: fake.fetch, clock }
  const model =
    wire === 'anthropic'
      ? await createAnthropicModel(base)
      : await createOpenAiModel({ ...base, compatible: false })
  const texts: string[] = []
  const ask = (more: Partial<ModelRequest> = {}) =>
    model.ask({
      ...{
        model: 'm1',
        system: 'Be brief.',
        tools: [TOOL],
        maxTokens: 100,
        signal: new AbortController().signal,
      },
      messages: [{ role: 'user', text: 'hi' }],
      onText: (text) => texts.push(text),
      ...more,
    })
  return { fake, ask, texts }
}

const failure = async (work: Promise<unknown>) =>
  work.then(
    () => {
      throw new Error('it did not fail')
    },
    (thrown) => thrown,
  )

describe.each(['anthropic', 'openai'] as const)('%s', (wire) => {
  const id = wire === 'anthropic' ? 'I16.wire-anthropic' : 'I16.wire-openai'

  it(`[${id}] [I16.streaming] text comes as it is written, whole each time, and tokens are counted`, async () => {
    const { ask, texts } = await opened(wire, {
      text: 'Hello!',
      usage: { input: 7, output: 3, cacheRead: 5 },
    })
    const reply = await ask()
    expect(reply).toMatchObject({ text: 'Hello!', calls: [], stop: 'end' })
    expect(reply.usage).toMatchObject({ input: 12, output: 3, cacheRead: 5 })
    expect(texts).toEqual(['Hel', 'Hello!'])
  })

  it(`[${id}] calls are gathered whole, and go back with every result`, async () => {
    const { ask, fake } = await opened(wire, (_, at) =>
      at === 0
        ? {
            text: 'Let me see.',
            thinking: 'hm',
            calls: [
              { name: 'look', input: { at: 'it' } },
              { name: 'look', input: '' },
            ],
          }
        : { text: 'Done' },
    )
    const first = await ask()
    expect(first.calls.map(({ name, arguments: given }) => [name, given])).toEqual([
      ['look', '{"at":"it"}'],
      ['look', ''],
    ])
    const results = first.calls.map(({ id: call, name }) => ({
      id: call,
      name,
      text: `r ${call}`,
      isError: false,
    }))
    const messages: Message[] = [
      { role: 'user', text: 'hi' },
      { role: 'assistant', text: first.text, calls: first.calls, ...(first.raw ? { raw: first.raw } : {}) },
      { role: 'tool', results },
    ]
    expect((await ask({ messages })).text).toBe('Done')
    const sent = fake.requests[1]?.body.messages as {
      role: string
      content: unknown
      tool_calls?: unknown[]
    }[]
    if (wire === 'anthropic') {
      expect(sent.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
      expect(sent[1]?.content).toMatchObject([
        { type: 'thinking', thinking: 'hm', signature: 'sig-1' },
        { type: 'text', text: 'Let me see.' },
        { type: 'tool_use', input: { at: 'it' } },
        { type: 'tool_use', input: {} },
      ])
      expect(sent[2]?.content).toMatchObject([
        { type: 'tool_result' },
        { type: 'tool_result', cache_control: { type: 'ephemeral' } },
      ])
      expect(fake.requests[1]?.body).toMatchObject({
        system: [{ cache_control: { type: 'ephemeral' } }],
        tools: [{ cache_control: { type: 'ephemeral' } }],
      })
    } else {
      expect(sent.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'tool'])
      expect(sent[2]?.tool_calls).toMatchObject([
        { id: first.calls[0]?.id, function: { name: 'look', arguments: '{"at":"it"}' } },
        { function: { arguments: '{}' } },
      ])
    }
  })

  it.each([
    [{ status: 429, headers: { 'retry-after': '7' } }, 'rate_limited', 7_000],
    [{ status: 529, error: { type: 'overloaded_error' } }, 'platform_unavailable', undefined],
    [{ status: 500 }, 'platform_unavailable', undefined],
    [{ status: 503, headers: { 'retry-after-ms': '1500' } }, 'agent_unreachable', 1_500],
    [{ status: 502 }, 'agent_unreachable', undefined],
    [{ raw: ['data: {"id":', ''] }, 'agent_failed', undefined],
    [{ raw: ['<!doctype html><title>Sign in</title>', ''] }, 'agent_failed', undefined],
    [{ status: 402 }, 'agent_failed', undefined],
    [{ status: 400, error: { message: 'bad field' } }, 'agent_failed', undefined],
    [{ text: 'Hello!', cutAfter: 3 }, 'platform_unavailable', undefined],
    [
      { errorInStream: { type: 'overloaded_error', message: 'Overloaded' } },
      'platform_unavailable',
      undefined,
    ],
  ] as const)(`[${id}] [I16.retries] %j becomes %s`, async (reply, code, retryAfterMs) => {
    const { ask } = await opened(wire, reply as FakeReply)
    const error = await failure(ask())
    expect(error).toMatchObject({ code })
    expect(error.retryAfterMs).toBe(retryAfterMs)
  })

  it.each([
    ['data: {"id":', ''],
    ['<html>Sign in</html>', ''],
    ['event: message_start\ndata: {"id": nonsense\n\n', ''],
    ['event: message_start\ndata: null\n\n', ''],
    [
      'event: content_block_start\ndata: {"type":"content_block_start","choices":[{"delta":{"tool_calls":[null]}}]}\n\n',
      '',
    ],
  ])(
    `[${id}] [I35.b45-malformed-stream] %j is told as not understood, with where to look, and not as unreachable`,
    async (...raw) => {
      const { ask } = await opened(wire, { raw } as FakeReply)
      const error = await failure(ask())
      expect(error).toMatchObject({
        code: 'agent_failed',
        message: expect.stringContaining('is not understood'),
      })
      expect(error.hint).toContain('base_url')
    },
  )

  it(`[${id}] [I35.b45-malformed-stream] an answer that breaks off is told as that`, async () => {
    const { ask } = await opened(wire, { text: 'Hello!', cutAfter: 3 })
    expect((await failure(ask())).message).toMatch(/broke off/)
  })

  it(`[${id}] [I16.llm-options] a wrong key and an unknown model are said, and the key by nobody`, async () => {
    const wrong = await opened(wire, { text: 'x' }, 'sk-wrong-0815-also-secret')
    const refused = await failure(wrong.ask())
    expect(refused).toMatchObject({
      code: 'agent_failed',
      message: expect.stringContaining('refused the key'),
    })
    expect(String(refused.stack) + JSON.stringify(refused)).not.toMatch(/0815|4711/)
    const { ask } = await opened(wire, { text: 'x' })
    expect(await failure(ask({ model: 'm9' }))).toMatchObject({
      message: expect.stringContaining('no model "m9"'),
    })
  })

  it(`[${id}] [I16.too-long] a context that is too long is told as such, however it is said`, async () => {
    const error = {
      type: 'invalid_request_error',
      message: 'prompt is too long: 213462 tokens > 200000 maximum',
    }
    const { ask } = await opened(wire, { status: 400, error })
    expect(await ask()).toMatchObject({ stop: 'overflow' })
  })

  it(`[${id}] [I16.refusal] a refusal and a cut answer are known for what they are`, async () => {
    expect(await (await opened(wire, { text: '', stop: 'refusal' })).ask()).toMatchObject({ stop: 'refusal' })
    expect(await (await opened(wire, { text: 'Hel', stop: 'length' })).ask()).toMatchObject({
      stop: 'length',
      text: 'Hel',
    })
  })

  it(`[${id}] [I16.files] a picture goes along`, async () => {
    const { ask, fake } = await opened(wire, { text: 'a cat' })
    await ask({
      messages: [
        { role: 'user', text: 'what?', files: [{ mime: 'image/png', name: 'c.png', base64: 'QUJD' }] },
      ],
    })
    expect(JSON.stringify(fake.requests[0]?.body.messages)).toContain(
      wire === 'anthropic' ? '"data":"QUJD"' : 'data:image/png;base64,QUJD',
    )
  })

  it(`[${id}] an abort ends it at once`, async () => {
    const abort = new AbortController()
    const { ask } = await opened(wire, { text: 'x', before: () => new Promise(() => undefined) })
    const asking = failure(ask({ signal: abort.signal }))
    abort.abort()
    await asking
    expect(abort.signal.aborted).toBe(true)
  })
})

it('[I16.wire-openai] [I16.retries] an empty purse is not tried again', async () => {
  const { ask } = await opened('openai', { status: 429, error: { code: 'insufficient_quota' } })
  expect(await failure(ask())).toMatchObject({
    code: 'agent_failed',
    message: expect.stringContaining('no credit'),
  })
})

describe('what compatible servers do', () => {
  const chunk = (delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
  const call = (part: object) => chunk({ tool_calls: [part] })
  const end = [chunk({}, 'stop'), 'data: [DONE]\n\n']
  const calls = async (...raw: string[]) => {
    const { ask } = await opened('openai', { raw: [...raw, ...end] })
    return (await ask()).calls.map(({ name, arguments: given }) => [name, given])
  }

  it('[I16.wire-openai] calls count though the end says stop, with and without an index, by id or by name', async () => {
    const a = { id: 'a', function: { name: 'look', arguments: '{"n":1}' } }
    const b = { id: 'b', function: { name: 'look', arguments: '{"n":2}' } }
    const both = [
      ['look', '{"n":1}'],
      ['look', '{"n":2}'],
    ]
    expect(await calls(call(a), call(b))).toEqual(both)
    expect(await calls(call({ index: 0, ...a }), call({ index: 0, ...b }))).toEqual(both)
    expect(
      await calls(
        call({ index: 0, id: 'a', function: { name: 'look', arguments: '{"n"' } }),
        call({ index: 0, id: '', function: { name: '', arguments: ':1}' } }),
        call({ index: 0, id: 'b', function: { name: 'look', arguments: '{"n":2}' } }),
      ),
    ).toEqual(both)
  })

  it('[I16.wire-openai] a name that comes twice is one, arguments may be an object, and no id becomes one of its own', async () => {
    expect(
      await calls(
        call({ index: 0, function: { name: 'look', arguments: '' } }),
        call({ index: 0, function: { name: 'look', arguments: { n: 1 } } }),
      ),
    ).toEqual([['look', '{"n":1}']])
    const { ask } = await opened('openai', {
      raw: [call({ function: { name: 'look', arguments: '{}' } }), ...end],
    })
    const used: Message[] = [
      { role: 'user', text: 'hi' },
      { role: 'assistant', text: '', calls: [{ id: 'call_1_0', name: 'look', arguments: '{}' }] },
      { role: 'tool', results: [{ id: 'call_1_0', name: 'look', text: 'x', isError: false }] },
    ]
    const first = await ask()
    const second = await ask({ messages: used })
    expect(first.calls[0]?.id).not.toBe('')
    expect(second.calls[0]?.id).not.toBe('call_1_0')
  })

  it('[I16.wire-openai] unknown fields of a call go back with it, and a stream without an end is no answer', async () => {
    const extra = { google: { thought_signature: 'keep me' } }
    const { ask } = await opened('openai', {
      raw: [call({ id: 'a', extra_content: extra, function: { name: 'look', arguments: '{}' } }), ...end],
    })
    expect((await ask()).raw?.content).toMatchObject([{ id: 'a', extra_content: extra }])
    const endless = await opened('openai', { raw: [chunk({ content: 'Hel' })] })
    expect(await failure(endless.ask())).toMatchObject({ code: 'platform_unavailable' })
  })
})
