// Which bodies are answers, which are refused with a reason, and that no body makes the reader slow or large.
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { MAX_ANSWER_BYTES, MAX_ANSWER_CHARS, readAnswer } from './read-answer.ts'

async function read(
  body: string | Uint8Array | readonly string[],
  contentType: string | null,
  encoding: string | null = null,
) {
  const partials: string[] = []
  const statuses: string[] = []
  const pieces = Array.isArray(body) ? (body as string[]) : [body as string | Uint8Array]
  const chunks = (async function* () {
    for (const piece of pieces) yield typeof piece === 'string' ? Buffer.from(piece) : piece
  })()
  const answer = await readAnswer(
    { contentType, contentEncoding: encoding, chunks },
    { partial: (text) => void partials.push(text), status: (text) => void statuses.push(text) },
  )
  return { answer, partials, statuses }
}

const JSON_TYPE = 'application/json; charset=utf-8'
const texts = async (...given: Parameters<typeof read>) => {
  const { answer } = await read(...given)
  return answer.kind === 'answer' ? answer.texts : answer.detail
}

describe('an answer', () => {
  it.each<[string, string | null, readonly string[]]>([
    ['{"text":"hi"}', JSON_TYPE, ['hi']],
    ['{"output":"hi"}', 'application/problem+json', ['hi']],
    ['"hi"', JSON_TYPE, ['hi']],
    ['["a",{"text":"b"}]', JSON_TYPE, ['a', 'b']],
    ['{"messages":[{"text":"a"},"b"]}', JSON_TYPE, ['a', 'b']],
    ['[{"output":"from n8n"}]', JSON_TYPE, ['from n8n']],
    ['{"text":"  "}', JSON_TYPE, []],
    ['[]', JSON_TYPE, []],
    ['', JSON_TYPE, []],
    ['hi', 'text/plain', ['hi']],
    ['# hi', 'text/markdown;charset=utf-8', ['# hi']],
    ['a < b, as Flask sends a string', 'text/html; charset=utf-8', ['a < b, as Flask sends a string']],
    ['{"text":"hi"}', null, ['hi']],
    ['hi', null, ['hi']],
    ['\uFEFF{"text":"hi"}', JSON_TYPE, ['hi']],
    ['{"text":"Hel"}\n{"text":"lo"}\n', 'application/x-ndjson', ['Hello']],
    ['{"delta":"Hel"}\r\n\r\n"lo"', 'application/jsonl', ['Hello']],
    ['data: Hel\n\ndata: lo\n\n', 'text/event-stream', ['Hello']],
    [
      'data: {"text":"Hel"}\n\ndata: {"text":"lo","done":true}\n\ndata: more\n\n',
      'text/event-stream',
      ['Hello'],
    ],
    ['data: a\ndata: b\n\n: comment\nid: 7\nretry: 1\n\ndata:  c', 'text/event-stream', ['a\nb c']],
    ['data: 5\n\ndata: true\n\ndata: null\n\n', 'text/event-stream', ['5truenull']],
    ['event: done\n\ndata: late\n\n', 'text/event-stream', []],
    [
      '{"type":"begin","metadata":{}}\n{"type":"item","content":"Hel"}\n{"type":"item","content":"lo"}\n{"type":"end"}\n',
      JSON_TYPE,
      ['Hello'],
    ],
  ])('[I16.http-answers] [I16.http-n8n-zapier] %j as %s', async (body, type, expected) => {
    expect(await texts(body, type)).toEqual(expected)
  })

  const chunk = (delta: unknown, finish: string | null = null) =>
    `data: ${JSON.stringify({
      ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' },
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    })}\n\n`
  const USAGE =
    'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","choices":[],"usage":{"total_tokens":9}}\n\n'
  const ollama = (content: string, done = false) =>
    `${JSON.stringify({ model: 'llama3', created_at: 'x', message: { role: 'assistant', content }, done })}\n`

  it.each<[string, string, string, readonly string[]]>([
    [
      'a stream of OpenAI chat completions',
      [
        ...[chunk({ role: 'assistant', content: '' }), chunk({ content: 'Hel' }), chunk({ content: 'lo' })],
        ...[chunk({}, 'stop'), USAGE, 'data: [DONE]\n\n'],
      ].join(''),
      'text/event-stream; charset=utf-8',
      ['Hello'],
    ],
    [
      'one that says nothing',
      [chunk({ role: 'assistant', content: null }), chunk({}, 'stop'), 'data: [DONE]\n\n'].join(''),
      'text/event-stream',
      [],
    ],
    [
      'a whole chat completion',
      '{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}]}',
      'application/json',
      ['Hello'],
    ],
    [
      'a stream of Ollama’s /api/chat',
      ollama('Hel') + ollama('lo') + ollama('', true),
      'application/x-ndjson',
      ['Hello'],
    ],
    [
      'a stream of Ollama’s /api/generate',
      '{"model":"m","response":"Hel","done":false}\n{"model":"m","response":"lo","done":true,"context":[1]}\n',
      'application/x-ndjson',
      ['Hello'],
    ],
    ['a whole answer of Ollama', ollama('Hello', true).trim(), 'application/json', ['Hello']],
  ])('[I35.b25-forms] %s is read', async (_, body, type, expected) => {
    expect(await texts(body, type)).toEqual(expected)
  })

  const completion = (message: unknown) =>
    JSON.stringify({ object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] })
  const parts = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
    { type: 'text', text: 'Hel' },
    { type: 'text', text: 'lo' },
  ]

  it.each<[string, string, string, readonly string[]]>([
    ['a completion of parts', completion({ content: parts }), JSON_TYPE, ['Hello']],
    ['a completion without parts', completion({ content: [] }), JSON_TYPE, []],
    ['a refusal', completion({ content: null, refusal: 'I will not.' }), JSON_TYPE, ['I will not.']],
    [
      'a refusal as a part',
      completion({ content: [{ type: 'refusal', refusal: 'I will not.' }] }),
      JSON_TYPE,
      ['I will not.'],
    ],
    [
      'a streamed refusal',
      [
        chunk({ role: 'assistant', content: null }),
        chunk({ refusal: 'I will' }),
        chunk({ refusal: ' not.' }),
      ].join(''),
      'text/event-stream',
      ['I will not.'],
    ],
    ['a completion of a tool call', completion({ content: null, tool_calls: [{}] }), JSON_TYPE, []],
    ['an end with empty data', 'event: done\ndata: {}\n\n', 'text/event-stream', []],
    [
      'an end with the usage',
      'data: {"text":"hi"}\n\nevent: done\ndata: {"usage":7}\n\n',
      'text/event-stream',
      ['hi'],
    ],
    [
      'an unknown event beside texts',
      '{"tool":"x"}\n{"text":""}\n{"done":true}\n',
      'application/x-ndjson',
      [],
    ],
  ])('[I35.b25-unknown-stream] %s is read', async (_, body, type, expected) => {
    expect(await texts(body, type)).toEqual(expected)
  })

  it.each<[string, string, string]>([
    [
      'an unknown stream',
      'data: {"token":"Hel"}\n\ndata: {"token":"lo"}\n\ndata: [DONE]\n\n',
      'text/event-stream',
    ],
    [
      'a stream of LangServe',
      'event: metadata\ndata: {"run_id":"1"}\n\nevent: data\ndata: {"content":"Hi"}\n\nevent: end\n\n',
      'text/event-stream',
    ],
    [
      'an unknown stream with signs of life',
      'event: status\ndata: go\n\ndata: {"token":"Hi"}\n\nevent: done\n\n',
      'text/event-stream',
    ],
    ['an answer in its end', 'event: done\ndata: {"answer":"Hi"}\n\n', 'text/event-stream'],
    ['lines that end by themselves', '{"token":"Hel"}\n{"token":"lo","done":true}\n', 'application/x-ndjson'],
    ['one line that ends by itself', '{"token":"Hi","done":true}\n', 'application/x-ndjson'],
    ['such lines as JSON', '{"token":"Hel"}\n{"token":"lo"}\n{"done":true}\n', JSON_TYPE],
    ['a completion of unknown parts', completion({ content: [{ type: 'image', data: 'x' }] }), JSON_TYPE],
  ])(
    '[I35.b25-unknown-stream] %s is no empty answer: it is told with its beginning',
    async (_, body, type) => {
      const { answer } = await read(body, type)
      expect(answer).toMatchObject({
        kind: 'failed',
        unread: expect.stringContaining(`it begins: ${body.replace(/\s+/g, ' ').trim().slice(0, 40)}`),
      })
    },
  )

  it('[I35.b25-forms] an error within such a stream fails the turn with its words', async () => {
    const { answer } = await read(
      `${ollama('Hel')}{"error":"model runner has unexpectedly stopped"}\n`,
      'application/x-ndjson',
    )
    expect(answer).toMatchObject({
      kind: 'failed',
      detail: 'model runner has unexpectedly stopped',
      text: 'Hel',
    })
    expect(answer).not.toHaveProperty('unread')
  })

  it.each([
    ['a,b\n1,2', 'text/csv', 'content type text/csv; it begins: a,b 1,2'],
    [
      '<!doctype html><title>Sign in</title>',
      'text/html',
      'it begins: <!doctype html><title>Sign in</title>',
    ],
    [`{"status":"${'x'.repeat(1_000)}"}`, JSON_TYPE, `it begins: {"status":"${'x'.repeat(189)}`],
    ['{"event":"message_start"}\n', 'application/x-ndjson', 'it begins: {"event":"message_start"}'],
    ['data: {"type":"content_block_delta"}\n\n', 'text/event-stream', 'it begins: data: {"type"'],
    ['x', 'text/plain; charset=martian', 'content type text/plain; charset=martian; it begins: x'],
  ])(
    '[I35.b25] %j as %s is not understood, and is told with its type and beginning',
    async (body, type, begins) => {
      const { answer } = await read(body, type)
      expect(answer).toMatchObject({ kind: 'failed', unread: expect.stringContaining(begins) })
      expect(JSON.stringify(answer).length).toBeLessThan(600)
    },
  )

  it('[I16.http-answers] a stream is the same however it is cut, in a character or a line end', async () => {
    const whole = Buffer.from(
      'data: {"text":"zwölf 🙂 "}\r\n\r\nevent: status\r\ndata: go\r\n\r\ndata: Uhr\r\n\r\n',
    )
    expect(whole.length).toBeGreaterThan(60)
    for (let at = 1; at < whole.length; at++) {
      const chunks = (async function* () {
        yield whole.subarray(0, at)
        yield whole.subarray(at)
      })()
      const told = { partial: () => undefined, status: () => undefined }
      const answer = await readAnswer(
        { contentType: 'text/event-stream', contentEncoding: null, chunks },
        told,
      )
      expect(answer).toMatchObject({ kind: 'answer', texts: ['zwölf 🙂 Uhr'] })
    }
  })

  it('[I16.http-answers] other charsets are read as they say', async () => {
    expect(await texts(Buffer.from([0xfc]), 'text/plain; charset=iso-8859-1')).toEqual(['ü'])
    expect(await texts('x', 'text/plain; charset=martian')).toMatch(/charset/)
  })

  it('[I16.http-stream] plain text is shown as it comes, and what comes together is told once', async () => {
    const { partials } = await read(['Hel', 'lo'], 'text/plain')
    expect(partials).toEqual(['Hel', 'Hello'])
    const lines = await read(
      ['{"text":"a"}\n{"status":"x"}\n{"text":"b"}\n{"status":"y"}\n'],
      'application/x-ndjson',
    )
    expect([lines.partials, lines.statuses]).toEqual([['ab'], ['y']])
  })

  it.each<[string, string, RegExp]>([
    ['{"text":', JSON_TYPE, /is JSON, and is not/],
    ['nonsense', JSON_TYPE, /is JSON, and is not/],
    ['{"text":7}', JSON_TYPE, /"text" must be a string/],
    ['{}', JSON_TYPE, /no "text"/],
    ['null', JSON_TYPE, /text or an object/],
    ['[{"text":"a"},7]', JSON_TYPE, /message 2/],
    ['{"message":"Workflow was started"}', JSON_TYPE, /mode: later/],
    ['{"status":"success","id":"1","request_id":"2"}', JSON_TYPE, /mode: later/],
    ['<!doctype html><title>Log in</title>', 'text/html', /HTML page/],
    ['GIF89a', 'image/gif', /image\/gif/],
    ['x', 'application/octet-stream', /octet-stream/],
    ['{"text":"a"}\nnonsense\n', 'application/x-ndjson', /line 2 of the stream/],
    ['[1]', 'application/x-ndjson', /no object/],
    [`[${Array(51).fill('"x"').join()}]`, JSON_TYPE, /more than 50 messages/],
    ['{"files":[{"name":"../x","data":"YQ=="}]}', JSON_TYPE, /files\[0\]\.name/],
    ['{"files":[{"name":"x","data":"?"}]}', JSON_TYPE, /files\[0\]\.data/],
    ['{"files":[{"name":"x","mime":"a b","data":""}]}', JSON_TYPE, /files\[0\]\.mime/],
    ['{"files":7}', JSON_TYPE, /"files" must be a list/],
  ])('[I16.http-limits] [I16.http-n8n-zapier] %j as %s is none, and says why', async (body, type, why) => {
    const { answer } = await read(body, type)
    expect(answer).toMatchObject({ kind: 'failed', detail: expect.stringMatching(why) })
  })

  it('[I16.http-answers] an error is told as one, with its code and what came before it', async () => {
    expect((await read('{"error":"no"}', JSON_TYPE)).answer).toEqual({
      kind: 'failed',
      detail: 'no',
      text: '',
    })
    expect((await read('{"error":{"message":"no","code":"quota"}}', JSON_TYPE)).answer).toMatchObject({
      ...{ detail: 'no', code: 'quota' },
    })
    expect((await read('data: half\n\nevent: error\ndata: no\n\n', 'text/event-stream')).answer).toEqual({
      ...{ kind: 'failed', detail: 'no', text: 'half' },
    })
    expect((await read('{"error":7}', JSON_TYPE)).answer).toMatchObject({ kind: 'failed' })
  })

  it('[I16.http-limits] a compressed one is refused unread: no bomb is opened', async () => {
    const bomb = gzipSync(Buffer.alloc(50 * 1_048_576))
    expect(await texts(bomb, JSON_TYPE, 'gzip')).toMatch(/compressed \(gzip\)/)
    expect(await texts('{"text":"hi"}', JSON_TYPE, 'identity')).toEqual(['hi'])
  })

  it.each(['application/json', 'text/plain', 'text/event-stream', 'application/x-ndjson'])(
    '[I16.http-limits] an endless one as %s is left at the limit',
    async (type) => {
      let given = 0
      const chunks = (async function* () {
        for (;;) {
          given += 65_536
          yield Buffer.alloc(65_536, type === 'text/plain' ? 'x' : ' ')
        }
      })()
      const told = { partial: () => undefined, status: () => undefined }
      const answer = await readAnswer({ contentType: type, contentEncoding: null, chunks }, told)
      expect(answer).toMatchObject({ kind: 'failed', detail: expect.stringContaining('over the limit') })
      expect(given).toBeLessThanOrEqual(MAX_ANSWER_BYTES + 65_536)
    },
  )

  it('[I16.http-limits] more words than a chat can take are cut, and the rest is not read', async () => {
    const { answer } = await read(Array(200).fill(`data: ${'x'.repeat(1_000)}\n\n`), 'text/event-stream')
    expect(answer).toMatchObject({ kind: 'failed', text: 'x'.repeat(MAX_ANSWER_CHARS) })
    expect(
      (await read(JSON.stringify({ text: 'x'.repeat(MAX_ANSWER_CHARS + 1) }), JSON_TYPE)).answer.kind,
    ).toBe('failed')
  })

  it('[I16.http-limits] a body that comes byte by byte takes time in proportion', async () => {
    const cost = async (size: number) => {
      const chunks = (async function* () {
        const byte = Buffer.from('x')
        for (let n = 0; n < size; n++) yield byte
      })()
      const began = process.cpuUsage()
      const told = { partial: () => undefined, status: () => undefined }
      await readAnswer({ contentType: 'text/plain', contentEncoding: null, chunks }, told)
      return process.cpuUsage(began).user
    }
    await cost(20_000)
    const [small, large] = [await cost(10_000), await cost(80_000)]
    // Eight times the bytes: a quadratic reader would need 64 times as long.
    expect(large / Math.max(small, 1_000)).toBeLessThan(40)
  })
})
