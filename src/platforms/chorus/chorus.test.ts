// The platform `chorus` through the shared platformSuite, and its own cases: the seed's examples, fields, callbacks.
import { describe, expect, it } from 'vitest'
import {
  type InboundMessage,
  type RawRequest,
  SwitchboardError,
  type TranscriptEntry,
} from '../../contract/index.ts'
import { createGuardedFetch } from '../../kit/index.ts'
import { deliverTo, describePlatform } from '../../testing/suites/platform-suite.ts'
import { fakeCallbacks, fakeDeps, intakeWith, post, seed } from './fixtures/chorus-scene.ts'
import { opened } from './fixtures/opened-chorus.ts'
import { createChorus } from './index.ts'

const PLANTED = 'tok_planted4711'
const planted = { ...seed('minimal'), callback: `https://slack-adapter.example.com/cb/C04ABCDEF/${PLANTED}` }

describePlatform(
  'chorus',
  async ({ fault }) => {
    const deps = fakeDeps()
    const callbacks = fakeCallbacks()
    const status = { none: 200, down: 503, rejects: 422, busy: 429, silent: 200 }[fault]
    const adapter = createChorus(deps, async (request) => {
      if (fault === 'none') return callbacks.fetch(request)
      if (fault === 'silent') throw new SwitchboardError('outcome_unknown', 'no answer within 30 s')
      const headers = fault === 'busy' ? { 'retry-after': '7' } : {}
      return { status, headers, body: Buffer.alloc(0), truncated: false }
    })
    const endpoint = adapter.endpoint
    if (!endpoint) throw new Error('chorus has an inbox')
    const deliver = (raw: RawRequest) => () => deliverTo(endpoint, raw)
    // The address of the suite has written before.
    const name = 'a'.repeat(40)
    deps.kept.set(
      name,
      JSON.stringify({
        callback: planted.callback,
        conversation: 'C04ABCDEF',
        messageId: 'm',
        at: deps.clock.now(),
        done: true,
      }),
    )
    return {
      adapter,
      inbound: [
        { name: 'minimal', deliver: deliver(post(planted)) },
        { name: 'full', deliver: deliver(post(seed('full'))) },
        { name: 'of §2', deliver: deliver(post(seed('delivery'))) },
      ],
      malformed: [
        { name: 'not JSON', deliver: deliver(post('{')) },
        { name: 'no message', deliver: deliver(post({ ...planted, message: undefined })) },
        { name: 'not UTF-8', deliver: deliver(post('', { body: new Uint8Array([0xff, 0xfe]) })) },
      ],
      unverified: [{ name: 'GET', deliver: deliver(post('', { method: 'GET' })) }],
      address: { integration: 'miriad', conversation: 'C04ABCDEF' },
      reads: async () => {
        const event = callbacks.posts.at(-1)?.event
        return event?.type === 'message' ? event.content : ''
      },
      planted: [PLANTED, 'eyJhbGciOi'],
      logLines: () => deps.log.lines,
      close: async () => {},
    }
  },
  {
    faults: ['down', 'silent', 'rejects', 'busy'],
    without: { history: 'a service that was answered keeps nothing: it asks again until it is' },
  },
)

