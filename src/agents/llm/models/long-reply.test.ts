// Replies over the limit of an answer, on both wires: the work is linear, and the unused rest is not waited for.
import { afterEach, describe, expect, it, vi } from 'vitest'
import { cutAnswer, MOST_ANSWER_CHARS } from '../../../contract/index.ts'
import type { StreamingFetch } from '../../../kit/index.ts'
import { createTestClock } from '../../../testing/test-clock.ts'
import { createAnthropicModel } from './anthropic.ts'
import { createOpenAiModel } from './openai.ts'

type Wire = 'anthropic' | 'openai'

const START = {
  anthropic: [
    {
      type: 'message_start',
      message: { role: 'assistant', content: [], usage: { input_tokens: 5, output_tokens: 1 } },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  ],
  openai: [],
}
const delta = (wire: Wire, text: string) =>
  wire === 'anthropic'
    ? { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }
    : { choices: [{ index: 0, delta: { content: text }, finish_reason: null }] }
const call = (wire: Wire, text: string) =>
  wire === 'anthropic'
    ? { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: text } }
    : {
        choices: [
          {
            index: 0,
            delta: { tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: text } }] },
          },
        ],
      }

/** Answers with these events, and then with `piece` without end, or a hundred times followed by `ending`. */
async function opened(wire: Wire, piece: object, ending: readonly object[] | null = null) {
  const sent = { pieces: 0, ended: false }
  const bytes = (event: { readonly type?: string }) =>
    Buffer.from(
      `${event.type === undefined ? '' : `event: ${event.type}\n`}data: ${JSON.stringify(event)}\n\n`,
    )
  const many = Buffer.concat(Array.from({ length: 100 }, () => bytes(piece)))
  const body = new ReadableStream({
    start(stream) {
      for (const event of START[wire]) stream.enqueue(bytes(event))
    },
    pull(stream) {
      sent.pieces += 100
      stream.enqueue(many)
      if (ending === null) return
      for (const event of ending) stream.enqueue(bytes(event))
      stream.close()
    },
    cancel() {
      sent.ended = true
    },
  })
  const headers = { 'content-type': 'text/event-stream' }
  const fetch = (async () => new Response(body, { headers })) as unknown as StreamingFetch
  const base = { apiKey: 'k', baseUrl: 'http://127.0.0.1:9/v1', fetch, clock: createTestClock() }
  const model =
    wire === 'anthropic'
      ? await createAnthropicModel(base)
      : await createOpenAiModel({ ...base, compatible: false })
  const shown: number[] = []
  const ask = () =>
    model.ask({
      ...{ model: 'm', system: '', messages: [{ role: 'user', text: 'hi' }], tools: [], maxTokens: 9 },
      signal: new AbortController().signal,
      onText: (text) => shown.push(text.length),
    })
  return { ask, sent, shown }
}

/** Counts the characters that methods of strings have searched. */
function lookedThrough() {
  let chars = 0
  for (const name of ['trim', 'trimStart', 'trimEnd', 'includes', 'search', 'match', 'replace'] as const) {
    const original = String.prototype[name] as (...given: unknown[]) => unknown
    vi.spyOn(String.prototype, name).mockImplementation(function (this: string, ...given: unknown[]) {
      chars += this.length
      return original.apply(this, given)
    } as never)
  }
  return () => chars
}
afterEach(() => void vi.restoreAllMocks())

describe.each(['anthropic', 'openai'] as const)('%s', (wire) => {
  it('[I35.b7] a piece costs what it is long, however much came before it', async () => {
    const { ask, shown } = await opened(wire, delta(wire, 'ten chars '))
    const chars = lookedThrough()
    expect((await ask()).stop).toBe('long')
    expect(shown.length).toBeGreaterThan(9_000)
    // Searching the whole text for each piece would be 500 million.
    expect(chars()).toBeLessThan(20_000_000)
  })

  it('[I35.b7] a text without end is taken up to the limit, and the stream is ended', async () => {
    const { ask, sent } = await opened(wire, delta(wire, 'word '))
    const reply = await ask()
    expect(reply).toMatchObject({ stop: 'long', calls: [] })
    expect(reply.text).toHaveLength(MOST_ANSWER_CHARS + 1)
    expect(reply.usage.output).toBeGreaterThan(1_000)
    expect(sent.pieces).toBeLessThan(MOST_ANSWER_CHARS / 5 + 2_000)
    await expect.poll(() => sent.ended).toBe(true)
  })

  it('[I35.b7] spaces without end are never shown, and arguments of a call without end are no call', async () => {
    const spaces = await opened(wire, delta(wire, ' \n'))
    expect((await spaces.ask()).stop).toBe('long')
    expect(spaces.shown).toEqual([])
    const calls = await opened(wire, call(wire, 'x'.repeat(1_000)))
    expect(await calls.ask()).toMatchObject({ stop: 'long', calls: [], text: '' })
    expect(calls.sent.pieces).toBeLessThan(4_000)
  })
})

it('[I35.b7] a block of any number is read, and a large one makes no long list', async () => {
  const index = 2 ** 40
  const at = (event: object) => ({ index, ...event })
  const { ask } = await opened(
    'anthropic',
    at({ type: 'content_block_start', content_block: { type: 'text', text: '' } }),
    [
      at({ type: 'content_block_delta', delta: { type: 'text_delta', text: 'hello' } }),
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
      { type: 'message_stop' },
    ],
  )
  expect(await ask()).toMatchObject({ text: 'hello', raw: { content: [{ type: 'text', text: 'hello' }] } })
})

describe('a refusal', () => {
  const refusal = { choices: [{ index: 0, delta: { refusal: 'I will not do that. ' }, finish_reason: null }] }

  it('[I35.b7-long-refusal] longer than is kept, it is one with its words, and its tokens are a number', async () => {
    const usage = { choices: [], usage: { prompt_tokens: 3, completion_tokens: 500 } }
    const end = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
    const long = { choices: [{ index: 0, delta: { refusal: `${'No. '.repeat(200)}` }, finish_reason: null }] }
    const reply = await (await opened('openai', long, [end, usage])).ask()
    expect(reply).toMatchObject({ stop: 'refusal', usage: { input: 3, output: 500 } })
    expect(reply.text).toBe('No. '.repeat(2_500))
  })

  it('[I35.b7-long-refusal] without an end it is left, with its words and what it cost', async () => {
    const { ask, sent } = await opened('openai', refusal)
    const reply = await ask()
    expect(reply.stop).toBe('refusal')
    expect(reply.text).toHaveLength(10_000)
    expect(reply.usage.output).toBeGreaterThan(100_000)
    expect(reply.usage.output).toBeLessThan(1_000_000)
    await expect.poll(() => sent.ended).toBe(true)
  })
})

it('[I35.b7] a cut answer says so, is no longer than the limit and is cut once', () => {
  const cut = cutAnswer('x'.repeat(MOST_ANSWER_CHARS + 1))
  expect(cut).toHaveLength(MOST_ANSWER_CHARS)
  expect(cut).toMatch(/x …\n\n\(cut: the answer was longer than 100000 characters\)$/)
  expect(cutAnswer(cut)).toBe(cut)
  const whole = 'x'.repeat(MOST_ANSWER_CHARS)
  expect(cutAnswer(whole)).toBe(whole)
  expect(cutAnswer('😀'.repeat(MOST_ANSWER_CHARS))).not.toMatch(/[\ud800-\udbff] …/)
})
