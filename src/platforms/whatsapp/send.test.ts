// Sends by the Cloud API: forms, choices, files, the window, and the meaning of every error.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SwitchboardError } from '../../contract/index.ts'
import { readMarkdown } from '../../kit/markdown/index.ts'
import { isMediaHost } from './client.ts'
import { fromKate, NOON, openScene, type Scene, until } from './fixtures/whatsapp-scene.ts'
import { whatsappMarkdown } from './markdown.ts'

const KATE = '4915112345678'
let scene: Scene

const open = async (options: Parameters<typeof openScene>[0] = {}) => {
  scene = await openScene({ statuses: [], ...options })
  await scene.start()
  await scene.change(fromKate('text', { body: 'hi' }))
  const kate = scene.fake.person()
  kate.says('hi')
  return kate
}
afterEach(() => scene.close())
const sent = () => scene.fake.world.calls.findLast(({ path }) => path === 'messages')?.body ?? {}
const failure = async (sending: Promise<unknown>): Promise<SwitchboardError> =>
  sending.then(
    () => Promise.reject(new Error('it was sent')),
    (thrown: SwitchboardError) => thrown,
  )

describe('a text', () => {
  beforeEach(async () => void (await open()))

  it('[S7.whatsapp-cloud] is one message with the outbox id, and names where it landed', async () => {
    const receipt = await scene.send(`+${KATE}`, {
      kind: 'text',
      text: 'hello **you**',
      replyTo: scene.fake.world.shown(KATE)[0]?.id ?? '',
    })
    expect(receipt).toEqual({ platformIds: [expect.stringMatching(/^wamid\./)], conversation: KATE })
    expect(sent()).toMatchObject({
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: KATE,
      type: 'text',
      text: { body: 'hello *you*' },
      context: { message_id: scene.fake.world.shown(KATE)[0]?.id },
      biz_opaque_callback_data: 'o_t_1',
    })
  })

  it('to a user id is sent to that', async () => {
    await scene.change({
      messages: [
        {
          from_user_id: 'US.1349',
          id: 'w',
          timestamp: String(NOON / 1_000),
          type: 'text',
          text: { body: 'x' },
        },
      ],
    })
    await scene.send('US.1349', { kind: 'text', text: 'hello' })
    expect(sent()).toMatchObject({ recipient: 'US.1349' })
    expect(sent()).not.toHaveProperty('to')
  })

  it('[I24.wa-format] is in WhatsApp’s own form, whatever is in it', () => {
    const form = (text: string) => whatsappMarkdown.render(readMarkdown(text)).text
    expect(form('# Title\n\n**b** _i_ ~~s~~ `c`')).toBe('*Title*\n\n*b* _i_ ~s~ `c`')
    expect(form('[docs](https://x.example/a_b_c) and https://x.example/_y_')).toBe(
      'docs (https://x.example/a_b_c) and https://x.example/_y_',
    )
    expect(form('- a\n- b\n\n1. c')).toBe('• a\n• b\n\n1. c')
    expect(form('```js\nlet a = `1`\n```')).toBe('```\nlet a = `1`\n```')
    expect(form('| a | b |\n|---|---|\n| 1 | 2 |')).toMatch(/^```\n[\s\S]*\n```$/)
    // Text that only looks like markup is shown as it is: a mark of no width follows it.
    expect(form('\\*not bold\\* and snake_case_name')).toBe('*\u200bnot bold* and snake_case_name')
    expect(form('````\n```\n````')).not.toMatch(/```\n```\n```/)
  })

  it('[I24.wa-format] of more than 4,096 characters is not sent as a part', async () => {
    await scene.send(KATE, { kind: 'text', text: 'x'.repeat(4_096) })
    expect((await failure(scene.send(KATE, { kind: 'text', text: 'x'.repeat(4_097) }))).code).toBe(
      'platform_rejected',
    )
    await scene.send(KATE, { kind: 'text', text: 'y '.repeat(3_000) }, { cause: 'notice' })
    expect((sent().text as { body: string }).body.length).toBeLessThanOrEqual(4_096)
  })

  it('[I24.wa-buttons] with up to three choices has buttons, with more or a long text a list', async () => {
    const choices = [
      { label: 'Allow', value: 'v:allow:abcde' },
      { label: 'Deny', value: 'v:deny:abcde' },
    ]
    const kate = scene.fake.person()
    await scene.send(KATE, { kind: 'prompt', approval: 'abcde', text: 'Run it?', choices })
    expect(sent()).toMatchObject({ interactive: { type: 'button', body: { text: 'Run it?' } } })
    await scene.send(KATE, { kind: 'prompt', approval: 'abcde', text: 'z'.repeat(2_000), choices })
    expect(sent()).toMatchObject({
      interactive: {
        type: 'list',
        action: { sections: [{ rows: [{ title: 'Allow' }, { title: 'Deny' }] }] },
      },
    })
    const many = Array.from({ length: 10 }, (_, at) => ({
      label: `A label that is far too long, number ${at}`,
      value: `n${at}`,
    }))
    await scene.send(KATE, { kind: 'text', text: 'Which?', choices: many })
    const rows =
      (sent().interactive as { action: { sections: { rows: { title: string }[] }[] } }).action.sections[0]
        ?.rows ?? []
    expect(new Set(rows.map(({ title }) => title)).size).toBe(10)
    scene.fake.webhook.aim('http://127.0.0.1:9/')
    const tapped = kate.taps(rows[3]?.title ?? '')
    expect(tapped.sentAs).toMatchObject({ interactive: { type: 'list_reply', list_reply: { id: 'swb:n3' } } })
    expect(
      (await failure(scene.send(KATE, { kind: 'text', text: 'x', choices: [...many, ...many] }))).code,
    ).toBe('platform_rejected')
    expect(
      (
        await failure(
          scene.send(KATE, { kind: 'text', text: 'x', choices: [{ label: 'a', value: 'v'.repeat(300) }] }),
        )
      ).code,
    ).toBe('platform_rejected')
  })

  it('[I24.wa-react-out] reactions go, edits do not, urgency shows', async () => {
    const on = scene.fake.world.shown(KATE)[0]?.id ?? ''
    await scene.send(KATE, { kind: 'react', on, emoji: '👀' })
    expect(scene.fake.world.find(on)?.reaction).toBe('👀')
    expect((await failure(scene.send(KATE, { kind: 'edit', on, text: 'x' }))).code).toBe('platform_rejected')
    await scene.send(KATE, { kind: 'text', text: 'now', urgency: 'high' })
    expect(sent()).toMatchObject({ text: { body: '❗ now' } })
  })
})

describe('presence', () => {
  it('[I24.wa-react-out] typing marks the newest message and is said again; read marks come once the agent has it', async () => {
    const kate = await open()
    const { id } = kate.says('second')
    await scene.change(fromKate('text', { body: 'second' }, { id }))
    const to = { integration: 'wa', conversation: KATE }
    const marks = () => scene.fake.world.marks
    scene.adapter.signal?.(to, { kind: 'turn_state', turn: 't', messageId: id, state: 'seen' })
    scene.adapter.signal?.(to, { kind: 'turn_state', turn: 't', messageId: id, state: 'seen' })
    await until('the mark', () => marks().length === 1)
    expect(marks()).toEqual([{ on: id, typing: false }])
    scene.adapter.signal?.(to, { kind: 'typing', on: true })
    await until('typing', () => marks().length === 2)
    await scene.clock.advance(20_000)
    await until('typing again', () => marks().length === 3)
    scene.adapter.signal?.(to, { kind: 'typing', on: false })
    await scene.clock.advance(60_000)
    expect(marks()).toHaveLength(3)
  })

  it('no mark where read_receipts is off', async () => {
    await open({ options: { read_receipts: false } })
    scene.adapter.signal?.(
      { integration: 'wa', conversation: KATE },
      { kind: 'turn_state', turn: 't', messageId: 'wamid.KATE1', state: 'seen' },
    )
    await scene.clock.settle(20)
    expect(scene.fake.world.calls.filter(({ path }) => path === 'marks')).toEqual([])
  })
})

describe('files', () => {
  it('[I24.wa-media-out] are uploaded, and sent as what they are', async () => {
    await open()
    const { adapter, fake } = scene
    const kept = async (name: string, mime: string, bytes: Buffer) =>
      ({ kind: 'file', name, mime, ref: (await adapter.files?.keep?.({ name, mime, bytes })) ?? '' }) as const
    await scene.send(KATE, { ...(await kept('a.png', 'image/png', Buffer.from('png'))), caption: 'look' })
    expect(sent()).toMatchObject({ type: 'image', image: { caption: 'look' } })
    const { image } = sent() as { image: { id: string } }
    expect(fake.world.media.get(image.id)).toMatchObject({ mime: 'image/png', bytes: Buffer.from('png') })
    await scene.send(KATE, await kept('a "quoted"\r\nname.pdf', 'application/pdf', Buffer.from('%PDF')))
    expect(sent()).toMatchObject({ type: 'document' })
    await scene.send(KATE, await kept('a.ogg', 'audio/ogg', Buffer.from('ogg')))
    expect(sent()).toMatchObject({ type: 'audio' })
    await scene.send(KATE, await kept('big.png', 'image/png', Buffer.alloc(6 * 1_048_576)))
    expect(sent()).toMatchObject({ type: 'document' })
    await scene.send(KATE, {
      kind: 'text',
      text: 'long',
      asFile: { name: 'answer.md', caption: 'the answer' },
    })
    expect(sent()).toMatchObject({
      type: 'document',
      document: { filename: 'answer.md', caption: 'the answer' },
    })
    expect(
      (await failure(scene.send(KATE, await kept('e', 'text/plain', Buffer.alloc(0))))).message,
    ).toContain('empty')
  })

  const received = async () => {
    const kate = scene.fake.person()
    scene.fake.webhook.aim('http://127.0.0.1:9/')
    const { sentAs } = kate.sendsMedia({ content: 'words of Kate' })
    await scene.change(fromKate('document', sentAs.document, { id: 'wamid.FILE' }))
    const event = scene.intake.events.at(-1)
    if (event?.kind !== 'message' || !event.attachments?.[0]) throw new Error('no attachment came')
    return event.attachments[0]
  }

  it('[I24.wa-media-in] that people send are fetched by the two steps, with the token', async () => {
    await open()
    const attachment = await received()
    expect(scene.fake.world.calls.filter(({ path }) => path === 'media')).toEqual([])
    const file = await scene.adapter.files?.download?.(attachment)
    expect(file).toMatchObject({ name: 'notes.txt', size: 'words of Kate'.length })
    scene.fake.world.media.clear()
    expect(
      (await failure(scene.adapter.files?.download?.(attachment) ?? Promise.resolve())).message,
    ).toContain('gone')
    expect(
      (
        await failure(
          scene.adapter.files?.download?.({ ...attachment, ref: 'nonsense' }) ?? Promise.resolve(),
        )
      ).code,
    ).toBe('platform_rejected')
  })

  it('[I24.wa-media-old] an address that has run out is asked for once more', async () => {
    await open()
    const attachment = await received()
    const { world } = scene.fake
    let looks = 0
    const clock = world.now
    // The first address expires before it is used.
    Object.assign(world, { now: () => (looks++ === 0 ? clock() - 10 * 60_000 : clock()) })
    expect(await scene.adapter.files?.download?.(attachment)).toMatchObject({ size: 'words of Kate'.length })
    expect(world.calls.filter(({ path }) => path === 'media')).toHaveLength(2)
  })

  it('[I24.wa-media-in] the token goes to no other host', async () => {
    await open()
    const real = { apiUrl: 'https://graph.facebook.com/v25.0', ownServer: false }
    for (const url of [
      'https://lookaside.fbsbx.com/whatsapp_business/attachments/?mid=1',
      'https://scontent.whatsapp.net/x',
    ])
      expect([url, isMediaHost(url, real)]).toEqual([url, true])
    for (const url of [
      'https://evil.example/x',
      'http://lookaside.fbsbx.com/x',
      'https://fbsbx.com.evil.example',
      'nonsense',
      'file:///etc/passwd',
    ])
      expect([url, isMediaHost(url, real)]).toEqual([url, false])
  })
})
