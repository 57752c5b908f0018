// The data endpoints of the chat: links, sessions, messages, taps, files, and the refusals of each.
import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { createMemoryRiver, type MemoryRiver } from '../../../test/browser/memory-river.ts'
import { defined, type HttpReply, isReply, SwitchboardError } from '../../contract/index.ts'
import { createTestClock, createTestRandom, type TestClock } from '../../testing/test-clock.ts'
import { createWebPlatform, mintChatPath } from './index.ts'

const ORIGIN = 'http://127.0.0.1:4747'
let clock: TestClock
let river: MemoryRiver

beforeEach(async () => {
  clock = createTestClock()
  river = await createMemoryRiver({ clock, random: createTestRandom() })
})

interface Ask {
  readonly token?: string
  readonly body?: unknown
  readonly raw?: Uint8Array
  readonly headers?: Record<string, string>
}

async function ask(method: string, target: string, how: Ask = {}): Promise<HttpReply> {
  const url = new URL(target, ORIGIN)
  const body = how.raw ?? (how.body === undefined ? new Uint8Array() : Buffer.from(JSON.stringify(how.body)))
  const endpoint = river.platform.endpoint
  if (endpoint === undefined) throw new Error('the web chat has an endpoint')
  const outcome = await endpoint.verify({
    method,
    path: url.pathname,
    query: url.searchParams,
    headers: {
      host: '127.0.0.1:4747',
      origin: ORIGIN,
      'content-type': 'application/json',
      ...(how.token === undefined ? {} : { cookie: `swb_chat_4747=${how.token}` }),
      ...how.headers,
    },
    body,
    fromLoopback: true,
  })
  return isReply(outcome) ? outcome : endpoint.handle(outcome)
}

const json = (reply: HttpReply) => JSON.parse(String(reply.body)) as Record<string, unknown>
const ticketOf = (path: string) => path.split('ticket=')[1] ?? ''

async function ticket(sender?: string): Promise<string> {
  const order = { integration: 'web', ...defined({ sender }) }
  return ticketOf((await mintChatPath(river.tokens, order)).path)
}

async function enter(sender?: string): Promise<string> {
  const reply = await ask('POST', '/session', { body: { ticket: await ticket(sender) } })
  return /swb_chat_4747=([^;]+)/.exec(reply.headers?.['set-cookie'] ?? '')?.[1] ?? ''
}

