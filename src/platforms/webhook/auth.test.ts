// Proof as data: each form accepts its sender, signed by the vendor's own library if there is one, and no other.
import { createHmac, createSecretKey, generateKeyPairSync, sign as signEd25519 } from 'node:crypto'
import { Webhooks } from '@octokit/webhooks'
import { verifyKey } from 'discord-interactions'
import Stripe from 'stripe'
import { Webhook as Svix } from 'svix'
import { describe, expect, it } from 'vitest'
import { KEY, openHook, SECRETS } from './fixtures/hook-scene.ts'
import { request } from './fixtures/webhook-requests.ts'
import { NAMED_FORMS, signForm } from './signed-form.ts'

const BODY = '{"id":"evt_1","type":"invoice.paid"}'

const hex = (text: string, key = KEY) => createHmac('sha256', key).update(text).digest('hex')
const base64 = (text: string, key = KEY) => createHmac('sha256', key).update(text).digest('base64')
const seconds = (now: number) => String(Math.floor(now / 1000))
const signOctokit = (secret: string, body: string) => new Webhooks({ secret }).sign(body)
const verifyOctokit = (secret: string, body: string, signature: string) =>
  new Webhooks({ secret }).verify(body, signature)
const stripe = new Stripe('sk_test_nothing')

interface Sender {
  readonly options: Record<string, unknown>
  /** A signed request of the sender: its headers, and its path if the proof is there. */
  readonly sends: (
    key: string,
    now: number,
    body: string,
  ) => Record<string, string> | Promise<Record<string, string>>
  readonly path?: (key: string) => string
  readonly wrongStatus?: number
}

const keyed = (auth: unknown) => ({ auth, secret: 'env:KEY' })

/** Senders that got 401 before `auth` existed, and the forms that worked. */
const SENDERS: Readonly<Record<string, Sender>> = {
  'github, by its library': {
    options: keyed('github'),
    sends: async (key, _, body) => ({ 'x-hub-signature-256': await signOctokit(key, body) }),
  },
  'gitea (documented)': {
    options: keyed('gitea'),
    sends: (key, _, body) => ({ 'x-hub-signature-256': `sha256=${hex(body, key)}` }),
  },
  'stripe, by its library': {
    options: keyed('stripe'),
    sends: (secret, now, payload) => ({
      'stripe-signature': stripe.webhooks.generateTestHeaderString({
        payload,
        secret,
        timestamp: Math.floor(now / 1000),
      }),
    }),
  },
  'standard, by the library of Svix': {
    options: { auth: 'standard', secret: 'env:WHSEC' },
    sends: (key, now, body) => {
      const secret =
        key === KEY ? (SECRETS['env:WHSEC'] ?? '') : `whsec_${Buffer.from(key).toString('base64')}`
      return {
        'svix-id': 'msg_1',
        'svix-timestamp': seconds(now),
        'svix-signature': new Svix(secret).sign('msg_1', new Date(now), body),
      }
    },
  },
  'slack (documented)': {
    options: keyed('slack'),
    sends: (key, now, body) => ({
      'x-slack-request-timestamp': seconds(now),
      'x-slack-signature': `v0=${hex(`v0:${seconds(now)}:${body}`, key)}`,
    }),
  },
  'gitlab (documented)': { options: keyed('gitlab'), sends: (key) => ({ 'x-gitlab-token': key }) },
  'bitbucket (documented)': {
    options: keyed('bitbucket'),
    sends: (key, _, body) => ({ 'x-hub-signature': `sha256=${hex(body, key)}` }),
  },
  'jira (documented)': {
    options: keyed('jira'),
    sends: (key, _, body) => ({ 'x-hub-signature': `sha256=${hex(body, key)}` }),
  },
  'shopify (documented)': {
    options: keyed('shopify'),
    sends: (key, _, body) => ({ 'x-shopify-hmac-sha256': base64(body, key) }),
  },
  'linear (documented)': {
    options: keyed('linear'),
    sends: (key, _, body) => ({ 'linear-signature': hex(body, key) }),
  },
  'sentry (documented)': {
    options: keyed('sentry'),
    sends: (key, _, body) => ({ 'sentry-hook-signature': hex(body, key), 'sentry-hook-timestamp': '1' }),
  },
  'pagerduty (documented)': {
    options: keyed('pagerduty'),
    sends: (key, _, body) => ({
      'x-pagerduty-signature': `v1=${hex(body, 'a key that is going')},v1=${hex(body, key)}`,
    }),
  },
  'Basic auth': {
    options: { auth: { type: 'basic', user: 'kate', secret: 'env:KEY' } },
    sends: (key) => ({ authorization: `Basic ${Buffer.from(`kate:${key}`).toString('base64')}` }),
  },
  'a bearer': { options: keyed('bearer'), sends: (key) => ({ authorization: `Bearer ${key}` }) },
  'a key header': {
    options: { auth: { type: 'header', name: 'X-Api-Key', value: 'env:KEY' } },
    sends: (key) => ({ 'x-api-key': key }),
  },
  'a secret in the URL': {
    options: keyed('url_secret'),
    sends: () => ({}),
    path: (key) => `/${encodeURIComponent(key)}`,
    wrongStatus: 404,
  },
}

