// Webhook events of WhatsApp, as the core receives them.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { InboundEvent } from '../../contract/index.ts'
import { escapedJson } from '../../testing/whatsapp/webhook-posts.ts'
import { fromKate, NOON, openScene, type Scene } from './fixtures/whatsapp-scene.ts'

let scene: Scene
beforeEach(async () => {
  scene = await openScene()
  await scene.start()
})
afterEach(() => scene.close())

const heard = async (
  value: Readonly<Record<string, unknown>>,
  field?: string,
): Promise<readonly InboundEvent[]> => {
  const before = scene.intake.events.length
  expect((await scene.change(value, field)).status).toBe(200)
  return scene.intake.events.slice(before)
}
const one = async (type: string, inside: unknown, more?: object) => {
  const [event, ...rest] = await heard(fromKate(type, inside, more))
  expect(rest).toEqual([])
  return event
}

describe('the door', () => {
  const question = (token: string, mode = 'subscribe') =>
    scene.ask({
      method: 'GET',
      query: new URLSearchParams({
        'hub.mode': mode,
        'hub.challenge': '1158201444',
        'hub.verify_token': token,
      }),
    })

  it('[I24.wa-challenge] [S14.http-hooks-others] gives the challenge back to whoever knows the token, as plain text', async () => {
    expect(await question(scene.fake.verifyToken)).toMatchObject({ status: 200, body: '1158201444' })
    const { headers } = await question(scene.fake.verifyToken)
    expect(headers?.['content-type']).toContain('text/plain')
    expect((await question('guess')).status).toBe(403)
    expect((await question('')).status).toBe(403)
    expect((await question(scene.fake.verifyToken, 'unsubscribe')).status).toBe(403)
    expect((await scene.ask({ method: 'PUT' })).status).toBe(405)
    expect((await scene.ask({ method: 'POST', path: '/more' })).status).toBe(404)
  })

  it('[I24.wa-signature] takes bytes as they were signed: escapes, umlauts, emoji and slashes', async () => {
    const text = 'Grüße 🚀 a@b.example https://x.example/y'
    const body = scene.fake.envelope(fromKate('text', { body: text }))
    expect(escapedJson(body)).toContain('\\u00fc')
    expect((await scene.ask(scene.signed(escapedJson(body)))).status).toBe(200)
    expect((await scene.ask(scene.signed(JSON.stringify(body)))).status).toBe(200)
    expect(scene.intake.events).toMatchObject([{ text }, { text }])
    // The signature of the same JSON in another spelling.
    const forged = { ...scene.signed(escapedJson(body)), body: Buffer.from(JSON.stringify(body)) }
    expect((await scene.ask(forged)).status).toBe(401)
    for (const signature of [undefined, '', 'sha256=', 'sha256=zz', `sha1=${'0'.repeat(40)}`, ['a', 'b']])
      expect(
        (await scene.ask({ body: Buffer.from('{}'), headers: { 'x-hub-signature-256': signature } })).status,
      ).toBe(401)
    expect(scene.intake.events).toHaveLength(2)
  })

  it('is not told 200 for what was not stored in time, nor where there was no commit', async () => {
    const release = scene.intake.hold()
    const posting = scene.change(fromKate('text', { body: 'slow' }))
    await scene.clock.advance(8_000)
    expect((await posting).status).toBe(503)
    release()
  })
})

