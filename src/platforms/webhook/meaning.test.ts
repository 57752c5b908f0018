// The configured meaning of a request: filters, templates, expressions, and hostile bodies.
import { gzipSync } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
import type { InboundEvent } from '../../contract/index.ts'
import { KEY, openHook } from './fixtures/hook-scene.ts'
import { request } from './fixtures/webhook-requests.ts'
import { readMeaning, understand } from './meaning.ts'
import { SAMPLES } from './samples.ts'
import { parseJson } from './structure.ts'
import { compileTemplate } from './template.ts'
import { holds } from './when.ts'

const bearer = { authorization: `Bearer ${KEY}` }
const HOOK = { auth: 'bearer', secret: 'env:KEY' }

async function read(options: Record<string, unknown>, body: unknown, headers: Record<string, string> = {}) {
  const { post, events } = await openHook({ ...HOOK, ...options })
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const reply = await post(request({ text, headers: { ...bearer, ...headers } }))
  return { reply, event: events[0] as unknown as InboundEvent & { text: string } }
}

describe('when', () => {
  it.each([
    [{ action: 'opened' }, true],
    [{ action: ['closed', 'opened'] }, true],
    [{ action: 'closed' }, false],
    [{ action: { not: 'closed' } }, true],
    [{ action: { not: ['opened', 'closed'] } }, false],
    [{ 'pull_request.draft': false }, true],
    [{ 'pull_request.number': 12 }, true],
    [{ 'pull_request.number': '12' }, true],
    [{ 'labels[0].name': 'bug' }, true],
    [{ 'labels.0.name': { like: 'b*' } }, true],
    [{ 'labels.0.name': { like: '*ug' } }, true],
    [{ 'labels.0.name': { like: 'b*x*g' } }, false],
    [{ 'labels.0.name': { like: 'bu*ug' } }, false],
    [{ nothing: { exists: false }, action: { exists: true } }, true],
    [{ nothing: 'x' }, false],
    [{ nothing: null }, true],
    [{ 'headers.x-github-event': 'push' }, true],
    [{ 'headers["x-github-event"]': ['pull_request'] }, false],
    [{ 'constructor.name': { exists: true } }, false],
    [{ '__proto__.polluted': { exists: true } }, false],
    [[{ action: 'closed' }, { action: 'opened' }], true],
    [{ pull_request: 'x' }, false],
  ])('[I17.when] %j: %s', (when, expected) => {
    const scope = {
      action: 'opened',
      pull_request: { draft: false, number: 12 },
      labels: [{ name: 'bug' }],
      headers: { 'x-github-event': 'push' },
    }
    expect(holds(when, scope)).toBe(expected)
  })

  it('[I17.when] what does not hold is filtered: told so, and no message', async () => {
    const options = { when: { 'headers.x-event': ['deploy'], status: { not: 'ok' } } }
    const out = await read(options, { status: 'ok' }, { 'x-event': 'deploy' })
    expect(out.event.kind).toBe('filtered')
    expect(out.reply).toMatchObject({ status: 200 })
    expect(JSON.parse(out.reply.body)).toEqual({ ok: true, id: null, state: 'consumed', reason: 'filtered' })
    expect((await read(options, { status: 'failed' }, { 'x-event': 'deploy' })).event).toMatchObject({
      kind: 'message',
      text: '{"status":"failed"}',
    })
    await expect(openHook({ ...HOOK, when: { 'a[': 'x' } })).rejects.toThrow(/when/)
  })
})

