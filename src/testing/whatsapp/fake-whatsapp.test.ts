// The fake Cloud API with an independent client: the wire, the limits, and posts that come again until they are
// accepted.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createFakeWhatsApp, FAKE_VERIFY_TOKEN, type FakeWhatsApp } from './fake-whatsapp.ts'
import { signatureOf } from './webhook-posts.ts'

let fake: FakeWhatsApp
let business: Server | null = null
afterEach(async () => {
  await fake.stop()
  business?.closeAllConnections()
  business?.close()
  business = null
})

const call = async (path: string, body?: object, token = fake.token) => {
  const response = await fetch(`${fake.url}/v25.0/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
const text = (to: string, body = 'hi', more: object = {}) =>
  call(`${fake.phoneNumberId}/messages`, {
    messaging_product: 'whatsapp',
    to,
    type: 'text',
    text: { body },
    ...more,
  })
const codeOf = ({ body }: { readonly body: Record<string, unknown> }) =>
  (body.error as { code?: number } | undefined)?.code

interface Post {
  readonly raw: string
  readonly signature: string | undefined
}

/** Opens a fake with a webhook that answers with these statuses. */
async function open(answer: (count: number) => number = () => 200) {
  const posts: Post[] = []
  business = createServer((request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', 'http://business')
    if (request.method === 'GET') {
      const good = url.searchParams.get('hub.verify_token') === FAKE_VERIFY_TOKEN
      response.writeHead(good ? 200 : 403)
      return void response.end(url.searchParams.get('hub.challenge'))
    }
    let raw = ''
    request.setEncoding('utf8').on('data', (chunk: string) => {
      raw += chunk
    })
    request.on('end', () => {
      posts.push({ raw, signature: request.headers['x-hub-signature-256']?.toString() })
      response.writeHead(answer(posts.length)).end()
    })
  })
  await new Promise<void>((resolve) => business?.listen(0, '127.0.0.1', resolve))
  const { port } = business.address() as AddressInfo
  await fake.webhook.use(`http://127.0.0.1:${port}/hook`)
  return posts
}
const statusOf = ({ raw }: Post) => {
  const { entry } = JSON.parse(raw) as {
    entry: { changes: { value: { statuses?: { status: string; biz_opaque_callback_data?: string }[] } }[] }[]
  }
  return entry[0]?.changes[0]?.value.statuses?.[0]
}

describe('[I24.wa-fake] the fake Cloud API', () => {
  it('posts escaped bodies, signed as they are, again until they are taken', async () => {
    fake = await createFakeWhatsApp({ retryMs: [1] })
    const posts = await open((count) => (count < 3 ? 500 : 200))
    fake.person().says('Grüße a/b')
    await vi.waitFor(() => expect(posts).toHaveLength(3))
    const [first, second] = posts
    expect(first?.raw).toContain('Gr\\u00fc\\u00dfe a\\/b')
    expect(first?.signature).toBe(signatureOf(fake.appSecret, first?.raw ?? ''))
    expect(second).toEqual(first)
    await vi.waitFor(() => expect(fake.webhook.waiting()).toBe(0))
  })

  it('takes a text, and tells what became of it with what was given along', async () => {
    fake = await createFakeWhatsApp({ statuses: ['read', 'sent'] })
    const posts = await open()
    const kate = fake.person()
    kate.says('hi')
    const sent = await text(kate.chat, 'hello', { biz_opaque_callback_data: 'mine' })
    expect(sent).toMatchObject({
      status: 200,
      body: { contacts: [{ wa_id: kate.chat }], messages: [{ message_status: 'accepted' }] },
    })
    await vi.waitFor(() => expect(posts).toHaveLength(3))
    expect(
      posts.flatMap((post) => statusOf(post) ?? []).toSorted((a, b) => a.status.localeCompare(b.status)),
    ).toMatchObject([
      { status: 'read', biz_opaque_callback_data: 'mine' },
      { status: 'sent', biz_opaque_callback_data: 'mine' },
    ])
    expect(kate.sees()).toEqual(['hello'])
  })

  it('keeps the window, the limit of a pair, templates and tokens', async () => {
    let now = 1_000_000_000_000
    fake = await createFakeWhatsApp({ now: () => now, statuses: [], refusesAtOnce: true })
    const kate = fake.person()
    expect(codeOf(await text(kate.chat))).toBe(131047)
    kate.says('hi')
    for (let count = 0; count < 45; count++) expect((await text(kate.chat)).status).toBe(200)
    expect(codeOf(await text(kate.chat))).toBe(131056)
    now += 6_000
    expect((await text(kate.chat)).status).toBe(200)
    now += 25 * 3_600_000
    expect(codeOf(await text(kate.chat))).toBe(131047)
    const template = { name: 'hello_world', language: { code: 'en_US' } }
    const order = { messaging_product: 'whatsapp', to: kate.chat, type: 'template' }
    expect((await call(`${fake.phoneNumberId}/messages`, { ...order, template })).status).toBe(200)
    expect(
      codeOf(
        await call(`${fake.phoneNumberId}/messages`, { ...order, template: { ...template, name: 'no' } }),
      ),
    ).toBe(132001)
    expect(codeOf(await call(fake.phoneNumberId, undefined, 'wrong'))).toBe(190)
    fake.expire(true)
    expect(codeOf(await call(fake.phoneNumberId))).toBe(190)
  })

  it('takes outside the window what fails later, where it does not refuse at once', async () => {
    fake = await createFakeWhatsApp({})
    const posts = await open()
    const kate = fake.person()
    expect((await text(kate.chat)).status).toBe(200)
    await vi.waitFor(() => expect(posts).toHaveLength(1))
    expect(statusOf(posts[0] as Post)).toMatchObject({ status: 'failed', errors: [{ code: 131047 }] })
    expect(kate.sees()).toEqual(['hi'])
  })

  it('refuses what Meta refuses', async () => {
    fake = await createFakeWhatsApp({ statuses: [] })
    const kate = fake.person()
    kate.says('hi')
    const send = (more: object) =>
      call(`${fake.phoneNumberId}/messages`, { messaging_product: 'whatsapp', to: kate.chat, ...more })
    const button = (title: string) => ({ type: 'reply', reply: { id: title, title } })
    const asked = (buttons: object[], body = 'x') => ({
      type: 'interactive',
      interactive: { type: 'button', body: { text: body }, action: { buttons } },
    })
    for (const [more, code] of [
      [{ type: 'text', text: { body: 'x'.repeat(4_097) } }, 100],
      [{ type: 'text', text: { body: '' } }, 100],
      [{ type: 'hologram' }, 131051],
      [{ type: 'image', image: { id: 'none' } }, 131053],
      [{ type: 'reaction', reaction: { message_id: 'none', emoji: 'x' } }, 131009],
      [{ type: 'text', text: { body: 'x' }, context: { message_id: 'none' } }, 131009],
      [asked([button('a'), button('b'), button('c'), button('d')]), 131009],
      [asked([button('a'), button('a')]), 131009],
      [asked([button('a title that is too long')]), 131009],
      [asked([button('a')], 'x'.repeat(1_025)), 131009],
    ] as const)
      expect([more, codeOf(await send(more))]).toEqual([more, code])
  })

  it.each(['duplicate', 'reorder', 'drop-response', 'malformed', 'error', 'deaf'] as const)(
    'a post under %s is taken in the end',
    async (fault) => {
      fake = await createFakeWhatsApp({ retryMs: [1], faults: [{ on: 'webhook', nth: 1, do: fault }] })
      const posts = await open()
      fake.person().says('one')
      await vi.waitFor(() => expect(fake.webhook.waiting()).toBe(0))
      expect(posts.some(({ raw }) => raw.includes('one') && raw.endsWith('}'))).toBe(true)
      expect(fake.fired).toEqual([{ on: 'webhook', do: fault }])
    },
  )
})