describe('links and sessions', () => {
  it('[S7.web-token] [I35.b36] a ticket opens a session, in a cookie no script can read', async () => {
    const reply = await ask('POST', '/session', { body: { ticket: await ticket() } })
    expect(reply.status).toBe(200)
    const cookie = reply.headers?.['set-cookie'] ?? ''
    expect(cookie).toMatch(/^swb_chat_4747=[\w-]{20,}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=2592000$/)
    const token = /=([^;]+)/.exec(cookie)?.[1] ?? ''
    expect(json(await ask('GET', '/me', { token }))).toMatchObject({
      sender: 'owner',
      agent: 'demo',
      limits: { upload_bytes: 1_048_576 },
    })
  })

  it('the cookie insists on https where the page came by https', async () => {
    const headers = { origin: 'https://127.0.0.1:4747' }
    const reply = await ask('POST', '/session', { body: { ticket: await ticket() }, headers })
    expect(reply.headers?.['set-cookie']).toMatch(/; Secure$/)
  })

  it('[I3.link-replayed] a ticket works once, also for two at the same time', async () => {
    const once = await ticket()
    const replies = await Promise.all(
      [1, 2, 3].map(() => ask('POST', '/session', { body: { ticket: once } })),
    )
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, 410, 410])
    expect((await ask('POST', '/session', { body: { ticket: once } })).status).toBe(410)
  })

  it('[I3.link-expired] [S16.410] a ticket of yesterday opens nothing and says what to do', async () => {
    const old = await ticket()
    await clock.advance(15 * 60_000 + 1)
    const reply = await ask('POST', '/session', { body: { ticket: old } })
    expect(reply.status).toBe(410)
    expect(JSON.stringify(json(reply))).toContain('switchboard link')
    expect(reply.headers?.['set-cookie']).toBeUndefined()
  })

  it('another kind of token is no ticket, and is not used up by trying', async () => {
    const token = await enter()
    expect((await ask('POST', '/session', { body: { ticket: token } })).status).toBe(410)
    expect((await ask('GET', '/me', { token })).status).toBe(200)
    const foreign = await river.tokens.mint({ kind: 'web-ticket', scope: { integration: 'x' }, ttlMs: null })
    expect((await ask('POST', '/session', { body: { ticket: foreign.token } })).status).toBe(410)
    expect(await river.tokens.find(foreign.token)).not.toBeNull()
  })

  it('[S16.400] a ticket that is none is named', async () => {
    for (const body of [{}, { ticket: 5 }, { ticket: '' }, { ticket: 'x'.repeat(300) }]) {
      const reply = await ask('POST', '/session', { body })
      expect(reply.status).toBe(400)
      expect(JSON.stringify(json(reply))).toContain('ticket')
    }
  })

  it('a session makes a link for another device, for the same person', async () => {
    const token = await enter('kate')
    const link = String(json(await ask('POST', '/link', { token, body: {} })).link)
    const other = await ask('POST', '/session', { body: { ticket: ticketOf(link) } })
    expect(json(other)).toMatchObject({ sender: 'kate' })
  })

  it('signing out ends the session for good', async () => {
    const token = await enter()
    const reply = await ask('POST', '/logout', { token, body: {} })
    expect(reply.headers?.['set-cookie']).toContain('Max-Age=0')
    expect((await ask('GET', '/me', { token })).status).toBe(401)
  })

  it('a second link in the same browser ends the session whose cookie it replaces, its windows too', async () => {
    const first = await enter()
    const shown = await ask('GET', '/stream', { token: first })
    let ended = false
    shown.stream?.({
      write: () => {},
      drained: async () => {},
      closed: false,
      onClose: () => {},
      end: () => {
        ended = true
      },
    })
    const reply = await ask('POST', '/session', { token: first, body: { ticket: await ticket('kate') } })
    expect(reply.status).toBe(200)
    expect((await ask('GET', '/me', { token: first })).status).toBe(401)
    expect(ended).toBe(true)
  })

  it('a link that no longer works ends no session', async () => {
    const token = await enter()
    expect((await ask('POST', '/session', { token, body: { ticket: 'used-up' } })).status).toBe(410)
    expect((await ask('GET', '/me', { token })).status).toBe(200)
  })
})

describe('messages', () => {
  it('are received under the page’s own id, so a retry is the same message', async () => {
    const token = await enter()
    const body = { clientId: 'client-0001', text: 'hello' }
    expect(json(await ask('POST', '/messages', { token, body }))).toMatchObject({
      state: 'queued',
      duplicate: false,
    })
    expect(json(await ask('POST', '/messages', { token, body }))).toMatchObject({ duplicate: true })
    expect(river.received).toHaveLength(1)
    expect(river.received[0]).toMatchObject({
      messageId: 'client-0001',
      conversation: 'owner',
      chat: 'direct',
    })
  })

  it('[S4.default-web] the sender is the session’s, whatever the body says', async () => {
    const token = await enter('kate')
    const body = { clientId: 'client-0002', text: 'x', sender: 'owner', conversation: 'owner' }
    await ask('POST', '/messages', { token, body })
    expect(river.received[0]).toMatchObject({ conversation: 'kate', sender: { id: 'kate' } })
  })

  it('[S16.429] a sender over the limit is told when to come back', async () => {
    const token = await enter()
    river.verdict = { state: 'refused', reason: 'rate_limited', retryAfterMs: 2_300 }
    const reply = await ask('POST', '/messages', { token, body: { clientId: 'client-0003', text: 'x' } })
    expect(reply.status).toBe(429)
    expect(reply.headers?.['retry-after']).toBe('3')
  })

  it('other refusals are told in words', async () => {
    const token = await enter()
    river.verdict = { state: 'refused', reason: 'no_binding' }
    const reply = await ask('POST', '/messages', { token, body: { clientId: 'client-0004', text: 'x' } })
    expect(json(reply)).toMatchObject({
      state: 'refused',
      reason: 'no_binding',
      reasonText: 'No agent is bound to this conversation.',
    })
  })

  it('[S16.503-draining] a platform that is stopped takes nothing', async () => {
    const token = await enter()
    await river.platform.stop()
    const body = { clientId: 'client-0005', text: 'x' }
    expect((await ask('POST', '/messages', { token, body })).status).toBe(503)
  })

  it('[S16.nothing-half-done] a failing store is told as it is; a bug tells nothing about the inside', async () => {
    const token = await enter()
    const failing = createWebPlatform(river.deps)
    const errors = [new SwitchboardError('store_unavailable', 'the disk is full'), new Error('secret inside')]
    await failing.start({ receive: async () => Promise.reject(errors.shift()) }, null)
    river = { ...river, platform: failing }
    const body = { clientId: 'client-0006', text: 'x' }
    const first = await ask('POST', '/messages', { token, body })
    expect([first.status, json(first)]).toMatchObject([503, { error: { message: 'the disk is full' } }])
    const second = await ask('POST', '/messages', { token, body })
    expect(second.status).toBe(500)
    expect(String(second.body)).not.toContain('secret')
  })

  it('[I3.web-choices] [S7.web-approval-buttons] a tap reaches the intake as a tap and is not shown as a message', async () => {
    const token = await enter()
    const body = { clientId: 'client-0007', on: 'o_1', value: 'allow:kqwte' }
    expect(json(await ask('POST', '/tap', { token, body }))).toMatchObject({ state: 'consumed' })
    expect(river.received[0]).toMatchObject({ kind: 'tap', on: 'o_1', value: 'allow:kqwte' })
    expect(json(await ask('GET', '/history', { token })).entries).toEqual([])
  })
})