describe('templates', () => {
  const fill = (template: string, scope: Record<string, unknown>) => compileTemplate(template)(scope)

  it('[I17.template] has loops, conditions, defaults and headers', async () => {
    const template =
      '{{ title | default: "no title" }}{% for alert in alerts %}\n- {{ alert.name }}{% if alert.hot %}!{% endif %}{% endfor %} ({{ headers["x-source"] }})'
    const { event } = await read(
      { template },
      { alerts: [{ name: 'cpu', hot: true }, { name: 'disk' }] },
      { 'x-source': 'ci' },
    )
    expect(event.text).toBe('no title\n- cpu!\n- disk (ci)')
    expect((await read({ template: '{{ body[1] }}' }, [1, 2])).event.text).toBe('2')
  })

  it('[I17.template] paths that could always be written still can', () => {
    expect(
      fill('{{commits.0.message}}|{{ a.b-c }}|{{x/y}}|{{a.k:v}}|{{no.such}}', {
        commits: [{ message: 'm' }],
        a: { 'b-c': 1, 'k:v': 2 },
        body: { 'x/y': 3 },
      }),
    ).toBe('m|1|3|2|')
  })

  it('[I23.field-read] a field alone, which is read without the engine, is what the engine makes of it', () => {
    const scope = JSON.parse(
      '{"a":{"b":1,"b-c":[1,"x"],"no":null,"yes":true,"length":7,"size":"big","first":"f"},"s":"text","list":["p","q"],' +
        '"zero":0,"empty":"e","nil":"n","true":"t","size":"root","__proto__":{"c":2},"nested":{"__proto__":{"d":3}}}',
    ) as Record<string, unknown>
    const paths = [
      ...['a', 'a.b', 'a.b-c', 'a.no', 'a.no.deeper', 'a.yes', 'a.length', 'a.size', 'a.first', 'a.b.c'],
      ...['s', 's.length', 's.size', 's.x', 'list', 'list.size', 'list.first', 'list.last', 'list.length'],
      ...['zero', 'empty', 'nil', 'true', 'size', 'nothing', 'nothing.at.all', '__proto__', '__proto__.c'],
      ...['nested.__proto__.d', 'nested', 'constructor', 'a.constructor', 's.constructor', 'list.push'],
    ]
    for (const path of paths) {
      const byEngine = fill(`{{ ${path} }}{{ no_such_field }}`, scope)
      expect(fill(`{{ ${path} }}`, scope), path).toBe(byEngine)
      expect(fill(`{{${path}}}`, scope), path).toBe(byEngine)
    }
    expect(fill('{{ long }}', { long: 'a'.repeat(100_002) })).toBe(`${'a'.repeat(100_000)}…`)
    expect(() => fill('{{ long }}', { long: 'a'.repeat(1_000_001) })).toThrow(/limit/)
  })

  it('[I17.template-bounded] it reaches nothing that the sender did not write, and runs no code', () => {
    const scope = JSON.parse('{"a":{"b":1},"__proto__":{"c":2},"s":"text","list":[1]}') as Record<
      string,
      unknown
    >
    for (const path of [
      'constructor',
      'constructor.name',
      'a.constructor',
      'a.__proto__',
      's.constructor',
      'list.constructor',
      'a.toString',
      'a.hasOwnProperty',
      'process.env',
      'global',
      'require',
      'list.push',
    ])
      expect(fill(`[{{ ${path} }}]`, scope)).toBe('[]')
    expect(({} as { c?: number }).c).toBeUndefined()
    for (const bad of [
      '{% include "/etc/passwd" %}',
      '{% render "x" %}',
      '{% layout "x" %}',
      '{% block x %}{% endblock %}',
      '{{ x | raw }}',
      '{% if %}',
      '{{ x | nothing }}',
      '{% tablerow i in x %}{% endtablerow %}',
    ])
      expect(() => compileTemplate(bad), bad).toThrow()
  })

  it('[I17.template-bounded] a bomb ends, in time and in size', () => {
    const big = { list: Array.from({ length: 2_000 }, (_, index) => index), long: 'a'.repeat(500_000) }
    for (const bomb of [
      '{% for i in (1..1000000000) %}x{% endfor %}',
      '{% for a in list %}{% for b in list %}{% for c in list %}x{% endfor %}{% endfor %}{% endfor %}',
      '{{ long | replace: "a", long }}',
      '{% assign x = long %}{% for a in list %}{% assign x = x | append: x %}{% endfor %}',
      `${'{{ long }}'.repeat(1_000)}`,
    ])
      expect(() => fill(bomb, big), bomb.slice(0, 40)).toThrow(/limit/)
    expect(fill('{{ long }}', big).length).toBe(100_001)
    expect(() => compileTemplate('x'.repeat(30_000))).toThrow(/limit/)
    let nested: unknown = 1
    for (let depth = 0; depth < 200_000; depth++) nested = [nested]
    expect(fill('[{{ nested }}]', { nested })).toBe('[]')
  })

  it('[I17.template-bounded] on a machine that is busy with other work a message is filled all the same', () => {
    let now = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
      now += 1_000
      return now
    })
    try {
      expect(fill('{% for one in list %}{{ one }},{% endfor %}', { list: [1, 2, 3] })).toBe('1,2,3,')
    } finally {
      clock.mockRestore()
    }
  })

  it('[I17.template-bounded] what cannot be filled is unparsable, not lost and not a crash', async () => {
    const { reply, event } = await read(
      {
        template:
          '{% for a in list %}{% for b in list %}{% for c in list %}x{% endfor %}{% endfor %}{% endfor %}',
      },
      { list: Array.from({ length: 3_000 }, () => 1) },
    )
    expect(reply.status).toBe(400)
    expect(event).toMatchObject({ kind: 'unparsable', problem: expect.stringContaining('limit') })
  })

  it('[I17.template] one that cannot be read is an error of the configuration, with its key', async () => {
    for (const key of ['template', 'conversation', 'message_id', 'sender'])
      await expect(openHook({ ...HOOK, [key]: '{% if %}' })).rejects.toMatchObject({
        code: 'config_invalid',
        message: expect.stringContaining(key),
      })
  })
})

