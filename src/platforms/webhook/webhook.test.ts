// The webhook through the shared platformSuite, and its own cases: credentials, answers, templates, sends.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import type {
  InboundMessage,
  PlatformAdapter,
  RawRequest,
  Received,
  SwitchboardError,
} from '../../contract/index.ts'
import { createGuardedFetch, hmacKey, signSha256 } from '../../kit/index.ts'
import { createFakeIntake } from '../../testing/fake-intake.ts'
import { deliverTo, describePlatform, type PlatformFault } from '../../testing/suites/platform-suite.ts'
import { createTestClock } from '../../testing/test-clock.ts'
import {
  fakeDeps,
  OUT_SECRET,
  recorded,
  request,
  SECRET,
  seedCurl,
  signed,
} from './fixtures/webhook-requests.ts'
import { createWebhook } from './index.ts'

const PAYLOADS = ['github-push', 'github-ping', 'github-workflow-run', 'alertmanager']

function endpointOf(adapter: PlatformAdapter) {
  if (adapter.endpoint === undefined) throw new Error('a webhook has an endpoint')
  return adapter.endpoint
}

/** Shared cases of every fixture with a secret. */
function secretCases(adapter: PlatformAdapter) {
  const deliver = (raw: RawRequest) => () => deliverTo(endpointOf(adapter), raw)
  return {
    inbound: PAYLOADS.map(recorded).map(({ name, headers, body }) => ({
      name,
      deliver: deliver(signed(body, headers)),
    })),
    malformed: [{ name: 'not UTF-8', deliver: deliver(signed(new Uint8Array([0xff, 0xfe, 0x00]))) }],
    unverified: [
      { name: 'no signature', deliver: deliver(request()) },
      { name: 'wrong signature', deliver: deliver({ ...signed('hello'), body: Buffer.from('hell0') }) },
      { name: 'the secret itself', deliver: deliver(request({ headers: { 'x-webhook-secret': SECRET } })) },
      {
        name: 'half a signature',
        deliver: deliver(request({ headers: { 'x-hub-signature-256': 'sha256=ab' } })),
      },
    ],
  }
}

const NOBODY_CALLED = 'nobody is called: readers of the event stream are shown what the outbox holds'
const NO_HISTORY = 'what a sender posts stands nowhere else: it posts again until it is taken'

describePlatform(
  'webhook (two-way)',
  async () => {
    const deps = fakeDeps({ secret: 'env:HOOK', two_way: true })
    const adapter = createWebhook(deps)
    return {
      adapter,
      ...secretCases(adapter),
      address: { integration: 'demo', conversation: 'webhook' },
      planted: [SECRET],
      logLines: () => deps.log.lines,
      close: async () => {},
    }
  },
  {
    faults: [],
    without: {
      down: NOBODY_CALLED,
      silent: NOBODY_CALLED,
      rejects: NOBODY_CALLED,
      busy: NOBODY_CALLED,
      history: NO_HISTORY,
      reads: 'readers are shown rows of the outbox as they are, which the suite has not: see streams.test.ts',
      shown: 'readers are shown rows of the outbox, which the suite has not: see streams.test.ts',
    },
  },
)

describePlatform(
  'webhook (out)',
  async ({ fault }) => {
    const keys: string[] = []
    const bodies: string[] = []
    const clock = createTestClock()
    // The time-out passes after the request has arrived there, not before.
    const target = await foreignServer(fault, keys, bodies, () => void clock.advance(600_000))
    const out = { url: target.url, secret: 'env:OUT', allow_private: true }
    const deps = fakeDeps({ secret: 'env:HOOK', out })
    const adapter = createWebhook(deps, createGuardedFetch({ clock }))
    return {
      adapter,
      ...secretCases(adapter),
      address: { integration: 'demo', conversation: 'webhook' },
      shown: async (key) => keys.filter((one) => one === key).length,
      reads: async () => String(JSON.parse(bodies.at(-1) ?? '{}').message),
      planted: [SECRET, OUT_SECRET, 'planted-path'],
      logLines: () => deps.log.lines,
      close: target.close,
    }
  },
  { faults: ['down', 'silent', 'rejects', 'busy'], without: { history: NO_HISTORY } },
)