describe('messages', () => {
  it('[I24.wa-kinds] of each type come as what an agent can read', async () => {
    expect(await one('text', { body: 'hello' })).toMatchObject({
      kind: 'message',
      conversation: '4915112345678',
      chat: 'direct',
      sender: { id: '4915112345678', name: 'Kate' },
      messageId: 'wamid.KATE1',
      at: NOON,
      text: 'hello',
      meta: { wa_user_id: 'DE.4915112345678', timestamp: String(NOON / 1_000) },
    })
    expect(
      await one('image', { id: '9', mime_type: 'image/jpeg', sha256: 'x', caption: 'look' }),
    ).toMatchObject({
      text: 'look',
      attachments: [{ id: '9', kind: 'image', mime: 'image/jpeg' }],
    })
    expect(await one('audio', { id: '9', mime_type: 'audio/ogg; codecs=opus', voice: true })).toMatchObject({
      text: '',
      attachments: [{ kind: 'audio', mime: 'audio/ogg' }],
      meta: { voice: 'true' },
    })
    expect(await one('document', { id: '9', filename: '../../etc/passwd' })).toMatchObject({
      attachments: [{ kind: 'file', name: expect.not.stringContaining('/') }],
    })
    expect(
      await one('location', { latitude: 52.5, longitude: 13.4, name: 'Zoo', address: 'Berlin' }),
    ).toMatchObject({
      text: '📍 Zoo, Berlin (52.5, 13.4)',
    })
    expect(
      await one('contacts', [
        {
          name: { formatted_name: 'Anna B' },
          phones: [{ phone: '+49 30 1' }],
          emails: [{ email: 'a@b.example' }],
        },
      ]),
    ).toMatchObject({ text: '👤 Anna B: +49 30 1, a@b.example' })
    expect(
      await one('order', {
        catalog_id: 'c',
        product_items: [{ product_retailer_id: 'sku', quantity: 2, item_price: 3, currency: 'EUR' }],
      }),
    ).toMatchObject({
      text: '🛒 an order\n2 × sku at 3 EUR',
    })
    expect(
      await one('text', { body: 'yes' }, { context: { from: '15550783881', id: 'wamid.OURS' } }),
    ).toMatchObject({
      replyTo: { messageId: 'wamid.OURS' },
    })
    const forward = await one('text', { body: 'fwd' }, { context: { forwarded: true } })
    expect(forward).toMatchObject({ meta: { forwarded: 'true' } })
    expect(forward).not.toHaveProperty('replyTo')
    expect(
      await one(
        'text',
        { body: 'this?' },
        { context: { referred_product: { catalog_id: 'c', product_retailer_id: 'p' } } },
      ),
    ).toMatchObject({ meta: { product_id: 'p' } })
  })

  it('[I24.wa-reactions] a reaction, and one that was taken back', async () => {
    expect(await one('reaction', { message_id: 'wamid.OURS', emoji: '👍' })).toMatchObject({
      kind: 'reaction',
      on: 'wamid.OURS',
      emoji: '👍',
    })
    expect(await one('reaction', { message_id: 'wamid.OURS' })).toMatchObject({ kind: 'reaction', emoji: '' })
  })

  it('[I24.wa-taps] a reply to our buttons or list is a tap; to those of others its words are a message', async () => {
    const on = { context: { from: '1', id: 'wamid.OURS' } }
    expect(
      await one('interactive', { type: 'button_reply', button_reply: { id: 'swb:v:1', title: 'Allow' } }, on),
    ).toMatchObject({ kind: 'tap', on: 'wamid.OURS', value: 'v:1', messageId: 'tap:wamid.KATE1' })
    expect(
      await one('interactive', { type: 'list_reply', list_reply: { id: 'swb:two', title: 'Two' } }, on),
    ).toMatchObject({ kind: 'tap', value: 'two' })
    expect(
      await one('interactive', { type: 'button_reply', button_reply: { id: 'theirs', title: 'Pizza' } }, on),
    ).toMatchObject({ kind: 'message', text: 'Pizza', meta: { payload: 'theirs' } })
    expect(await one('button', { text: 'Stop', payload: 'stop-it' }, on)).toMatchObject({
      kind: 'message',
      text: 'Stop',
      meta: { payload: 'stop-it' },
    })
  })

  it('[I24.wa-edits] edits and deletions where they are told; what is not passed on says so', async () => {
    expect(
      await one('edit', {
        original_message_id: 'wamid.O',
        message: { type: 'text', text: { body: 'better' } },
      }),
    ).toMatchObject({ kind: 'edit', messageId: 'wamid.O', text: 'better', editVersion: NOON })
    expect(await one('revoke', { original_message_id: 'wamid.O' })).toMatchObject({
      kind: 'delete',
      messageId: 'wamid.O',
    })
    expect(
      await one(
        'unsupported',
        { type: 'poll_creation' },
        { errors: [{ code: 131051, title: 'Message type unknown' }] },
      ),
    ).toMatchObject({
      kind: 'message',
      text: '(a message that WhatsApp does not pass on: poll_creation: Message type unknown)',
    })
  })

  it('[I24.wa-people] somebody without a number is known by the user id, and still by the number once it was told', async () => {
    const nameless = (userId: string, id: string) => ({
      contacts: [{ profile: { name: 'Ann', username: 'ann' }, user_id: userId }],
      messages: [{ from_user_id: userId, id, timestamp: '1', type: 'text', text: { body: 'hi' } }],
    })
    expect(await heard(nameless('US.13491208655302741918', 'w1'))).toMatchObject([
      { conversation: 'US.13491208655302741918', sender: { id: 'US.13491208655302741918', name: 'Ann' } },
    ])
    await one('text', { body: 'with number' })
    expect(await heard(nameless('DE.4915112345678', 'w2'))).toMatchObject([
      { sender: { id: '4915112345678' } },
    ])
  })

  it('in a group are of the group, and mention us by number or by an answer', async () => {
    const group = { group_id: 'Y2FwaV9ncm91cDoxOTUw' }
    expect(await one('text', { body: 'hi' }, group)).toMatchObject({
      chat: 'group',
      conversation: 'Y2FwaV9ncm91cDoxOTUw',
      sender: { id: '4915112345678' },
      mentioned: false,
    })
    expect(await one('text', { body: '@15550783881 hi' }, group)).toMatchObject({ mentioned: true })
    expect(
      await one('text', { body: 'yes' }, { ...group, context: { from: '15550783881', id: 'w' } }),
    ).toMatchObject({ mentioned: true })
  })
})