describe('expressions', () => {
  it('[I17.expressions] conversation, id and sender are made from body and headers', async () => {
    const options = {
      conversation: '{{ repo }}#{{ number }}',
      message_id: '{{ headers["x-id"] }}-{{ attempt }}',
      sender: '{{ user.login }}',
    }
    const body = { repo: 'a/b', number: 7, attempt: 2, user: { login: 'kate' } }
    const { event } = await read(options, body, { 'x-id': 'n1', 'idempotency-key': 'other' })
    expect(event).toMatchObject({
      conversation: 'a/b#7',
      messageId: 'n1-2',
      sender: { id: 'kate' },
      chat: 'direct',
    })
    const empty = await read(
      { conversation: '{{ none }}', message_id: '{{ none }}', sender: '{{ none }}' },
      {},
      { 'idempotency-key': 'k' },
    )
    expect(empty.event).toMatchObject({
      conversation: 'webhook',
      messageId: 'k',
      sender: { id: 'webhook', limitedByConversation: true },
    })
  })

  it('[I17.expressions] the configuration decides over its recipe, part by part', async () => {
    const options = { recipe: 'generic', template: 'T {{ title }}', conversation: 'all alerts' }
    const { event } = await read(options, { title: 'x', incident_id: '1' })
    expect(event).toMatchObject({ text: 'T x', conversation: 'all alerts' })
  })

  it('[I17.signed-place] under sender_header a conversation that the body names is a group, and has to be listed', async () => {
    const { post, events } = await openHook({ sender_header: 'X-Sender', conversation: '{{ room }}' })
    await post(request({ text: '{"room":"ops"}', headers: { 'x-sender': 'dev' } }))
    await post(request({ text: '{"room":"dev"}', headers: { 'x-sender': 'dev' } }))
    expect(events.map(({ chat }) => chat)).toEqual(['group', 'direct'])
  })

  it('[I17.url-secret] no credential can be shown by a template', async () => {
    const options = {
      auth: { type: 'header', name: 'X-Api-Key', value: 'env:KEY' },
      template: '[{{ headers["x-api-key"] }}{{ headers.authorization }}{{ headers.cookie }}]',
    }
    const { post, events } = await openHook(options)
    await post(request({ text: '{}', headers: { 'x-api-key': KEY, ...bearer, cookie: `s=${KEY}` } }))
    expect(events[0]?.text).toBe('[]')
  })
})