describe('history', () => {
  it('[S7.web-history] [I3.web-reload] both sides in order, by pages, without gap or repeat', async () => {
    const token = await enter()
    for (let i = 0; i < 25; i += 1) {
      await ask('POST', '/messages', { token, body: { clientId: `client-${1000 + i}`, text: `q${i}` } })
      await clock.advance(10)
      if (i % 3 !== 0) await river.say({ kind: 'text', text: `a${i}` })
      await clock.advance(10)
    }
    const seen: string[] = []
    let before: string | null = ''
    for (let page = 0; before !== null && page < 20; page += 1) {
      const body = json(
        await ask('GET', `/history?limit=7${before === '' ? '' : `&before=${before}`}`, { token }),
      )
      seen.unshift(...(body.entries as { text: string }[]).map((entry) => entry.text))
      before = body.before as string | null
    }
    const expected = Array.from({ length: 25 }, (_, i) =>
      i % 3 === 0 ? [`q${i}`] : [`q${i}`, `a${i}`],
    ).flat()
    expect(seen).toEqual(expected)
  })

  it('is one’s own: another session’s chat is not in it', async () => {
    await river.say({ kind: 'text', text: 'for the owner' }, 'owner')
    const token = await enter('kate')
    expect(json(await ask('GET', '/history', { token })).entries).toEqual([])
  })

  it('[S16.400] bad cursors and limits are named', async () => {
    const token = await enter()
    for (const query of ['before=x', 'before=i1.o2.p', 'limit=0', 'limit=9999', 'limit=x']) {
      expect((await ask('GET', `/history?${query}`, { token })).status, query).toBe(400)
    }
    expect((await ask('GET', '/stream?after=nonsense', { token })).status).toBe(400)
  })
})