describe('posts', () => {
  it('[I24.wa-changes] with several entries, changes, messages and statuses are taken whole, in one commit', async () => {
    const first = scene.fake.envelope(fromKate('text', { body: 'one' })) as {
      entry: { changes: unknown[] }[]
    }
    const second = scene.fake.envelope({
      ...fromKate('text', { body: 'two' }, { id: 'wamid.2' }),
      statuses: [
        {
          id: 'wamid.OURS',
          status: 'delivered',
          timestamp: '1',
          recipient_id: '49',
          biz_opaque_callback_data: 'o_t_1',
        },
      ],
    }) as typeof first
    let commits = 0
    scene.intake.answerWith((_, index) => {
      if (index === 0) commits += 1
      return {}
    })
    const body = { object: 'whatsapp_business_account', entry: [...first.entry, ...second.entry] }
    expect((await scene.post(body)).status).toBe(200)
    expect(scene.intake.events.map((event) => ('text' in event ? event.text : event.kind))).toEqual([
      'one',
      'two',
      'report',
    ])
    expect(commits).toBe(1)
  })

  it('[I24.wa-hundred] 100 messages in one post are 100 events in order', async () => {
    const messages = Array.from({ length: 100 }, (_, at) => ({
      ...(fromKate('text', { body: `m${at}` }).messages as object[])[0],
      id: `wamid.${at}`,
    }))
    const events = await heard({ ...fromKate('text', {}), messages })
    expect(events.map((event) => ('text' in event ? event.text : event.kind))).toEqual(
      messages.map((_, at) => `m${at}`),
    )
  })

  it('[I24.wa-echo] echoes, system messages, errors and other fields start no turn', async () => {
    const echo = {
      message_echoes: [{ from: '15550783881', to: '49', id: 'w', type: 'text', text: { body: 'mine' } }],
    }
    expect(await heard(echo, 'smb_message_echoes')).toMatchObject([{ kind: 'filtered' }])
    expect(await heard({ event: 'APPROVED' }, 'message_template_status_update')).toMatchObject([
      { kind: 'filtered' },
    ])
    expect(await heard(fromKate('system', { type: 'user_changed_number', wa_id: '1' }))).toMatchObject([
      { kind: 'filtered' },
    ])
    expect(await heard({ errors: [{ code: 131031, title: 'locked' }] })).toMatchObject([{ kind: 'filtered' }])
    expect(scene.log.lines.join('\n')).toContain('131031')
  })

  it('[I24.wa-other-number] for another number are left, and doctor tells of them', async () => {
    const metadata = { display_phone_number: '1', phone_number_id: '999' }
    expect(await heard({ ...fromKate('text', { body: 'not ours' }), metadata })).toEqual([])
    expect(scene.adapter.checks?.gates?.()).toMatchObject([
      { flagged: true, reason: expect.stringContaining('999') },
    ])
    expect(scene.log.lines.join('\n')).toContain('another phone number')
  })

  it('with nonsense in every field crash nothing and hide nothing', async () => {
    const nonsense = [null, 7, 'x', [], {}, { id: {} }, { id: 'w', type: 'text', text: null }]
    const events = await heard({
      contacts: nonsense,
      messages: [...nonsense, ...(fromKate('text', { body: 'good' }).messages as object[])],
    })
    expect(events.filter(({ kind }) => kind === 'message')).toMatchObject([{ text: 'good' }])
    expect(events).toHaveLength(nonsense.length + 1)
    expect(await heard({ statuses: nonsense })).toHaveLength(nonsense.length)
  })
})
