// The connector `http` through the shared suite, and its own cases: posts, the meaning of statuses, and responses that
// end a turn.

import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { SwitchboardError } from '../../contract/index.ts'
import { delivery, describeConnectorSuite } from '../../testing/suites/connector-suite.ts'
import {
  failure,
  NEVER,
  opened,
  reply,
  SIGNING_SECRET,
  scene,
  stream,
  URL_SECRET,
} from './fixtures/agent-scene.ts'

describeConnectorSuite('http', async () => {
  const open = scene(({ body }) => reply({ text: `re: ${body.text}` }))
  return { connector: open.connector, answerable: 'hello', asking: null }
})

const { session } = delivery('')

describe('a turn that is posted', () => {
  it('[I16.http-post] [I16.http-tools] is flat JSON with a reply_url and a token that are good for it alone', async () => {
    const { connector, posts, minted } = await opened()
    await connector.deliver(
      delivery('hello', {
        sender: { id: 'u1', name: 'alice' },
        thread: '7',
        replyTo: { messageId: 'm0' },
        context: [{ speaker: { id: 'u2' }, text: 'it rains', messageId: 'm9', at: 0 }],
        attachments: [
          { id: 'f/1', kind: 'image', name: 'cat.png', mime: 'image/png', size: 7, ref: 'hidden-ref' },
        ],
      }),
    )
    expect(posts[0]?.url).toBe(URL_SECRET)
    expect(posts[0]?.body).toEqual({
      ...{ id: 't_test_1', session, agent: 'agent', sender: 'u1', sender_name: 'alice' },
      ...{ address: 'place:room', platform: 'webhook', integration: 'place', source: 'webhook:place' },
      ...{ message_id: 'm1', thread: '7', reply_to: 'm0', text: 'hello', meta: { chat_id: 'place:room' } },
      attachments: [
        {
          ...{ id: 'f/1', kind: 'image', name: 'cat.png', mime: 'image/png', size: 7 },
          url: 'https://sb.example.com/callback/cb_1?attachment=f%2F1',
        },
      ],
      context: [{ sender: 'u2', text: 'it rains', ts: '1970-01-01T00:00:00.000Z' }],
      binding_context: 'The ops room.',
      ts: '1970-01-01T00:00:01.000Z',
      reply_url: 'https://sb.example.com/callback/cb_1',
      mcp_url: 'https://sb.example.com/mcp',
      mcp_token: 'agent_2',
    })
    const scope = { agent: 'agent', session, turn: 't_test_1' }
    expect(minted).toMatchObject([
      { kind: 'chorus-callback', scope, ttlMs: 24 * 3_600_000 },
      { kind: 'agent', scope, ttlMs: 24 * 3_600_000 },
    ])
  })

  it('[I16.http-signed] [I16.http-retry] is signed so that the reference library takes it, and keeps its id when posted again', async () => {
    const { connector, posts, clock } = await opened()
    await connector.deliver(delivery('hello'))
    await clock.advance(60_000)
    await connector.deliver(delivery('hello', { attempt: 2 }))
    await connector.deliver(delivery('hello', { repeat: true }))
    const [first, second, third] = posts
    // The library uses the wall clock. A test of the kit checks the time.
    const at = Number(first?.headers['webhook-timestamp'])
    const expected = new Webhook(SIGNING_SECRET).sign('t_test_1', new Date(at * 1_000), first?.raw ?? '')
    expect(first?.headers['webhook-signature']).toBe(expected)
    expect(posts.map(({ headers }) => headers['webhook-id'])).toEqual(['t_test_1', 't_test_1', 't_test_1'])
    expect(Number(second?.headers['webhook-timestamp'])).toBe(at + 60)
    expect(second?.headers['webhook-signature']).not.toBe(expected)
    expect([first, second, third].map((one) => one?.body.redelivery)).toEqual([undefined, true, true])
  })

  it('[I16.http-signed] goes out unsigned without a secret, with its id', async () => {
    const { connector, posts } = await opened(undefined, { secret: undefined, url: 'env:URL' })
    await connector.deliver(delivery('hello'))
    expect(posts[0]?.url).toBe(URL_SECRET)
    expect(posts[0]?.headers).toMatchObject({ 'webhook-id': 't_test_1', 'accept-encoding': 'identity' })
    expect(posts[0]?.headers).not.toHaveProperty('webhook-signature')
  })

  it('[I16.http-secret-form] a secret that is none is refused by its key, and never repeated', () => {
    const thrown = () => scene(undefined, { secret: 'env:BAD' })
    expect(thrown).toThrow(/connector\.secret: env:BAD/)
    expect(thrown).not.toThrow(/hunter2/)
    expect(() => scene(undefined, { url: 'ftp://x' })).toThrow(/connector\.url/)
    expect(() => scene(undefined, { planted: 1 })).toThrow(/connector\./)
  })

  it.each([
    [500, { 'retry-after': '7' }, 'platform_unavailable', 7_000],
    [408, {}, 'platform_unavailable', 1_000],
    [429, { 'retry-after': '9' }, 'rate_limited', 9_000],
  ] as const)('[I16.http-retry] %i %j is tried again', async (status, headers, code, waitMs) => {
    const { connector, recorded } = await opened(() => reply({}, status, headers))
    const error = await failure(connector.deliver(delivery('hi')))
    expect(error).toMatchObject({ code, retryAfterMs: waitMs, nature: { retryable: true } })
    expect(recorded.outputs).toEqual([])
  })

  it.each([
    () => new SwitchboardError('platform_unavailable', 'the connection failed'),
    () => reply({}, 502),
    () => reply({}, 503),
    () => reply({}, 504),
  ])('[I35.b11] what never reached the agent is told as that, and is no attempt (%#)', async (fault) => {
    const { connector, recorded } = await opened(fault)
    const error = await failure(connector.deliver(delivery('hi', { attempt: 9 })))
    expect(error).toMatchObject({ code: 'agent_unreachable', nature: { retryable: true } })
    expect([recorded.outputs, recorded.reached]).toEqual([[], []])
  })

  it('[I35.b11] an answer of the agent itself, whatever it says, tells that it was reached', async () => {
    for (const status of [200, 400, 429, 500]) {
      const { connector, recorded } = await opened(() => reply({ text: 'x' }, status))
      await connector.deliver(delivery('hi')).catch(() => undefined)
      expect(recorded.reached[0]).toBeUndefined()
      expect(recorded.reached.length).toBeGreaterThan(0)
    }
  })

  it.each([new SwitchboardError('outcome_unknown', 'the connection was closed')])(
    '[I16.http-retry] a connection that broke is tried again, later each time: %s',
    async (fault) => {
      const { connector } = await opened(() => fault)
      const waits = []
      for (const attempt of [1, 2, 3, 4, 5])
        waits.push((await failure(connector.deliver(delivery('hi', { attempt })))).retryAfterMs)
      expect(waits).toEqual([1_000, 5_000, 30_000, 120_000, 120_000])
    },
  )

  it.each([301, 307, 400, 401, 404, 410, 413])(
    '[I16.http-4xx] %i fails the turn with the status',
    async (status) => {
      const { connector } = await opened(() => reply({}, status, { location: 'https://elsewhere.example/' }))
      const error = await failure(connector.deliver(delivery('hi')))
      expect(error.nature.retryable).toBe(false)
      expect(error.message).toContain(String(status))
    },
  )

  it('[I35.a4-table] an agent that refuses turns is failing with the status, until it takes one', async () => {
    let status = 401
    const { connector, recorded } = await opened(() => reply({ text: 'x' }, status))
    await failure(connector.deliver(delivery('hi')))
    expect(recorded.reached.at(-1)).toBe('the agent answered 401')
    status = 200
    await connector.deliver(delivery('again', { turn: 't_2' }))
    expect(recorded.reached.at(-1)).toBeNull()
  })

  it('[I16.http-limits] no URL, no secret and no word of the agent is in an error or the log', async () => {
    for (const status of [200, 302, 404, 429, 500]) {
      const { connector, log } = await opened(() =>
        reply({ nothing: URL_SECRET }, status, { location: URL_SECRET }),
      )
      const printed = [String(await connector.deliver(delivery('hi')).catch((error: Error) => error.stack))]
      expect([...printed, ...log.lines].join()).not.toMatch(/planted4711|whsec_/)
    }
  })

  it('[I16.http-bounded] so many at once, and the rest stays queued', async () => {
    const { connector, posts } = await opened(() => NEVER)
    for (let n = 0; n < 64; n++)
      void connector.deliver(delivery('hi', { turn: `t_${n}` })).catch(() => undefined)
    const error = await failure(connector.deliver(delivery('one more', { turn: 't_64' })))
    expect(error).toMatchObject({ code: 'agent_absent', retryAfterMs: 1_000 })
    expect(posts.length).toBeLessThanOrEqual(64)
  })
})