describe('deliveries', () => {
  it('[I35.b46-seeds-chorus] content is any text, also none: its files may be in the tools of the service', async () => {
    const { receive, intake } = await opened()
    const bare = seed('minimal')
    const file = { id: 'f1', name: 'plan.pdf' }
    for (const [id, more] of Object.entries({ none: {}, file: { attachments: [file] } })) {
      const message = { ...bare.message, id, content: '', ...more }
      expect(await receive({ ...bare, message })).toMatchObject({ status: 200 })
    }
    expect(intake.events).toMatchObject([
      { kind: 'message', text: '(empty message)' },
      { kind: 'message', text: '', attachments: [{ name: 'plan.pdf' }] },
    ])
  })

  it('[F7.chorus-examples] [S7.chorus-in] the minimal example, verbatim: answered at its callback', async () => {
    const { receive, say, callbacks, intake } = await opened()
    expect(await receive(seed('minimal'))).toMatchObject({ status: 200 })
    expect(intake.events[0]).toMatchObject({
      kind: 'message',
      conversation: 'C04ABCDEF',
      sender: { id: 'alice' },
      messageId: 'msg_1',
      text: 'hello',
      meta: { channel_name: 'general', service: 'Slack' },
    })
    await say('msg_1', 'Hello Alice!')
    const last = callbacks.posts.at(-1)
    expect(last?.url).toBe('https://slack-adapter.example.com/cb/C04ABCDEF/tok_abc123')
    expect(last?.event).toMatchObject({ type: 'message', content: 'Hello Alice!' })
  })

  it('[F7.chorus-examples] [F7.chorus-mcp-shapes] [S8.mcp-shapes] the full example: tool servers are kept apart from what a model sees', async () => {
    const { receive, intake, deps, move } = await opened()
    await receive(seed('full'))
    const named = { ...seed('full'), message: { id: 'm2', sender: 'svale', content: 'x' } }
    await receive({ ...named, mcp: [{ name: 'miriad', url: 'https://miriad.example.com/mcp' }] })
    await receive({ ...seed('minimal') })
    const [object, array, absent] = intake.events as readonly InboundMessage[]
    expect(JSON.stringify(intake.events)).not.toMatch(/eyJhbGciOi|tok_|mcp\/01HX/)
    expect(absent?.meta?.mcp_servers_ref).toBeUndefined()
    for (const [event, url] of [
      [object, 'https://miriad.example.com/mcp/01HX...'],
      [array, 'https://miriad.example.com/mcp'],
    ] as const) {
      const reference = event?.meta?.mcp_servers_ref ?? ''
      expect(reference).toMatch(/^secret:given\./)
      expect(JSON.parse(deps.kept.get(reference.slice('secret:given.'.length)) ?? '[]')).toMatchObject([
        { url },
      ])
    }
    await move('01HY...', 'answered')
    expect([...deps.kept.keys()].filter((name) => name.endsWith('.mcp'))).toHaveLength(1)
  })

  const FIELDS = [
    'channel',
    'channel.id',
    'message',
    'message.id',
    'message.sender',
    'message.content',
    'callback',
  ]
  const without = (path: string, value?: unknown) => {
    const copy = structuredClone(seed('full')) as unknown as Record<string, Record<string, unknown>>
    const [first = '', second] = path.split('.')
    if (second === undefined) copy[first] = value as Record<string, unknown>
    else if (copy[first]) copy[first][second] = value
    return copy
  }

  it.each(FIELDS)('[S8.missing-fields] [F7.chorus-required] %s is missed by name', async (field) => {
    const { receive, intake, deps } = await opened()
    const refused = await receive(without(field))
    expect(refused.status).toBe(400)
    expect(refused.sentBack).toContain(`${field} is required`)
    expect(intake.events.map(({ kind }) => kind)).toEqual(['unparsable'])
    expect(deps.kept.size).toBe(0)
  })

  const WRONG: readonly (readonly [string, unknown])[] = [
    ...FIELDS.map((field) => [field, 7] as const),
    ['channel.name', 7],
    ['mcp', 'x'],
    ['mcp', [{ url: 7 }]],
    ['mcp.url', 'file:///etc/passwd'],
    ['channel.id', 'x'.repeat(513)],
    ['message.id', 'é'.repeat(257)],
    ['message.sender', 'x'.repeat(100_000)],
    ['callback', 'ftp://x'],
    ['callback', 'x'],
    ['channel.id', ''],
    ['mcp', { url: 'https://x', headers: { a: 1 } }],
  ]

  it.each(WRONG)('%s of a wrong kind (%j) is refused by name', async (field, value) => {
    const { receive } = await opened()
    const refused = await receive(without(field, value))
    expect(refused.status).toBe(400)
    expect(refused.sentBack).toContain(field)
  })

  it('[S8.repeat-id] [F7.chorus-dup-id] a repeated message.id is accepted and not processed twice; its newest callback counts', async () => {
    const { receive, say, callbacks } = await opened()
    await receive(seed('minimal'))
    const again = await receive({
      ...seed('minimal'),
      callback: 'https://slack-adapter.example.com/cb/second',
    })
    expect(again.status).toBe(200)
    expect(again.sentBack).toContain('duplicate')
    await say('msg_1', 'Hello Alice!')
    expect(new Set(callbacks.posts.map(({ url }) => url))).toEqual(
      new Set(['https://slack-adapter.example.com/cb/second']),
    )
  })

  it('[S8.durable-200] nothing is acknowledged when callback or message cannot be stored', async () => {
    const { receive, deps, intake } = await opened()
    intake.failWith(new Error('the disk is full'))
    expect((await receive(seed('minimal'))).acknowledged).toBe(false)
    intake.failWith(null)
    const { put } = deps.credentials as { put: (name: string, value: string) => Promise<void> }
    Object.assign(deps.credentials as object, { put: () => Promise.reject(new Error('the disk is full')) })
    expect((await receive(seed('minimal'))).acknowledged).toBe(false)
    Object.assign(deps.credentials as object, { put })
    expect((await receive(seed('minimal'))).acknowledged).toBe(true)
  })

  it('of a batch with one that is malformed nothing is taken', async () => {
    const { receive, intake } = await opened()
    const batch = ['a', 'b', 'c'].map((id) => ({
      ...seed('minimal'),
      message: { ...seed('minimal').message, id },
    }))
    expect((await receive(batch)).status).toBe(200)
    expect(intake.events).toHaveLength(3)
    const refused = await receive([batch[0], { ...batch[1], callback: undefined }])
    expect(refused).toMatchObject({ status: 400 })
    expect(refused.sentBack).toContain('[1].callback is required')
    expect((await receive([])).status).toBe(400)
  })

  it('[S7.keys-chorus] a GET tells the name only where identity is on', async () => {
    const silent = await opened({ name: 'Kate' })
    const telling = await opened({ name: 'Kate', identity: true })
    const get = async ({ adapter }: typeof silent) =>
      adapter.endpoint ? deliverTo(adapter.endpoint, post('', { method: 'GET' })) : null
    expect((await get(silent))?.status).toBe(405)
    expect((await get(telling))?.sentBack).toContain('Kate')
    expect(() => createChorus(fakeDeps({ nmae: 'x' }))).toThrow(/nmae|options/)
  })
})