describe('bodies', () => {
  it('[I17.lying-type] what is not what its type says is unparsable where structure is needed', async () => {
    for (const [body, type] of [
      ['not json', 'application/json'],
      ['<a/>', 'application/json; charset=utf-8'],
      ['{"a":', 'application/json'],
      ['{"a":1}{"a":2}', 'application/json'],
    ] as const) {
      const { reply, event } = await read({ template: '{{ a }}' }, body, { 'content-type': type })
      expect([reply.status, event.kind]).toEqual([400, 'unparsable'])
    }
    const { event } = await read({ template: '{{ a }}' }, '{"a":1}', { 'content-type': 'image/png' })
    expect(event.text).toBe('1')
  })

  it('[I17.exact-numbers] a number that no double holds keeps every digit', async () => {
    const options = { template: '{{ n }} {{ list[1] }} {{ body | json }}', message_id: '{{ id }}' }
    const ids = ['820982911946154508', '820982911946154509', '-9007199254740993', '1'.repeat(200)]
    for (const id of ids) {
      const { event } = await read(options, `{ "id":${id} ,"n": ${id},"list":[1,${id}]}`)
      expect(event.messageId).toBe(id)
      expect(event.text).toContain(`${id} ${id} `)
    }
    // Other numbers stay unchanged.
    const { event } = await read(
      { template: '{{ a | plus: 1 }} {{ b }} {{ c }} {{ d }} {{ e }}' },
      '{"a":9007199254740991,"b":0.12345678901234567890,"c":"x 820982911946154508 \\" 820982911946154508","d":1E5,"e":12345678901234567890.5}',
    )
    expect(event.text).toBe(
      '9007199254740992 0.12345678901234568 x 820982911946154508 " 820982911946154508 100000 12345678901234567000',
    )
    for (const body of ['{"a":012345678901234567}', '{"a":1-820982911946154508}', '{"a":"820982911946154508'])
      expect((await read({ template: '{{ a }}' }, body)).event.kind).toBe('unparsable')
  })

  it('[I17.exact-numbers] is linear in whatever was sent', () => {
    for (const piece of ['"\\"', '\\', '"', '1234567890123456789,', '-', '"1234567890123456789'])
      parseJson(`"${piece.repeat(1_000_000 / piece.length)}`)
    const digits = parseJson('1'.repeat(1_000_000))
    expect(String(digits)).toHaveLength(1_000_000)
  })

  it('[I17.encodings] a charset that is named and meant is read, one that lies harms nothing', async () => {
    const { post, events } = await openHook({ secret: 'env:KEY', auth: 'bearer' })
    const send = (bytes: Buffer, headers: Record<string, string>) =>
      post({ ...request({ headers: { authorization: `Bearer ${KEY}`, ...headers } }), body: bytes })
    const type = (charset: string) => ({ 'content-type': `text/plain; Charset="${charset}"` })
    await send(Buffer.from('Grüße', 'latin1'), type('ISO-8859-1'))
    await send(Buffer.from('Grüße'), type('ISO-8859-1'))
    await send(Buffer.from('Grüße', 'utf16le'), type('utf-16le'))
    expect(events.map((one) => one.text)).toEqual(['Grüße', 'Grüße', 'Grüße'])
    for (const charset of ['utf-8', 'nonsense', 'utf-16', 'x'.repeat(5_000), ''])
      expect((await send(Buffer.from('Grü\xffe', 'latin1').subarray(0, 5), type(charset))).status).toBe(400)
  })

  it('[I17.encodings] a compressed body is refused, and told why', async () => {
    const { post } = await openHook({ secret: 'env:KEY', auth: 'bearer' })
    for (const coding of ['gzip', 'br', 'GZIP, identity']) {
      const headers = { authorization: `Bearer ${KEY}`, 'content-encoding': coding }
      const reply = await post({ ...request({ headers }), body: gzipSync('{"a":1}') })
      expect(reply.status).toBe(400)
      expect(reply.body).toMatch(/compressed/)
    }
    const plain = { authorization: `Bearer ${KEY}`, 'content-encoding': 'identity' }
    expect((await post(request({ text: 'hello', headers: plain }))).status).toBe(200)
  })

  it('[I17.nested] a mebibyte of nested JSON is answered', () => {
    const [lists, maps] = [500_000, 100_000]
    const bodies = ['['.repeat(lists) + ']'.repeat(lists), `${'{"event":'.repeat(maps)}1${'}'.repeat(maps)}`]
    for (const recipe of ['github', 'generic'] as const) {
      const meaning = readMeaning({ recipe })
      if (meaning === null) throw new Error('a recipe means something')
      const head = request({ headers: { 'x-github-event': 'push' } })
      for (const body of bodies)
        expect(['message', 'filtered', 'unparsable']).toContain(understand(meaning, body, head, []).kind)
    }
  }, 30_000)

  it('[I17.challenges] url_verification gets its challenge back, and is no message', async () => {
    const { reply, event } = await read(
      {},
      {
        type: 'url_verification',
        token: 'x',
        challenge: '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P',
      },
    )
    expect(reply).toMatchObject({ status: 200, body: '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P' })
    expect(event.kind).toBe('filtered')
    expect((await read({}, { type: 'other', about: '"url_verification"' })).event.kind).toBe('message')
  })
})