describe('a response', () => {
  it('[I16.http-evidence] [I35.b12] is seen and answers the turn in one commit, when it is whole', async () => {
    const { connector, recorded, kinds } = await opened()
    await connector.deliver(delivery('hi'))
    expect(kinds()).toEqual(['say'])
    expect(recorded.outputs[0]).toMatchObject({
      turn: 't_test_1',
      text: 'hello',
      before: [],
      final: true,
      sole: true,
    })
  })

  it('[I16.http-evidence] without words is the end of the turn', async () => {
    const { connector, last } = await opened(() => new Response(null, { status: 204 }))
    await connector.deliver(delivery('hi'))
    expect(last()).toMatchObject({ kind: 'say', text: '', final: true })
  })

  it.each([
    ['answer', 202],
    ['later', 200],
    ['later', 204],
  ] as const)(
    '[I16.http-later] in mode %s a %i is a receipt: the answer comes to reply_url',
    async (mode, status) => {
      const { connector, kinds, callback, last } = await opened(
        () =>
          status === 204
            ? new Response(null, { status })
            : reply({ message: 'Workflow was started' }, status),
        { mode },
      )
      await connector.deliver(delivery('hi'))
      expect(kinds()).toEqual(['seen'])
      expect(connector.redelivery).toMatchObject({ handed: 'wait', seen: 'wait' })
      expect((await callback({ text: 'there it is' }))?.status).toBe(200)
      expect(last()).toMatchObject({ kind: 'say', text: 'there it is', final: true, sole: true })
    },
  )

  it('[I16.http-list-one-commit] that lists messages says them at once, in order', async () => {
    const { connector, last } = await opened(() => reply(['one', { text: 'two' }, { output: 'three' }]))
    await connector.deliver(delivery('hi'))
    expect(last()).toMatchObject({ text: 'three', before: ['one', 'two'], final: true })
  })

  it('[I16.http-stream] is shown as it comes: whole each time, and the last word is the answer', async () => {
    const pieces = [
      'data: {"text":"Hel"}\n\n',
      'event: status\ndata: thinking\n\n',
      'data: lo\n\n',
      'data: [DONE]\n\n',
    ]
    const { connector, recorded, last } = await opened(() => stream(pieces, 'text/event-stream', 'open'))
    await connector.deliver(delivery('hi'))
    const shown = recorded.outputs.flatMap((one) => (one.kind === 'partial' ? [one.text] : []))
    expect(shown[0]).toBe('Hel')
    expect(recorded.outputs).toContainEqual({ kind: 'status', session, turn: 't_test_1', text: 'thinking' })
    expect(last()).toMatchObject({ kind: 'say', text: 'Hello', final: true })
  })

  it('[I35.b25] that is not understood fails the turn, and how it begins is shown to operators alone', async () => {
    const { connector, recorded, last, log } = await opened(
      () => new Response('colour;red', { headers: { 'content-type': 'text/csv' } }),
    )
    await connector.deliver(delivery('hi'))
    expect(last()).toMatchObject({ kind: 'failed', reason: 'agent_failed' })
    expect(JSON.stringify(last()) + log.lines.join()).not.toContain('colour;red')
    expect(recorded.reached.at(-1)).toContain('content type text/csv; it begins: colour;red')
  })

  it('[I16.http-cut-stream] [I35.b12] that breaks off fails the turn as cut, with the text that came', async () => {
    const { connector, last } = await opened(() =>
      stream(['{"text":"half "}\n{"te'], 'application/x-ndjson', 'cut'),
    )
    await connector.deliver(delivery('hi'))
    expect(last()).toMatchObject({
      kind: 'failed',
      reason: 'answer_cut',
      detail: 'its answer broke off',
      text: 'half ',
    })
  })

  it('[I16.http-silent-told] that never ends is silence after timeout, with the text that came', async () => {
    const { connector, last, clock, posts, recorded } = await opened(
      () => stream(['data: half\n\n'], 'text/event-stream', 'open'),
      { timeout: '90s' },
    )
    const delivered = connector.deliver(delivery('hi'))
    await recorded.until('partial')
    await clock.advance(89_000)
    // An open connection is a sign of life, for callers with a shorter time limit.
    expect(last()).toMatchObject({ kind: 'status', text: '' })
    expect(posts[0]?.signal.aborted).toBe(false)
    await clock.advance(1_000)
    expect(posts[0]?.signal.aborted).toBe(true)
    void delivered
  })

  it('[I16.http-silent-told] that does not come at all is silence, and nothing is posted again', async () => {
    const { connector, recorded, clock, posts } = await opened(() => NEVER, { timeout: '90s' })
    const delivered = connector.deliver(delivery('hi'))
    await Promise.resolve()
    await until(() => posts.length === 1)
    await clock.advance(90_000)
    await delivered
    expect(recorded.outputs).toEqual([
      { kind: 'failed', turn: 't_test_1', reason: 'agent_silent', detail: 'no answer within 90 s' },
    ])
  })

  it('[I35.b12-drain] is waited for by a stop for as long as it may take', async () => {
    const { connector } = await opened(() => NEVER, { timeout: '90s' })
    expect(connector.finishMs).toBe(90_000)
  })

  it('[I16.http-one-answer] after the turn was answered another way is kept beside it, and sent nowhere', async () => {
    const { connector, recorded, log } = await opened()
    recorded.hold = async () => {
      const now = recorded.outputs.at(-1)
      if (now?.kind === 'say') throw new SwitchboardError('conflict', 'answered before')
    }
    await connector.deliver(delivery('hi'))
    expect(recorded.outputs.at(-1)).toMatchObject({
      kind: 'event',
      event: { name: 'unsent response', text: 'hello' },
    })
    expect(log.lines.join()).toContain('is not sent')
  })

  it('[I16.http-files] with a file that cannot go along says its words, and names the file', async () => {
    const data = Buffer.from('abc').toString('base64')
    const { connector, recorded } = await opened(() =>
      reply({ text: 'see', files: [{ name: 'a.txt', data }] }),
    )
    recorded.hold = async () => {
      const now = recorded.outputs.at(-1)
      if (now?.kind === 'say' && now.files)
        throw new SwitchboardError('execution_failed', 'it takes no files')
    }
    await connector.deliver(delivery('hi'))
    expect(recorded.outputs.at(-1)).toMatchObject({
      text: 'see\n\n(not sent: a.txt; it takes no files)',
      final: true,
    })
  })
})

async function until(met: () => boolean | Promise<boolean>): Promise<void> {
  for (let round = 0; round < 1_000; round++) {
    if (await met()) return
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  throw new Error('it never came to it')
}