async function foreignServer(
  fault: PlatformFault,
  keys: string[] = [],
  bodies: string[] = [],
  onSilence = () => {},
) {
  const server = createServer(async (incoming, response) => {
    if (fault === 'silent') return onSilence()
    const statuses = { none: 204, down: 503, rejects: 422, busy: 429 } as const
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    keys.push(String(incoming.headers['idempotency-key']))
    bodies.push(String(incoming.headers['x-signature-256']), Buffer.concat(chunks).toString())
    response.writeHead(statuses[fault], fault === 'busy' ? { 'retry-after': '7' } : {}).end()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const close = async () => {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/planted-path`, close }
}

async function opened(options: Record<string, unknown>, answer: Partial<Received> = {}) {
  const deps = fakeDeps(options)
  const adapter = createWebhook(deps)
  const intake = createFakeIntake()
  intake.answerWith(() => answer)
  await adapter.start(intake, null)
  const post = async (raw: RawRequest) => {
    const endpoint = endpointOf(adapter)
    const verified = await endpoint.verify(raw)
    const reply = 'status' in verified ? verified : await endpoint.handle(verified)
    return { status: reply.status, body: String(reply.body ?? ''), headers: reply.headers ?? {} }
  }
  const last = () => intake.events.at(-1) as InboundMessage
  return { deps, adapter, intake, post, last }
}

const HEADER = { sender_header: 'X-Sender', two_way: true }
const dev = { 'x-sender': 'dev' }

describe('webhook: who may speak', () => {
  it('[S7.webhook-shared-header] a trusted header names the sender, on loopback only', async () => {
    const { post, last } = await opened(HEADER)
    expect((await post(request({ headers: dev }))).status).toBe(200)
    expect([last().sender.id, last().conversation, last().chat]).toEqual(['dev', 'dev', 'direct'])
    for (const raw of [
      request(),
      request({ headers: { 'x-sender': '' } }),
      request({ headers: dev, fromLoopback: false }),
    ]) {
      expect(await post(raw)).toMatchObject({ status: 403, body: 'forbidden' })
    }
  })

  it('[I35.b4-header] a stranger cannot name himself somebody else: not from elsewhere, not beside the header of a proxy', async () => {
    const near = await opened(HEADER)
    // From elsewhere, with every possible claim: in the header, the query, the body.
    for (const raw of [
      request({ headers: dev, fromLoopback: false }),
      request({ headers: { ...dev, 'x-forwarded-for': '127.0.0.1' }, fromLoopback: false }),
      request({ query: new URLSearchParams('sender=dev&X-Sender=dev') }),
      request({ text: '{"sender":"dev","x-sender":"dev"}' }),
    ])
      expect(await near.post(raw)).toMatchObject({ status: 403, body: 'forbidden' })
    expect(near.intake.events).toEqual([])
    // A client's own header is joined with the proxy's header. The result names no sender.
    const { post, last, intake } = await opened({ ...HEADER, behind_proxy: true })
    const joined = { 'x-sender': 'dev, mallory' }
    await post(request({ headers: joined, fromLoopback: false }))
    expect(last().sender.id).toBe('dev, mallory')
    const twice = { 'x-sender': ['dev', 'mallory'] } as unknown as Record<string, string>
    const before = intake.events.length
    expect((await post(request({ headers: twice, fromLoopback: false }))).status).toBe(403)
    expect(intake.events).toHaveLength(before)
    const named = { 'x-sender': 'mallory', 'x-user': 'dev', from: 'dev' }
    await post(request({ headers: named, query: new URLSearchParams('sender=dev'), fromLoopback: false }))
    expect(last().sender.id).toBe('mallory')
  })

  it('[I35.b4-header] a message of a stranger takes no key of somebody else, in whichever conversation', async () => {
    const { post, last } = await opened({ ...HEADER, behind_proxy: true })
    const placeOf = async (headers: Record<string, string>) => {
      await post(request({ headers: { 'idempotency-key': 'k', ...headers }, fromLoopback: false }))
      return [last().conversation, last().messageId]
    }
    const places = [
      await placeOf({ 'x-sender': 'dev' }),
      await placeOf({ 'x-sender': 'mallory' }),
      await placeOf({ 'x-sender': 'mallory', 'x-conversation': 'dev' }),
      await placeOf({ 'x-sender': 'dev', 'x-conversation': 'ops' }),
      await placeOf({ 'x-sender': 'mallory', 'x-conversation': 'ops' }),
    ]
    expect(new Set(places.map((place) => place.join('\n'))).size).toBe(places.length)
    // A repeat by the same sender is the same message.
    expect(await placeOf({ 'x-sender': 'dev', 'x-conversation': 'ops' })).toEqual(places[3])
  })

  it('[I3.foreign-origin] a page of another site cannot speak as dev', async () => {
    const { post, intake } = await opened(HEADER)
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ]) {
      expect((await post(request({ headers: { ...dev, ...headers } }))).body).toBe('forbidden')
    }
    expect(intake.events).toEqual([])
    const preflight = await post(request({ method: 'OPTIONS', headers: { origin: 'https://evil.example' } }))
    expect(preflight.status).toBe(405)
    expect(Object.keys(preflight.headers).join()).not.toContain('access-control')
  })

  it('behind_proxy believes the header from elsewhere', async () => {
    const { post, last } = await opened({ ...HEADER, behind_proxy: true })
    const raw = request({
      headers: { 'x-sender': 'zo\u00c3\u00ab', host: 'sb.example.com' },
      fromLoopback: false,
    })
    expect((await post(raw)).status).toBe(200)
    expect(last().sender.id).toBe('zoë')
  })

  it('[S7.webhook-hmac-github] a GitHub signature lets in, and the sender is the hook', async () => {
    const { post, last } = await opened({ secret: 'env:HOOK' })
    const push = recorded('github-push')
    const raw = signed(push.body, { ...push.headers, 'x-sender': 'mallory', origin: 'https://evil.example' })
    expect((await post({ ...raw, fromLoopback: false })).status).toBe(200)
    expect(last().sender.id).toBe('webhook')
    expect((await post({ ...raw, body: Buffer.from(`${push.body} `) })).status).toBe(401)
  })

  it('[S7.webhook-shared-header] signature: plain takes the secret in a header', async () => {
    const { post } = await opened({ secret: 'env:HOOK', signature: 'plain' })
    expect((await post(request({ headers: { 'x-webhook-secret': SECRET } }))).status).toBe(200)
    expect((await post(request({ headers: { authorization: `Bearer ${SECRET}` } }))).status).toBe(200)
    expect((await post(request({ headers: { authorization: 'Bearer nope' } }))).status).toBe(401)
    expect((await post(request())).status).toBe(401)
  })

  it('[S7.webhook-forbidden] a sender that the river refuses gets 403 forbidden', async () => {
    for (const reason of [
      'sender_not_allowed',
      'group_not_listed',
      'dm_disabled',
      'policy_unreadable',
    ] as const) {
      const { post } = await opened(HEADER, { state: 'refused', reason })
      expect(await post(request({ headers: dev }))).toMatchObject({ status: 403, body: 'forbidden' })
    }
  })

  it('naming another conversation is speaking in a group, which has to be listed', async () => {
    const { post, last } = await opened(HEADER)
    await post(request({ headers: { ...dev, 'x-conversation': 'ci' } }))
    expect([last().conversation, last().chat, last().mentioned]).toEqual(['ci', 'group', true])
    await post(request({ headers: dev, query: new URLSearchParams('conversation=dev&thread=7') }))
    expect([last().conversation, last().thread, last().chat]).toEqual(['dev', '7', 'direct'])
  })

  it('options that do not hold are told by key', async () => {
    for (const [options, told] of [
      [{}, 'secret'],
      [{ secret: 'env:A', sender_header: 'X-Sender' }, 'not both'],
      [{ secret: 'env:A', two_way: true, out: { url: 'https://x.example' } }, 'two_way'],
      [{ secret: 'env:A', two_wey: true }, 'two_wey'],
    ] as const) {
      await expect(opened(options)).rejects.toMatchObject({
        code: 'config_invalid',
        message: expect.stringContaining(told),
      })
    }
  })
})

describe('webhook: what is answered', () => {
  it('[S7.webhook-post] a message is answered with its id and state; a repeat says so', async () => {
    const { post, intake } = await opened(HEADER)
    expect(JSON.parse((await post(request({ headers: dev }))).body)).toEqual({
      ok: true,
      id: 't_fake_1',
      state: 'queued',
    })
    intake.answerWith(() => ({ id: 't_fake_1', duplicate: true, state: 'answered' }))
    const again = await post(
      request({ headers: { ...dev, 'idempotency-key': 'k1', 'x-github-delivery': 'd1' } }),
    )
    expect(JSON.parse(again.body)).toEqual({ ok: true, id: 't_fake_1', state: 'answered', duplicate: true })
    expect((intake.events.at(-1) as InboundMessage).messageId).toBe('k1')
    expect((intake.events[0] as InboundMessage).messageId).toBeUndefined()
  })

  it('[S7.webhook-any-type] [S7.webhook-meta] any content type is taken raw, with path and method', async () => {
    const { post, last } = await opened(HEADER)
    const { headers, bodies } = seedCurl()
    for (const type of [
      headers['content-type'],
      'application/json',
      'text/plain',
      'application/octet-stream',
      undefined,
    ]) {
      await post(request({ text: bodies[0] ?? '', headers: { ...headers, 'content-type': type } }))
      expect(last().text).toBe('build failed on main: https://ci.example.com/run/1234')
    }
    expect(last().meta).toEqual({ path: '/hooks/demo', method: 'POST' })
    await post(request({ body: Buffer.from('a\0b'), headers: dev }))
    expect(last().text).toBe('a\uFFFDb')
  })

  it('[S7.webhook-verdict] [I35.b45-verdict-newline] a verdict is answered in the words of the seed, to the byte', async () => {
    const verdict = await opened(HEADER, { state: 'consumed', reason: 'verdict' })
    expect(await verdict.post(request({ headers: dev, text: 'yes abcde' }))).toMatchObject({
      status: 200,
      body: 'verdict recorded',
    })
    const late = await opened(HEADER, {
      state: 'consumed',
      reason: 'verdict_late',
      answer: 'already answered by kate',
    })
    expect((await late.post(request({ headers: dev }))).body).toBe('already answered by kate')
    const command = await opened(HEADER, { state: 'consumed', reason: 'command', answer: 'a fresh session' })
    expect(await command.post(request({ headers: dev }))).toMatchObject({
      status: 200,
      body: 'a fresh session',
    })
  })

  it('[I35.b38] a command that was carried out before is told as a repeat, for nothing is done by it', async () => {
    const again = { id: 't_fake_1', state: 'consumed', duplicate: true } as const
    const command = await opened(HEADER, { ...again, reason: 'command' })
    expect(JSON.parse((await command.post(request({ headers: dev, text: '/new' }))).body)).toEqual({
      ok: true,
      ...again,
    })
    const verdict = await opened(HEADER, { ...again, reason: 'verdict' })
    expect((await verdict.post(request({ headers: dev, text: 'yes abcde' }))).body).toBe('verdict recorded')
  })

  it('[S16.429] [I14.limit-told] a limit is answered 429 with Retry-After', async () => {
    const { post } = await opened(HEADER, {
      state: 'refused',
      reason: 'rate_limited',
      id: null,
      retryAfterMs: 2_100,
    })
    const reply = await post(request({ headers: dev }))
    expect([reply.status, reply.headers['retry-after']]).toEqual([429, '3'])
    expect(JSON.parse(reply.body).code).toBe('rate_limited')
  })

  it('[S16.400] [S16.unparsable] bad bytes, and a template that makes no text, are told apart from a refusal', async () => {
    const { post } = await opened(HEADER)
    const bad = await post(request({ headers: dev, body: new Uint8Array([0xc3, 0x28]) }))
    expect([bad.status, JSON.parse(bad.body).error]).toEqual([400, 'unparsable: the body is not valid UTF-8'])
    const template = '{{ nothing }}'
    const empty = await opened({ ...HEADER, template }, { state: 'refused', reason: 'empty' })
    expect((await empty.post(request({ headers: dev, text: '{}' }))).status).toBe(400)
    expect(empty.last().text).toBe('')
  })

  it('other methods and paths are told so', async () => {
    const { post } = await opened({ secret: 'env:HOOK' })
    expect(await post(request({ method: 'GET' }))).toMatchObject({ status: 405, headers: { allow: 'POST' } })
    expect((await post(request({ path: '/nothing' }))).status).toBe(404)
    expect((await post(request({ method: 'GET', path: '/events' }))).status).toBe(404)
  })
})

describe('webhook: template', () => {
  const template = '{{repository.full_name}}: {{ workflow_run.conclusion }} {{commits.0.message}}{{no.such}}'

  it('[S7.webhook-template] fills paths from JSON, missing ones with nothing', async () => {
    const { post, last } = await opened({ secret: 'env:HOOK', template })
    const run = recorded('github-workflow-run')
    await post(signed(run.body, run.headers))
    expect(last().text).toBe('octo-org/octo-repo: failure ')
    expect(last().meta?.event).toBe('workflow_run')
    const push = recorded('github-push')
    const form = new URLSearchParams({ payload: push.body }).toString()
    await post(signed(form, { 'content-type': 'application/x-www-form-urlencoded' }))
    expect(last().text).toBe('octo-org/octo-repo:  Update README.md')
  })

  it('reaches no inherited property and records what has no structure', async () => {
    const { post, last, intake } = await opened({
      secret: 'env:HOOK',
      template: '[{{constructor.name}}{{__proto__}}{{a}}]',
    })
    await post(signed('{"a":{"b":1}}'))
    expect(last().text).toBe('[{"b":1}]')
    expect((await post(signed('not json'))).status).toBe(400)
    expect(intake.events.at(-1)?.kind).toBe('unparsable')
  })
})

describe('webhook: out', () => {
  it('[S7.webhook-out] posts signed JSON with urgency and an idempotency key', async () => {
    const bodies: string[] = []
    const target = await foreignServer('none', [], bodies)
    const deps = fakeDeps({
      secret: 'env:HOOK',
      out: { url: target.url, secret: 'env:OUT', allow_private: true },
    })
    const adapter = createWebhook(deps, createGuardedFetch({ clock: createTestClock() }))
    const to = { integration: 'demo', conversation: 'ops' }
    const op = { kind: 'text', text: 'disk full', urgency: 'high' } as const
    expect(await adapter.send({ to, op, key: 'o_1', seq: 1 })).toEqual({ platformIds: ['o_1'] })
    const [signature, body = ''] = bodies
    expect(signature).toBe(signSha256(hmacKey(OUT_SECRET), body))
    expect(JSON.parse(body)).toMatchObject({
      message: 'disk full',
      chat_id: 'demo:ops',
      urgency: 'high',
      id: 'o_1',
    })
    await target.close()
  })

  it('a private URL is refused for good unless allowed', async () => {
    const deps = fakeDeps({ secret: 'env:HOOK', out: { url: 'http://127.0.0.1:9/' } })
    const adapter = createWebhook(deps, createGuardedFetch({ clock: createTestClock() }))
    const to = { integration: 'demo', conversation: 'ops' }
    const error = await adapter
      .send({ to, op: { kind: 'text', text: 'x' }, key: 'o_1', seq: 1 })
      .catch((e: SwitchboardError) => e)
    expect(error).toMatchObject({ code: 'platform_rejected', hint: expect.stringContaining('allow_private') })
  })

  it('[S7.webhook-one-way] a one-way hook sends nothing and says so', async () => {
    const { adapter } = await opened({ secret: 'env:HOOK' })
    const to = { integration: 'demo', conversation: 'ops' }
    await expect(adapter.send({ to, op: { kind: 'text', text: 'x' }, key: 'o_1', seq: 1 })).rejects.toThrow(
      'integration demo is one-way',
    )
    expect(adapter.abilities.oneWay).toBe(true)
  })
})