describe('recipes', () => {
  it('[I17.foreign-event] a body without what its words are made of is unparsable, and no turn of blanks', () => {
    for (const [recipe, headers] of [
      ['github', { 'x-github-event': 'push' }],
      ['gitea', { 'x-gitea-event': 'issues' }],
      ['bitbucket', { 'x-event-key': 'repo:push' }],
      ['sentry', { 'sentry-hook-resource': 'issue' }],
      ['stripe', {}],
      ['alertmanager', {}],
    ] as const) {
      const meaning = readMeaning({ recipe })
      if (meaning === null) throw new Error('a recipe means something')
      for (const body of ['{"a":1}', '[]', '[[[]]]', '{"repository":null,"alerts":null,"type":""}'])
        expect(understand(meaning, body, request({ headers }), []), recipe).toMatchObject({
          kind: 'unparsable',
          problem: expect.stringContaining(recipe),
        })
    }
    const gitlab = readMeaning({ recipe: 'gitlab' })
    if (gitlab === null) throw new Error('a recipe means something')
    expect(understand(gitlab, '{"object_kind":"push"}', request(), []).kind).toBe('unparsable')
    expect(understand(gitlab, '{"object_kind":"star"}', request(), []).kind).toBe('filtered')
  })

  it('[I17.signed-place] what Shopify did not sign names no conversation', () => {
    const meaning = readMeaning({ recipe: 'shopify' })
    const sample = SAMPLES.shopify['orders/create']
    if (meaning === null || sample === undefined) throw new Error('a recipe means something')
    const named = (topic: string, body: unknown) => {
      const headers = { ...sample.headers, 'x-shopify-topic': topic }
      const understood = understand(meaning, JSON.stringify(body), request({ headers }), [])
      return understood.kind === 'message' ? understood.names.conversation : null
    }
    expect(named('products/update', sample.body)).toBe(named('orders/create', sample.body))
    expect(named('carts/update', { id: 'c1' })).toBe(named('orders/create', { id: 'c1' }))
  })
})
