// WhatsApp through the whole river: what becomes of a message is told to whoever asks, posts that come again are none, and a template goes
// where a text may not.
import { afterEach, describe, expect, it } from 'vitest'
import type { ToolCaller } from '../../src/contract/index.ts'
import { until } from '../faults/until.ts'
import { openWhatsAppRiver } from './whatsapp-river.ts'

let river: Awaited<ReturnType<typeof openWhatsAppRiver>>
afterEach(() => river.close())
const caller: ToolCaller = { agent: 'demo', session: null, user: null, turn: null, idempotencyKey: null }
const sends = async (part: string) =>
  (await river.store.sends({ limit: 100 })).filter(({ op }) => op?.kind === 'text' && op.text.includes(part))
const answered = (word: string) =>
  until('the answer', () => river.kate.sees().some((text) => text.includes(`You said: ${word}`)))

describe('whatsapp', () => {
  it('[I24.receipt-shown] [I24.wa-receipts] [I24.wa-failed-later] statuses in the wrong order are the furthest; failed is told', async () => {
    river = await openWhatsAppRiver({ statuses: ['read', 'delivered', 'sent'] })
    const { kate, fake, tools, store } = river
    kate.says('hello')
    await answered('hello')
    await until('read', async () => (await sends('hello'))[0]?.receipt === 'read')
    await until('every post is taken', () => fake.webhook.waiting() === 0)
    expect((await sends('hello'))[0]).toMatchObject({ state: 'sent', receipt: 'read' })
    const told = await tools.fetchMessages(caller, { chatId: `wa:${kate.chat}`, limit: 5 })
    expect(told.structured.messages).toMatchObject([
      { user: kate.chat, text: 'hello' },
      { user: 'me', receipt: 'read' },
    ])
    expect(told.text).toContain(', read)')
    const [message] = fake.world.shown(kate.chat).filter(({ fromBot }) => fromBot)
    if (!message) throw new Error('nothing was sent')
    const errors = [{ code: 131026, title: 'Message undeliverable', error_data: { details: 'blocked' } }]
    fake.status(message, 'failed', { errors })
    fake.status(message, 'failed', { errors })
    await until('it failed', async () => (await sends('hello'))[0]?.state === 'failed')
    expect((await sends('hello'))[0]).toMatchObject({
      reason: 'platform_rejected',
      detail: '131026: blocked',
    })
    fake.status({ ...message, id: 'wamid.STRANGE', opaque: 'o_elsewhere_1' }, 'delivered')
    await until('every post is taken', () => fake.webhook.waiting() === 0)
    expect(await store.verify()).toMatchObject({ ok: true })
  })

  it('[I24.wa-hundred] 100 messages in one post are 100 turns, and the same post again is none', async () => {
    river = await openWhatsAppRiver({ statuses: [] })
    const { kate, fake, store } = river
    const messages = Array.from({ length: 100 }, (_, at) => ({
      from: kate.chat,
      id: `wamid.${at}`,
      timestamp: String(Math.floor(Date.now() / 1_000)),
      type: 'reaction',
      reaction: { message_id: 'wamid.X', emoji: '👍' },
    }))
    for (let time = 0; time < 2; time++) {
      fake.webhook.post(
        fake.envelope({ contacts: [{ profile: { name: 'Kate' }, wa_id: kate.chat }], messages }),
      )
      await until('the post is taken', () => fake.webhook.waiting() === 0)
      expect((await store.turns({ limit: 300 })).length).toBe(100)
    }
    expect(await store.verify()).toMatchObject({ ok: true, conservation: { ok: true } })
  })

  it('[I24.window-template] [I24.window] send_message says that the window is closed, and goes by a template', async () => {
    river = await openWhatsAppRiver({ statuses: [] })
    const { fake, tools, store } = river
    const anna = fake.person({ number: '4915187654321', name: 'Anna' })
    const order = { platform: 'whatsapp', target: anna.chat, body: 'your order' }
    const refused = await tools.sendMessage(caller, order)
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('24 hours') })
    expect((await store.sends({ limit: 1 }))[0]).toMatchObject({ state: 'failed', reason: 'window_closed' })
    fake.world.templates.set('order', { language: 'en', body: 'Order {{1}} is ready' })
    const template = { name: 'order', language: 'en', parameters: ['7'] }
    expect(await tools.sendMessage(caller, { ...order, template })).toMatchObject({ isError: false })
    expect(anna.sees()).toEqual(['Order 7 is ready'])
  })

  it('[I24.wa-settled] what policy holds as unknown is sent by a status that comes later', async () => {
    river = await openWhatsAppRiver({
      statuses: [],
      unknownPolicy: 'hold',
      faults: [{ on: 'messages', nth: 1, do: 'drop-response' }],
      timings: { pairIntervalMs: 1 },
    })
    const { kate, fake } = river
    kate.says('hello')
    await until('nobody knows', async () => (await sends('hello'))[0]?.state === 'unknown')
    const [message] = fake.world.shown(kate.chat).filter(({ fromBot }) => fromBot)
    if (!message) throw new Error('nothing was sent')
    fake.status(message, 'delivered')
    await until('it is settled', async () => (await sends('hello'))[0]?.state === 'sent')
    expect((await sends('hello'))[0]).toMatchObject({ receipt: 'delivered', platformIds: [message.id] })
    expect(kate.sees().filter((text) => text.includes('You said: hello'))).toHaveLength(1)
  })
})
