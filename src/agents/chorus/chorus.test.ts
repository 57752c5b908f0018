// The connector `chorus` through the shared connectorSuite, and its own cases: posts, statuses, callbacks.
import { describe, expect, it } from 'vitest'
import { type AgentOutlet, type AgentOutput, type Delivery, SwitchboardError } from '../../contract/index.ts'
import { delivery, describeConnectorSuite } from '../../testing/suites/connector-suite.ts'
import { failure, opened, raw, scene, URL_SECRET } from './fixtures/agent-scene.ts'
import { createEventTaker } from './take-events.ts'

describeConnectorSuite('chorus', async () => {
  const { connector, callback } = scene()
  const answering = {
    ...connector,
    async deliver(given: Delivery) {
      await connector.deliver(given)
      await callback({ type: 'message', content: 'Hello Alice!' })
    },
  }
  return { connector: answering, answerable: 'hello', asking: null }
})

describe('a delivery', () => {
  it('[S8.post-shape] [S8.fields] [S8.message-id] [S8.callback-fresh] [S8.mcp-scoped] has channel, message, a fresh callback and a scoped tool endpoint', async () => {
    const { connector, posts, minted } = await opened()
    await connector.deliver(delivery('hello', { sender: { id: 'u1', name: 'alice' } }))
    await connector.deliver(delivery('hello', { attempt: 2 }))
    expect(posts[0]?.body).toEqual({
      channel: { id: delivery('').session, service: 'webhook', context: 'The ops room.' },
      message: { id: 't_test_1', sender: 'alice', content: 'hello' },
      callback: 'https://sb.example.com/callback/cb_1',
      mcp: { url: 'https://sb.example.com/mcp', headers: { Authorization: 'Bearer agent_2' } },
    })
    expect(posts[1]?.body.message.id).toBe('t_test_1')
    expect(posts[1]?.body.callback).not.toBe(posts[0]?.body.callback)
    const { session } = delivery('')
    expect(minted[0]).toMatchObject({
      kind: 'chorus-callback',
      scope: { agent: 'agent', session, turn: 't_test_1' },
    })
    expect(minted[1]).toMatchObject({ kind: 'agent', scope: { agent: 'agent', session } })
    expect(minted.every(({ ttlMs }) => ttlMs === 24 * 3_600_000)).toBe(true)
  })

  it.each([200, 201, 202, 204])(
    '[S8.handed-2xx] %i hands it over, and is evidence of nothing more',
    async (status) => {
      const { connector, recorded } = await opened(() => ({ status }))
      await connector.deliver(delivery('hello'))
      expect(recorded.outputs).toEqual([])
      expect(connector.redelivery).toMatchObject({ handed: 'wait', seen: 'wait' })
    },
  )

  it('[I14.chorus-one-object] gives one object always, its own endpoint, whatever a service in front brought', async () => {
    const { connector, posts } = await opened()
    await connector.deliver(delivery('hi', { meta: { mcp_servers_ref: 'secret:given.place.x' } }))
    expect(posts[0]?.body.mcp).toEqual({
      url: 'https://sb.example.com/mcp',
      headers: { Authorization: expect.stringMatching(/^Bearer /) },
    })
  })

  it('[I14.chorus-repeat-marked] says of a message that may have come before that it may', async () => {
    const { connector, posts } = await opened()
    await connector.deliver(delivery('hi'))
    await connector.deliver(delivery('hi', { repeat: true, attempt: 2 }))
    expect(posts.map(({ body }) => body.message.redelivery)).toEqual([undefined, true])
  })

  it('[I14.chorus-chain] passes on what a Chorus service in front said of its channel, and nothing that others call so', async () => {
    const { connector, posts } = await opened()
    const meta = { service: 'Slack of Acme', context: 'Be brief.', channel_name: '#ops' }
    await connector.deliver(delivery('hi', { platform: 'chorus', meta }))
    await connector.deliver(delivery('hi', { platform: 'mcp', meta }))
    expect(posts[0]?.body.channel).toMatchObject({
      name: '#ops',
      service: 'Slack of Acme',
      context: 'The ops room.\nBe brief.',
    })
    expect(posts[1]?.body.channel).toMatchObject({ service: 'mcp', context: 'The ops room.' })
  })

  it('[I16.context-shown] tells what a group said before, apart from the message', async () => {
    const { connector, posts } = await opened()
    const context = [{ speaker: { id: 'u1', name: 'Anna' }, text: 'it is red', messageId: 'm0', at: 0 }]
    await connector.deliver(delivery('why?', { context }))
    expect(posts[0]?.body.message).toMatchObject({
      content: 'why?',
      context: [{ sender: 'Anna', content: 'it is red', ts: '1970-01-01T00:00:00.000Z' }],
    })
  })

  it('says what is attached, and names a file that came without words', async () => {
    const { connector, posts } = await opened()
    const attachments = [
      { id: 'f1', kind: 'image', name: 'cat.png', mime: 'image/png', size: 7, ref: 'secret-ref' } as const,
    ]
    await connector.deliver(delivery('', { attachments }))
    expect(posts[0]?.body.message).toMatchObject({
      content: '(attachment: cat.png)',
      attachments: [{ id: 'f1', name: 'cat.png', mime: 'image/png', size: 7 }],
    })
    expect(JSON.stringify(posts[0]?.body)).not.toContain('secret-ref')
  })

  it.each([
    [503, {}, 'agent_unreachable', undefined],
    [502, {}, 'agent_unreachable', undefined],
    [500, { 'retry-after': '7' }, 'platform_unavailable', 7_000],
    [504, { 'retry-after': '9' }, 'agent_unreachable', 9_000],
    [429, { 'retry-after': '9' }, 'rate_limited', 9_000],
    [429, {}, 'rate_limited', 1_000],
  ] as const)(
    '[S8.retry-5xx] [S8.retry-429] [F7.chorus-5xx] %i %j is tried again',
    async (status, headers, code, waitMs) => {
      const { connector } = await opened(() => ({ status, headers }))
      const error = await failure(connector.deliver(delivery('hi')))
      expect(error).toMatchObject({ code, retryAfterMs: waitMs })
      expect(error.nature.retryable).toBe(true)
    },
  )

  it('[I35.b11] an agent that is not there is told as unreachable, and as reached once it takes a delivery', async () => {
    const fault = new SwitchboardError('platform_unavailable', 'the request could not be sent: ECONNREFUSED')
    const dead = await opened(() => fault)
    const error = await failure(dead.connector.deliver(delivery('hi')))
    expect(error).toMatchObject({ code: 'agent_unreachable', written: false })
    expect(dead.recorded.reached).toEqual([])
    const alive = await opened()
    await alive.connector.deliver(delivery('hi'))
    expect(alive.recorded.reached).toEqual([null])
  })

  it.each([new SwitchboardError('outcome_unknown', 'the request went out, but no answer came in time')])(
    '[S8.retry-5xx] a network fault is tried again, later each time: %s',
    async (fault) => {
      const { connector } = await opened(() => fault)
      const waits = []
      for (const attempt of [1, 2, 3, 4, 5]) {
        const error = await failure(connector.deliver(delivery('hi', { attempt })))
        expect(error.nature.retryable).toBe(true)
        waits.push(error.retryAfterMs)
      }
      expect(waits).toEqual([1_000, 5_000, 30_000, 120_000, 120_000])
    },
  )

  it.each([400, 401, 403, 404, 410, 413, 301])(
    '[S8.fail-4xx] %i fails the turn with the status',
    async (status) => {
      const { connector } = await opened(() => ({ status }))
      const error = await failure(connector.deliver(delivery('hi')))
      expect(error.nature.retryable).toBe(false)
      expect(error.message).toContain(String(status))
    },
  )

  it('[I35.a4-table] an agent that refuses deliveries is failing with the status', async () => {
    const { connector, recorded } = await opened(() => ({ status: 401 }))
    const error = await failure(connector.deliver(delivery('hi')))
    expect(recorded.reached).toEqual([error.message])
    expect(error.message).toContain('401')
  })

  it('[S8.urls-not-logged] [F7.chorus-secret-silent] no secret URL in any error or log line', async () => {
    for (const status of [200, 302, 404, 429, 500]) {
      const { connector, log, callback } = await opened(() => ({ status, headers: { location: URL_SECRET } }))
      const printed = [String(await connector.deliver(delivery('hi')).catch((error: Error) => error.stack))]
      printed.push(String(await failure(callback('{')).then((error) => error.stack)))
      expect([...printed, ...log.lines].join('\n')).not.toMatch(/planted4711|cb_1|agent_2/)
    }
  })

  it('an option that does not hold is named, and never its value', () => {
    expect(() => scene(undefined, { url: 7 })).toThrow(/connector\.url/)
    expect(() => scene(undefined, { planted: 1 })).toThrow(/connector\./)
  })
})