describe('auth', () => {
  it.each(Object.entries(SENDERS))(
    '[I17.was-401] [I17.auth-forms] [I17.vendor-signs] %s',
    async (_, sender) => {
      const { post, events, now, log } = await openHook(sender.options)
      const body = JSON.stringify({ ...JSON.parse(BODY), webhookTimestamp: now() })
      const send = async (key: string, sent = body) => {
        const headers = await sender.sends(key, now(), body)
        return post(request({ text: sent, headers, path: sender.path?.(key) ?? '', fromLoopback: false }))
      }
      expect(await send(KEY)).toMatchObject({ status: 200 })
      expect(events).toHaveLength(1)
      expect(events[0]?.sender.id).toBe('webhook')
      const wrong = sender.wrongStatus ?? 401
      expect((await send('another-key')).status).toBe(wrong)
      expect((await post(request({ text: body, fromLoopback: false }))).status).toBe(wrong)
      expect(events).toHaveLength(1)
      const told = JSON.stringify([events, log.lines])
      for (const secret of Object.values(SECRETS)) expect(told).not.toContain(secret)
    },
  )

  it('[I17.auth-forms] a body that was changed on its way is refused by every form that signs it', async () => {
    const signing = Object.entries(SENDERS).filter(([name]) => !/gitlab|Basic|bearer|header|URL/.test(name))
    expect(signing.length).toBeGreaterThan(10)
    for (const [, sender] of signing) {
      const { post, now } = await openHook(sender.options)
      const body = JSON.stringify({ webhookTimestamp: now(), n: 1 })
      const headers = await sender.sends(KEY, now(), body)
      expect((await post(request({ text: body.replace('"n":1', '"n":2'), headers }))).status).toBe(401)
    }
  })

  it('[I17.vendor-signs] what we sign is verified by the libraries of GitHub, Stripe and Svix', async () => {
    const body = Buffer.from(BODY)
    const key = createSecretKey(KEY, 'utf8')
    const now = Date.now()
    const github = signForm(NAMED_FORMS.github, key, { body, now, id: 'd1' })
    expect(await verifyOctokit(KEY, BODY, github['x-hub-signature-256'] ?? '')).toBe(true)
    const paid = signForm(NAMED_FORMS.stripe, key, { body, now, id: 'd1' })
    expect(stripe.webhooks.constructEvent(BODY, paid['stripe-signature'] ?? '', KEY).id).toBe('evt_1')
  })

  it('[I17.rotation] a list of keys: the old and the new one count', async () => {
    const { post } = await openHook({ auth: 'github', secret: ['env:KEY', 'env:OLD'] })
    for (const [key, status] of [
      [KEY, 200],
      [SECRETS['env:OLD'] ?? '', 200],
      ['neither', 401],
    ] as const) {
      const headers = { 'x-hub-signature-256': await signOctokit(key, BODY) }
      expect((await post(request({ text: BODY, headers }))).status).toBe(status)
    }
  })

  it('[I17.tolerance] times of tomorrow and of ten minutes ago do not count', async () => {
    for (const name of ['slack', 'stripe'] as const) {
      const { post, now } = await openHook(keyed(name))
      const key = createSecretKey(KEY, 'utf8')
      for (const [offset, status] of [
        [0, 200],
        [-299_000, 200],
        [-600_000, 401],
        [86_400_000, 401],
      ] as const) {
        const headers = signForm(NAMED_FORMS[name], key, {
          body: Buffer.from(BODY),
          now: now() + offset,
          id: 'x',
        })
        expect((await post(request({ text: BODY, headers }))).status).toBe(status)
      }
    }
  })

  it('[I17.two-signatures] one right signature of several is enough; two times are none', async () => {
    const { post, now } = await openHook(keyed('stripe'))
    const t = seconds(now())
    const right = hex(`${t}.${BODY}`)
    for (const [value, status] of [
      [`t=${t},v1=${'0'.repeat(64)},v1=${right}`, 200],
      [`t=${t},v0=${right}`, 401],
      [`t=${t},t=${t},v1=${right}`, 401],
      [`v1=${right}`, 401],
      [`t=${t},v1=${right.slice(2)}`, 401],
      [`t=${t},${'v1=00,'.repeat(5_000)}v1=${right}`, 401],
    ] as const)
      expect((await post(request({ text: BODY, headers: { 'stripe-signature': value } }))).status).toBe(
        status,
      )
    const github = await openHook(keyed('github'))
    const good = `sha256=${hex(BODY)}`
    // Node joins a repeated header.
    for (const value of [`${good}, ${good}`, [good, good], '', 'sha256='])
      expect(
        (await github.post(request({ text: BODY, headers: { 'x-hub-signature-256': value } }))).status,
      ).toBe(401)
  })

  it('[I17.replay] [I17.unsigned-id] a signed time makes the request one of its kind, whatever id is put beside it', async () => {
    for (const [name, id] of [
      ['slack', /^signed:[\w-]{43}$/],
      ['standard', /^msg_1$/],
    ] as const) {
      const sender = SENDERS[Object.keys(SENDERS).find((one) => one.startsWith(name)) ?? '']
      if (sender === undefined) throw new Error('no such sender')
      const { post, events, now } = await openHook(sender.options)
      const headers = await sender.sends(KEY, now(), BODY)
      for (const key of ['a', 'b'])
        await post(
          request({ text: BODY, headers: { ...headers, 'idempotency-key': key, 'x-github-delivery': key } }),
        )
      expect(events.map((event) => event.messageId)).toEqual([events[0]?.messageId, events[0]?.messageId])
      expect(events[0]?.messageId).toMatch(id)
    }
  })

  it('[I35.b45-unsigned-id] [I35.b38] of a signed body no id counts that the signature does not cover', async () => {
    const ids = (key: string) => ({
      ...{ 'webhook-id': key, 'idempotency-key': key, 'x-github-delivery': key, 'x-gitea-delivery': key },
      ...{ 'x-request-uuid': key, 'request-id': key, 'x-shopify-webhook-id': key },
      'x-atlassian-webhook-identifier': key,
    })
    const forms = [
      'github',
      'gitea',
      'bitbucket',
      'jira',
      'shopify',
      'sentry',
      'pagerduty',
      'slack',
      'stripe',
    ] as const
    for (const name of forms) {
      const own = { ...keyed(name), message_id: '{{ headers["idempotency-key"] }}:{{ query.n }}:{{ n }}' }
      const byQuery = { ...keyed(name), message_id: '{{ query.n }}' }
      const recipe = { secret: 'env:KEY', recipe: name }
      for (const options of [keyed(name), own, byQuery, ...(name === 'slack' ? [] : [recipe])]) {
        const { post, events, now } = await openHook(options)
        const send = async (body: string, key: string) => {
          const headers = signForm(NAMED_FORMS[name], createSecretKey(KEY, 'utf8'), {
            ...{ body: Buffer.from(body), now: now(), id: 'x' },
          })
          await post(
            request({
              text: body,
              headers: { ...headers, ...ids(key) },
              query: new URLSearchParams({ n: key }),
            }),
          )
          return events.at(-1)?.messageId
        }
        const first = await send(BODY, 'a')
        expect([options, first]).toEqual([options, expect.stringMatching(/./)])
        expect([options, await send(BODY, 'b')]).toEqual([options, first])
        // A signed id in the body stays the key. Of these recipes only Stripe's has one.
        const same = name === 'stripe' && options === recipe
        expect([options, (await send(BODY.replace('{', '{ '), 'a')) === first]).toEqual([options, same])
      }
    }
  })

  it('[I35.b38] an id that the signed body holds stays the key, also where its event is named by a header', async () => {
    const options = { ...keyed('github'), message_id: '{{ n }}' }
    const { post, events } = await openHook(options)
    const body = JSON.stringify({ n: 'run-7' })
    const headers = { 'x-hub-signature-256': await signOctokit(KEY, body), 'x-github-delivery': 'd1' }
    await post(request({ text: body, headers }))
    expect(events[0]?.messageId).toBe('run-7')
    // An id with a part from a header is not signed, so the signature is the key.
    const mixed = await openHook({
      secret: 'env:KEY',
      recipe: 'github',
      message_id: '{{ event }}:{{ n }}',
      template: '{{ n }}',
    })
    await mixed.post(request({ text: body, headers: { ...headers, 'x-github-event': 'push' } }))
    expect(mixed.events[0]?.messageId).toMatch(/^signed:/)
  })

  it('[I35.b45-own-signature] an own form whose parts can slide into each other is refused', async () => {
    const own = (signed: string) => ({
      auth: { type: 'hmac', header: 'x-sig', signed, id: 'x-id', timestamp: 'x-at' },
      secret: 'env:KEY',
    })
    for (const signed of [
      '{timestamp}{id}{body}',
      '{id}{timestamp}.{body}',
      '{timestamp}.{id}{body}',
      '{body}{id}{timestamp}',
    ])
      await expect(openHook(own(signed))).rejects.toThrow(/auth.signed: .*something between/)
    // Each of these has only one reading: a time has digits, and one with ten times the value is in another century.
    for (const signed of ['{timestamp}.{id}.{body}', '{id}|{timestamp}{body}']) {
      const { post, now, events } = await openHook(own(signed))
      const at = seconds(now())
      const send = (id: string, time: string, text: string, sig: string) =>
        post(request({ text, headers: { 'x-sig': sig, 'x-id': id, 'x-at': time } }))
      const sig = hex(signed.replace('{timestamp}', at).replace('{id}', 'a').replace('{body}', '5.b.c'))
      expect((await send('a', at, '5.b.c', sig)).status).toBe(200)
      for (const [id, time, text] of [
        ['a.5', at, 'b.c'],
        ['a.5.b', at, 'c'],
        ['a', `${at}5`, '.b.c'],
        ['a', `${at}5.`, 'b.c'],
      ] as const)
        expect([id, time, (await send(id, time, text, sig)).status]).toEqual([id, time, 401])
      expect(events).toHaveLength(1)
    }
    // A written time ends at its end, whatever a lenient parser makes of the rest.
    const iso = await openHook({
      auth: {
        ...{ type: 'hmac', header: 'x-sig', signed: '{timestamp}{body}' },
        timestamp: { header: 'x-at', unit: 'iso' },
      },
      secret: 'env:KEY',
    })
    const written = new Date(iso.now()).toISOString()
    const lenient = `${new Date(iso.now()).toUTCString()}(a)`
    const says = async (time: string, text: string) =>
      (await iso.post(request({ text, headers: { 'x-sig': hex(time + text), 'x-at': time } }))).status
    expect([await says(written, '(a)b'), await says(lenient, 'b')]).toEqual([200, 401])
    // A body that begins or ends like a time is not a time.
    for (const [signed, id, time, text] of [
      ['{id}.{timestamp}.{body}', 'a.AT', 'AT', 'rest'],
      ['{body}.{timestamp}', '', 'AT.AT', 'pay'],
      ['{body}.{timestamp}.{id}', 'AT.a', 'AT', 'pay'],
    ] as const) {
      const named = signed.includes('{id}')
      const { id: _, ...timed } = own(signed).auth
      const { post, now } = await openHook(named ? own(signed) : { auth: timed, secret: 'env:KEY' })
      const at = (words: string) => words.replaceAll('AT', seconds(now()))
      const whole = signed.replace('{id}', id).replace('{timestamp}', time).replace('{body}', text)
      const headers = { 'x-sig': hex(at(whole)), 'x-id': at(id), 'x-at': at(time) }
      expect([signed, (await post(request({ text: at(text), headers }))).status]).toEqual([signed, 401])
    }
    // A fraction belongs to the time, and not to the text after it.
    const { post, now } = await openHook(own('{id}|{timestamp}.{body}'))
    const at = seconds(now())
    const headers = { 'x-sig': hex(`a|${at}.5.b`), 'x-id': 'a' }
    expect((await post(request({ text: '5.b', headers: { ...headers, 'x-at': at } }))).status).toBe(200)
    expect((await post(request({ text: 'b', headers: { ...headers, 'x-at': `${at}.5` } }))).status).toBe(401)
  })

  it('[I35.b30] pings of GitHub’s organisations and Apps, which name no repository, are taken', async () => {
    const sender = { login: 'octocat' }
    const organization = { login: 'octo-org' }
    const pings = [
      { zen: 'Design for failure.', hook_id: 1, hook: { type: 'Organization' }, organization, sender },
      { zen: 'Design for failure.', hook_id: 2, hook: { type: 'App', app_id: 9 } },
    ]
    for (const template of [{}, { template: '{{ zen }}' }])
      for (const ping of pings) {
        const { post, events } = await openHook({ secret: 'env:KEY', recipe: 'github', ...template })
        const text = JSON.stringify(ping)
        const headers = { 'x-hub-signature-256': await signOctokit(KEY, text), 'x-github-event': 'ping' }
        expect([template, (await post(request({ text, headers }))).status]).toEqual([template, 200])
        expect(events.map(({ kind }) => kind as string)).toEqual(['filtered'])
      }
    // A request with another event name and without a repository still is no event of GitHub.
    const { post } = await openHook({ secret: 'env:KEY', recipe: 'github' })
    const headers = { 'x-hub-signature-256': await signOctokit(KEY, '{}'), 'x-github-event': 'push' }
    expect((await post(request({ text: '{}', headers }))).status).toBe(400)
  })

  it('[I35.b38] two signatures over one body, by two keys, are one message', async () => {
    const { post, events } = await openHook({ auth: 'pagerduty', secret: ['env:KEY', 'env:OLD'] })
    for (const key of [KEY, SECRETS['env:OLD'] ?? '']) {
      const headers = { 'x-pagerduty-signature': `v1=${hex(BODY, key)}` }
      expect((await post(request({ text: BODY, headers }))).status).toBe(200)
    }
    expect(events.map(({ messageId }) => messageId)).toEqual([events[0]?.messageId, events[0]?.messageId])
  })

  it('[I17.signed-place] a conversation named outside of the signature is refused', async () => {
    const { post, events } = await openHook(keyed('github'))
    const headers = { 'x-hub-signature-256': await signOctokit(KEY, BODY) }
    for (const raw of [
      request({ text: BODY, headers, query: new URLSearchParams('conversation=ops') }),
      request({ text: BODY, headers, query: new URLSearchParams('thread=ops') }),
      request({ text: BODY, headers: { ...headers, 'x-conversation': 'ops' } }),
    ])
      expect(await post(raw)).toMatchObject({ status: 400, body: expect.stringContaining('conversation') })
    expect(
      events.every((event) => (event.kind as string) === 'unparsable' && event.conversation === 'webhook'),
    ).toBe(true)
    // The same text is accepted once it is sent correctly, and refused ones are stored once.
    expect((await post(request({ text: BODY, headers }))).status).toBe(200)
    const keys = events.map(({ messageId }) => messageId)
    expect([new Set(keys.slice(0, 3)).size, new Set(keys).size]).toEqual([1, 2])
    const bearer = await openHook(keyed('bearer'))
    const query = new URLSearchParams('conversation=ops')
    await bearer.post(request({ headers: { authorization: `Bearer ${KEY}` }, query }))
    expect(bearer.events[0]?.conversation).toBe('ops')
  })

  it('[I17.loopback] takes a bare curl from this machine alone, as local', async () => {
    const { post, events } = await openHook({ auth: 'loopback' })
    expect((await post(request())).status).toBe(200)
    expect([events[0]?.sender.id, events[0]?.conversation]).toEqual(['local', 'local'])
    for (const raw of [
      request({ fromLoopback: false }),
      request({ headers: { origin: 'https://evil.example' } }),
      request({ headers: { 'sec-fetch-site': 'cross-site' } }),
    ])
      expect((await post(raw)).status).toBe(403)
  })

  it('[I17.url-secret] the secret is in the path, and in nothing that is kept or told', async () => {
    const { post, events, log } = await openHook({ ...keyed('url_secret'), two_way: true })
    expect((await post(request({ path: `/${KEY}` }))).status).toBe(200)
    expect(events[0]?.meta?.path).toBe('/hooks/demo')
    for (const path of ['', '/', '/wrong', `/${KEY}x`, `/${KEY}/`, `/${KEY}/nothing`, '/%', '/events'])
      expect(await post(request({ path }))).toMatchObject({ status: 404 })
    expect((await post(request({ path: `/${KEY}/events`, method: 'GET' }))).status).toBe(200)
    expect(JSON.stringify([events, log.lines])).not.toContain(KEY)
  })

  it('[I17.auth-own-form] a form of one’s own is verified as it is written', async () => {
    const auth = {
      type: 'hmac',
      header: 'X-Acme-Signature',
      prefix: 'v2:',
      separator: ';',
      encoding: 'base64',
      hash: 'sha512',
      signed: '{id}|{timestamp}|{body}',
      id: 'X-Acme-Id',
      timestamp: { header: 'X-Acme-Time', unit: 'ms' },
      tolerance: '10s',
    }
    const { post, events, now } = await openHook({ auth, secret: 'env:KEY' })
    const at = String(now())
    const signature = createHmac('sha512', KEY).update(`n1|${at}|${BODY}`).digest('base64')
    const headers = { 'x-acme-id': 'n1', 'x-acme-time': at, 'x-acme-signature': `v1:AAAA;v2:${signature}` }
    expect((await post(request({ text: BODY, headers }))).status).toBe(200)
    expect(events[0]?.messageId).toBe('n1')
    for (const bad of [
      { ...headers, 'x-acme-id': 'n2' },
      { ...headers, 'x-acme-time': String(now() + 11_000) },
      { ...headers, 'x-acme-time': '' },
      { ...headers, 'x-acme-signature': signature },
    ])
      expect((await post(request({ text: BODY, headers: bad }))).status).toBe(401)
    expect(events).toHaveLength(1)
  })

  it.each([
    [keyed('github'), 'X-Hub-Signature-256'],
    [{ auth: { type: 'header', name: 'X-Api-Key', value: 'env:KEY' } }, 'X-Api-Key'],
    [{ auth: 'bearer', secret: 'env:KEY' }, 'Authorization: Bearer'],
  ])(
    '[I17.auth-forms] what is missing is told by the name that was configured: %j',
    async (options, name) => {
      const { post } = await openHook(options)
      const reply = await post(request({ text: BODY, headers: {} }))
      expect([reply.status, String(reply.body).includes(`(${name})`)]).toEqual([401, true])
    },
  )

  it('[I17.ed25519] a sender that signs by Ed25519, as its own library verifies it', async () => {
    const pair = generateKeyPairSync('ed25519')
    const publicKey = pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex')
    const { post, now } = await openHook({ auth: { type: 'ed25519', public_key: publicKey } })
    const at = seconds(now())
    const signature = signEd25519(null, Buffer.from(at + BODY), pair.privateKey).toString('hex')
    expect(await verifyKey(BODY, signature, at, publicKey)).toBe(true)
    const headers = { 'x-signature-ed25519': signature, 'x-signature-timestamp': at }
    expect((await post(request({ text: BODY, headers }))).status).toBe(200)
    expect((await post(request({ text: `${BODY} `, headers }))).status).toBe(401)
    const later = { ...headers, 'x-signature-timestamp': String(Number(at) + 1) }
    expect((await post(request({ text: BODY, headers: later }))).status).toBe(401)
  })

  it('[I17.challenges] the words of a GET come back, and a verify token must be ours', async () => {
    const { post } = await openHook({ ...keyed('github'), verify_token: 'env:OLD' })
    const get = (query: string) => post(request({ method: 'GET', query: new URLSearchParams(query) }))
    expect(await get('challenge=abc')).toMatchObject({ status: 200, body: 'abc' })
    expect(await get('hub.mode=subscribe&hub.challenge=42')).toMatchObject({ status: 200, body: '42' })
    const ours = encodeURIComponent(SECRETS['env:OLD'] ?? '')
    expect(await get(`hub.challenge=42&hub.verify_token=${ours}`)).toMatchObject({ status: 200, body: '42' })
    expect((await get('hub.challenge=42&hub.verify_token=guess')).status).toBe(403)
    expect((await get('challenge=<script> alert')).status).toBe(405)
    expect((await get('')).status).toBe(405)
  })

  it('[I17.auth-short-forms] options that do not hold are told by key', async () => {
    for (const [options, told] of [
      [{ auth: 'github' }, 'secret'],
      [{ auth: 'loopback', secret: 'env:KEY' }, 'no "secret"'],
      [{ auth: 'githup', secret: 'env:KEY' }, 'auth'],
      [{ auth: 'github', signature: 'plain', secret: 'env:KEY' }, 'not both'],
      [{ auth: 'basic', secret: 'env:KEY' }, 'user:password'],
      [{ auth: { type: 'header', name: 'X' } }, 'value'],
      [{ auth: { type: 'hmac', header: 'X', signed: '{timestamp}' }, secret: 'env:KEY' }, '{body}'],
      [{ auth: { type: 'hmac', header: 'X', timestamp: 'T' }, secret: 'env:KEY' }, 'part of what is signed'],
      [{ auth: { type: 'sns' } }, 'topics'],
      [{ auth: { type: 'sns', topics: ['t'] }, two_way: true }, 'two_way'],
      [{ auth: { type: 'github', user: 'x' }, secret: 'env:KEY' }, 'user'],
      [{ auth: { type: 'ed25519', public_key: 'abc' } }, 'public_key'],
      [{ auth: 'github', secret: 'env:EMPTY' }, 'empty'],
    ] as const)
      await expect(openHook(options)).rejects.toMatchObject({
        code: 'config_invalid',
        message: expect.stringContaining(told),
      })
    expect(
      (
        await (
          await openHook({ auth: 'basic', secret: 'env:PAIR' })
        ).post(
          request({
            headers: { authorization: `Basic ${Buffer.from('kate:planted-password').toString('base64')}` },
          }),
        )
      ).status,
    ).toBe(200)
  })
})