describe('output', () => {
  it('[S8.lifecycle] [F7.chorus-lifecycle] [S8.output-order] processing comes first, idle last, after what is still on its way', async () => {
    const { receive, move, say, shown, deps } = await opened()
    await receive(seed('minimal'))
    await move('msg_1', 'handed')
    expect(shown()).toEqual(['lifecycle processing'])
    const row: TranscriptEntry = {
      seq: 1,
      direction: 'out',
      id: 'o',
      conversation: 'C04ABCDEF',
      at: 0,
      text: '',
      state: 'queued',
      reason: null,
    }
    deps.rows.push(row)
    await move('msg_1', 'answered')
    expect(shown()).toEqual(['lifecycle processing'])
    await say('msg_1', 'Hello Alice!')
    deps.rows[deps.rows.indexOf(row)] = { ...row, state: 'sent' }
    await deps.clock.advance(1_000)
    expect(shown()).toEqual(['lifecycle processing', 'message Hello Alice!', 'lifecycle idle'])
  })

  it('[F7.chorus-lifecycle] a crash between answer and idle leaves the idle to the next life', async () => {
    const first = await opened()
    await first.receive(seed('minimal'))
    await first.move('msg_1', 'handed')
    await first.adapter.stop()
    const second = await opened({}, first.deps.kept)
    second.deps.rows.push(...first.deps.rows.map((row) => ({ ...row, state: 'answered' })))
    await second.adapter.stop()
    const third = createChorus(second.deps, second.callbacks.fetch)
    await third.start(second.intake, null)
    await second.deps.clock.advance(1_000)
    expect(second.shown()).toEqual(['lifecycle processing', 'lifecycle idle'])
  })

  it('[F7.chorus-callback-order] [S8.output-order] a callback that fails and then takes it keeps the order', async () => {
    const { receive, say, shown, callbacks } = await opened()
    await receive(seed('minimal'))
    callbacks.statuses.push(500)
    await expect(say('msg_1', 'one')).rejects.toMatchObject({ code: 'platform_unavailable' })
    await say('msg_1', 'one')
    await say('msg_1', 'two')
    expect(shown()).toEqual(['lifecycle processing', 'message one', 'message two'])
    expect(callbacks.posts.every(({ key }) => key !== undefined)).toBe(true)
  })

  it('[F7.chorus-slow-callback] a slow callback does not delay another channel', async () => {
    const { receive, say, shown, callbacks } = await opened()
    await receive(seed('minimal'))
    await receive(seed('full'))
    const release = callbacks.stall('slack-adapter')
    const slow = say('msg_1', 'slow')
    await say('01HY...', 'quick')
    expect(shown()).toEqual(['lifecycle processing', 'message quick'])
    release()
    await slow
  })

  it('a failed turn is an error, other news about it a status, and both come before idle', async () => {
    const { receive, move, say, shown, deps } = await opened()
    await receive(seed('minimal'))
    await say('msg_1', 'demo is offline.', 'notice')
    await move('msg_1', 'failed')
    await say('msg_1', 'Your message was not answered.', 'notice').catch(() => undefined)
    await deps.clock.advance(1_000)
    expect(shown().slice(0, 2)).toEqual(['lifecycle processing', 'status demo is offline.'])
    expect(shown()).toContain('error Your message was not answered.')
  })

  it('[I35.b46-seeds-chorus] a status waits for its turn behind a slow callback, the newest one counts, and words come after it', async () => {
    const { receive, move, say, shown, deps, callbacks, adapter } = await opened()
    await receive(seed('minimal'))
    const release = callbacks.stall('tok_abc123')
    await move('msg_1', 'handed')
    const to = { integration: 'miriad', conversation: 'C04ABCDEF' }
    for (const text of ['reading', 'searching weather data']) {
      adapter.signal?.(to, { kind: 'status', turn: 't_fake_1', text })
      await deps.clock.settle()
    }
    const said = say('msg_1', 'cloudy')
    release()
    await said
    expect(shown().slice(0, 3)).toEqual([
      'lifecycle processing',
      'status searching weather data',
      'message cloudy',
    ])
  })

  it('each delivery has its own callback; unasked words take the newest, and a dead one is forgotten', async () => {
    const { receive, say, callbacks, deps } = await opened()
    await expect(say(null, 'hello?')).rejects.toMatchObject({ code: 'platform_rejected' })
    await receive(seed('minimal'))
    await receive({
      ...seed('minimal'),
      message: { id: 'msg_2', sender: 'alice', content: 'more' },
      callback: 'https://s.example.com/cb/2',
    })
    await say('msg_1', 'to the first')
    await say(null, 'unasked')
    expect(callbacks.posts.filter(({ event }) => event.type === 'message').map(({ url }) => url)).toEqual([
      'https://slack-adapter.example.com/cb/C04ABCDEF/tok_abc123',
      'https://s.example.com/cb/2',
    ])
    callbacks.statuses.push(410)
    await expect(say(null, 'gone?')).rejects.toMatchObject({ code: 'platform_rejected' })
    await deps.clock.settle()
    expect(deps.kept.size).toBe(1)
  })

  it('callbacks are forgotten after a day, whatever became of them', async () => {
    const { receive, deps } = await opened()
    await receive(seed('full'))
    expect(deps.kept.size).toBe(2)
    await deps.clock.advance(26 * 3_600_000)
    expect(deps.kept.size).toBe(0)
  })

  // Stored already, as if private addresses were allowed then. Only the guard can refuse it.
  const words = {
    to: { integration: 'miriad', conversation: 'C04ABCDEF' },
    op: { kind: 'text', text: 'x' },
    key: 'o_1',
    seq: 1,
  } as const
  const refusedBy = async (callback: string, kept: 'on the shelf' | 'by a delivery') => {
    const deps = fakeDeps()
    const asked: string[] = []
    const resolve = async (host: string) => {
      asked.push(host)
      return [{ address: '127.0.0.1', family: 4 }]
    }
    const adapter = createChorus(deps, createGuardedFetch({ clock: deps.clock, resolve }))
    const entry = { callback, conversation: 'C04ABCDEF', messageId: 'm', at: deps.clock.now(), done: true }
    if (kept === 'on the shelf') deps.kept.set('a'.repeat(40), JSON.stringify(entry))
    await adapter.start(intakeWith(deps), null)
    if (kept === 'by a delivery' && adapter.endpoint)
      expect((await deliverTo(adapter.endpoint, post({ ...seed('minimal'), callback }))).status).toBe(200)
    const error = await adapter.send(words).catch((thrown: Error) => thrown)
    return { error, asked, printed: [String(error), ...deps.log.lines].join('\n') }
  }

  it.each([
    ['https://127.0.0.1/cb', 'address'],
    ['https://10.0.0.7/cb', 'address'],
    ['https://169.254.169.254/latest/meta-data/cb', 'address'],
    ['https://[::1]/cb', 'address'],
    ['http://rebind.example.com/cb', 'http:'],
    ['https://rebind.example.com/cb', 'address'],
  ])(
    '[S8.ssrf-addresses] [F7.chorus-private-ip] a callback to %s is refused by the guard, and its URL is in no error or log',
    async (callback, why) => {
      const { error, printed } = await refusedBy(callback, 'on the shelf')
      expect(error).toMatchObject({ code: 'platform_rejected' })
      expect(String(error)).toMatch(new RegExp(`the callback is not called: .*${why}`))
      expect(printed).not.toContain('/cb')
    },
  )

  it('[S8.ssrf-addresses] a delivered callback whose name leads inside is refused when it is called', async () => {
    const { error, asked } = await refusedBy('https://rebind.example.com/cb', 'by a delivery')
    expect(asked).toEqual(['rebind.example.com'])
    expect(String(error)).toContain('the callback is not called: the URL leads to an address')
  })
})