describe('callback events', () => {
  it('[S6.chorus-evidence] [S8.events-order] are taken in order: seen by the first, answered by a message', async () => {
    const { callback, recorded, kinds } = await opened()
    const events = [
      { type: 'lifecycle', status: 'processing' },
      { type: 'tool_call', name: 'web_search', args: { query: 'oslo weather' }, id: 'tc_001' },
      { type: 'tool_result', id: 'tc_001', content: 'Oslo: 3°C, cloudy, wind 5m/s NW' },
      { type: 'status', status: 'searching weather data' },
      { type: 'message', content: 'The weather in Oslo is 3°C and cloudy.' },
      { type: 'message', content: 'Bring a coat.' },
      { type: 'lifecycle', status: 'idle' },
    ]
    for (const event of events) expect((await callback(event))?.status).toBe(200)
    expect(kinds()).toEqual(['seen', 'status', 'event', 'event', 'status', 'say', 'say'])
    expect(recorded.outputs[5]).toMatchObject({ text: 'The weather in Oslo is 3°C and cloudy.', final: true })
  })

  it('[S8.events-order] two POSTs at once cannot overtake each other', async () => {
    const { callback, says } = await opened()
    await Promise.all(['1', '2', '3'].map((content) => callback({ type: 'message', content })))
    expect(says()).toEqual(['1', '2', '3'])
  })

  it('[S8.error-fails] an error with no message fails the turn; after one it is told; with lifecycle it waits for idle', async () => {
    const error = { type: 'error', message: 'Failed to connect to weather API', code: 'tool_error' }
    const bare = await opened()
    await bare.callback(error)
    expect(bare.recorded.outputs).toMatchObject([
      { kind: 'failed', reason: 'agent_failed', detail: error.message },
    ])
    const late = await opened()
    await late.callback({ type: 'message', content: 'half of it' })
    await late.callback(error)
    expect(late.says()).toEqual(['half of it', `⚠️ ${error.message}`])
    const working = await opened()
    await working.callback({ type: 'lifecycle', status: 'processing' })
    await working.callback(error)
    expect(working.kinds()).toEqual(['seen', 'status', 'event'])
    await working.callback({ type: 'lifecycle', status: 'idle' })
    expect(working.recorded.outputs.at(-1)).toMatchObject({ kind: 'failed', detail: error.message })
    const recovered = await opened()
    await recovered.callback({ type: 'lifecycle', status: 'processing' })
    await recovered.callback(error)
    await recovered.callback({ type: 'message', content: 'it works after all' })
    await recovered.callback({ type: 'lifecycle', status: 'idle' })
    expect(recovered.kinds()).toEqual(['seen', 'status', 'event', 'say'])
  })

  it('[S8.error-fails] an error at another node than the one that heard processing waits for idle as well', async () => {
    const outputs: AgentOutput[] = []
    // The rows of a cluster: one turn, and whether its agent is working.
    const outlet: AgentOutlet = {
      async accept(output) {
        const working = outputs.some((one) => one.kind === 'evidence' && one.working)
        outputs.push(output)
        return output.kind === 'failed' && output.unlessWorking && working
          ? { id: null, working: true }
          : { id: null }
      },
      presence: () => undefined,
      roomy: () => undefined,
      reached: () => undefined,
      askedMs: async () => 0,
      fetchVerdict: async () => 'pending',
    }
    const node = () => createEventTaker(() => outlet, { showTools: false, secrets: [] })
    const place = { session: 's', turn: 't' }
    await node().take(place, [{ type: 'lifecycle', status: 'processing' }], null)
    const [error, idle] = [
      { type: 'error', message: 'no way' },
      { type: 'lifecycle', status: 'idle' },
    ]
    const other = node()
    await other.take(place, [error], null)
    expect(outputs.map(({ kind }) => kind)).toEqual(['evidence', 'failed', 'evidence', 'status', 'event'])
    await other.take(place, [idle], null)
    expect(outputs.at(-1)).toEqual({ kind: 'failed', turn: 't', reason: 'agent_failed', detail: 'no way' })
  })

  it('idle without a word is the end of the turn', async () => {
    const { callback, kinds } = await opened()
    await callback({ type: 'lifecycle', status: 'processing' })
    await callback({ type: 'lifecycle', status: 'idle' })
    expect(kinds()).toEqual(['seen', 'answered'])
  })

  it('[I9.blank-no-answer] a message without words is a sign of life: it answers nothing, and is not said', async () => {
    const { callback, kinds, recorded } = await opened()
    for (const content of ['', ' \n\t', '\u00a0']) await callback({ type: 'message', content })
    await callback({ type: 'status', status: ' ' })
    expect(kinds()).toEqual(['seen', 'status', 'status', 'status'])
    expect(recorded.outputs.slice(1)).toMatchObject([{ text: '' }, { text: '' }, { text: '' }])
    await callback({ type: 'lifecycle', status: 'idle' })
    expect(kinds().at(-1)).toBe('answered')
    await callback({ type: 'message', content: '' })
    await callback({ type: 'message', content: 'there it is' })
    expect(recorded.outputs.at(-1)).toMatchObject({ kind: 'say', final: true })
  })

  it('[S8.events-unknown] [F7.chorus-unknown-event] unknown types are accepted and ignored, also unknown lifecycles', async () => {
    const { callback, kinds } = await opened()
    expect((await callback({ type: 'hologram', shape: 'cube' }))?.status).toBe(200)
    expect((await callback({ type: 'lifecycle', status: 'dreaming' }))?.status).toBe(200)
    expect(kinds()).toEqual(['seen'])
  })

  it.each([
    ['{', 'not JSON'],
    ['', 'not JSON'],
    [Buffer.from([0xff, 0xfe]).toString('latin1'), 'not JSON'],
    ['"message"', 'object'],
    ['[]', 'empty'],
    [{}, 'type is required'],
    [{ type: 7 }, 'type must be a string'],
    [{ type: 'message' }, 'content is required'],
    [{ type: 'message', content: 7 }, 'content must be a string'],
    [{ type: 'status' }, 'status is required'],
    [{ type: 'error' }, 'message is required'],
    [{ type: 'tool_call' }, 'name is required'],
    [{ type: 'message', content: 'x', event_id: 7 }, 'event_id'],
    ['{"type":"message","content":"a"}\n{"type":"message"}', 'event 2: content'],
  ])('[S8.events-malformed] %j is refused with the field, and nothing is taken', async (body, named) => {
    const { callback, recorded } = await opened()
    const error = await failure(callback(body))
    expect(error.code).toBe('input_invalid')
    expect(error.message).toContain(named)
    expect(recorded.outputs).toEqual([])
  })

  it('[S8.event-idempotent] an event_id or Idempotency-Key becomes the key of what is said', async () => {
    const { callback, recorded } = await opened()
    const event = { type: 'message', content: 'once', event_id: 'e1' }
    await callback(event)
    await callback(event)
    await callback({ type: 'message', content: 'twice' }, { 'idempotency-key': 'k1' })
    await callback({ type: 'message', content: 'twice' }, { 'idempotency-key': 'k1' })
    const keys = recorded.outputs.map((one) => (one.kind === 'say' ? one.idempotencyKey : ''))
    expect(keys[0]).toBe(keys[1])
    expect(keys[2]).toBe(keys[3])
    expect(new Set(keys).size).toBe(2)
    expect(keys[0]).toContain('t_test_1')
  })

  it('[S8.ndjson] several events in one POST, as lines or as an array', async () => {
    const lines = await opened()
    await lines.callback('{"type":"status","status":"a"}\n{"type":"message","content":"b"}\n')
    expect(lines.kinds()).toEqual(['seen', 'status', 'say'])
    const array = await opened()
    await array.callback(
      [
        { type: 'message', content: 'a' },
        { type: 'message', content: 'b' },
      ],
      { 'idempotency-key': 'k' },
    )
    expect(array.says()).toEqual(['a', 'b'])
    expect(
      new Set(array.recorded.outputs.map((one) => (one.kind === 'say' ? one.idempotencyKey : ''))).size,
    ).toBe(2)
  })

  it('only POST is taken, and a stopped connector asks to come back', async () => {
    const { connector, callback } = await opened()
    const get = await connector.callback?.({ session: 's', turn: 't' }, { ...raw(''), method: 'GET' })
    expect(get?.status).toBe(405)
    await connector.stop()
    expect(await failure(callback({ type: 'message', content: 'x' }))).toMatchObject({ code: 'draining' })
  })
})