describe('files', () => {
  const upload = (token: string, name: string, raw: Uint8Array, type = 'image/png') =>
    ask('POST', `/upload?name=${encodeURIComponent(name)}`, { token, raw, headers: { 'content-type': type } })

  it('[S7.web-attachments] are kept under a random name, sent with a message and served to be saved', async () => {
    const token = await enter()
    const saved = json(await upload(token, '../../x/pic.png', Buffer.from('png')))
    expect(saved).toMatchObject({ name: 'pic.png', mime: 'image/png', kind: 'image', size: 3 })
    const id = String(saved.id)
    expect(readdirSync(river.deps.filesDir).sort()).toEqual([`${id}.json`, `${id}.png`])
    expect(statSync(join(river.deps.filesDir, `${id}.png`)).mode & 0o777).toBe(0o600)
    await ask('POST', '/messages', { token, body: { clientId: 'client-2001', text: '', attachments: [id] } })
    expect(river.received[0]).toMatchObject({ attachments: [{ id, ref: id, name: 'pic.png' }] })
    const [entry] = json(await ask('GET', '/history', { token })).entries as [Record<string, unknown>]
    expect(entry.attachments).toMatchObject([{ id, name: 'pic.png' }])
    const file = await ask('GET', `/files/${id}`, { token })
    expect(Buffer.from(file.body as Uint8Array).toString()).toBe('png')
    expect(file.headers).toMatchObject({
      'content-type': 'image/png',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
    })
    expect(file.headers?.['content-disposition']).toMatch(/^attachment; filename="pic.png"/)
  })

  it('[I3.inject-file-name] what a browser would run is served as bytes; no name breaks the header', async () => {
    const token = await enter()
    for (const type of ['text/html', 'image/svg+xml', 'text/html\r\nx: y', 'application/xhtml+xml']) {
      const saved = json(await upload(token, 'a"b\r\nc\u202E.html', Buffer.from('<script>'), type))
      const file = await ask('GET', `/files/${saved.id}`, { token })
      expect(file.headers?.['content-type']).toBe('application/octet-stream')
      expect(file.headers?.['content-disposition']).toMatch(
        /^attachment; filename="[ -~]*"; filename\*=UTF-8''\S*$/,
      )
    }
  })

  it('[I3.web-attachment-limit] [S16.413] too large, empty and foreign ones are refused', async () => {
    const token = await enter()
    expect((await upload(token, 'x', new Uint8Array(1_048_577))).status).toBe(413)
    expect((await upload(token, 'x', new Uint8Array())).status).toBe(400)
    expect(readdirSync(river.deps.filesDir)).toEqual([])
    const mine = String(json(await upload(token, 'x', Buffer.from('1'))).id)
    const kate = await enter('kate')
    const body = { clientId: 'client-2002', text: 'x', attachments: [mine] }
    expect((await ask('POST', '/messages', { token: kate, body })).status).toBe(400)
    expect(river.received).toHaveLength(0)
  })

  it('[S16.404] what is not there is not found, and nothing outside the folder is', async () => {
    const token = await enter()
    mkdirSync(join(river.deps.filesDir, 'b'.repeat(32)), { recursive: true })
    for (const path of [
      `/files/${'a'.repeat(32)}`,
      `/files/${'b'.repeat(32)}`,
      '/files/..%2f..%2fpasswd',
      '/files/',
      '/x',
    ]) {
      expect((await ask('GET', path, { token })).status, path).toBe(404)
    }
  })

  it('[S7.web-attachments] an agent that may read it finds it on the disk', async () => {
    const token = await enter()
    const saved = json(await upload(token, 'a.txt', Buffer.from('hi'), 'text/plain'))
    const ref = String(saved.ref)
    const file = await river.platform.files?.download?.({ id: ref, kind: 'file', ref })
    expect(file).toEqual({
      path: join(river.deps.filesDir, `${ref}.txt`),
      name: 'a.txt',
      mime: 'text/plain',
      size: 2,
    })
    const other = { id: 'x', kind: 'file', ref: '../../etc/passwd' } as const
    await expect(river.platform.files?.download?.(other)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('an agent may send back what the chat keeps, and nothing else', async () => {
    const token = await enter()
    const id = String(json(await upload(token, 'a.txt', Buffer.from('hi'), 'text/plain')).id)
    await river.say({ kind: 'file', name: 'a.txt', mime: 'text/plain', ref: id, caption: 'yours' })
    const [entry] = json(await ask('GET', '/history', { token })).entries as [Record<string, unknown>]
    expect(entry).toMatchObject({ kind: 'file', text: 'yours', attachments: [{ id }] })
    const gone = river.say({ kind: 'file', name: 'b', mime: 'text/plain', ref: '/etc/passwd' })
    await expect(gone).rejects.toMatchObject({ code: 'platform_rejected' })
  })
})

it('[S16.404] a wrong method says which one is right', async () => {
  const token = await enter()
  const reply = await ask('GET', '/messages', { token })
  expect([reply.status, reply.headers?.allow]).toEqual([405, 'POST'])
  expect((await ask('GET', '/session')).status).toBe(405)
})
