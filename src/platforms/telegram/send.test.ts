// Sends against the fake Bot API: the visible messages, and the true outcome if they may not have arrived.
import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type FileMirror, SwitchboardError } from '../../contract/index.ts'
import { createTestClock } from '../../testing/test-clock.ts'
import { openScene, type Scene, until } from './fixtures/telegram-scene.ts'

let scene: Scene
beforeEach(async () => {
  scene = await openScene()
})
afterEach(() => scene.close())

const CHOICES = [
  { label: 'Allow', value: 'allow:abcde' },
  { label: 'Deny', value: 'deny:abcde' },
]

async function failureOf(sending: Promise<unknown>): Promise<SwitchboardError> {
  const thrown = await sending.then(
    () => null,
    (error: unknown) => error,
  )
  expect(thrown).toBeInstanceOf(SwitchboardError)
  return thrown as SwitchboardError
}

describe('what people see', () => {
  it('[S7.telegram-html] [S7.markdown] HTML, and the plain text where Telegram does not take it', async () => {
    const kate = scene.fake.person()
    await scene.send(kate.chat.id, { kind: 'text', text: '**hi** `x`' })
    expect(scene.fake.world.shown(kate.chat.id).at(-1)?.message).toMatchObject({
      text: 'hi x',
      entities: [{ type: 'bold' }, { type: 'code' }],
    })
    scene.fake.world.calls.length = 0
    // A stricter server refuses once, and the same text is sent plainly.
    const refusing = await openScene({ faults: [] })
    const anna = refusing.fake.person()
    refusing.fake.world.refuseMarkup = true
    await refusing.send(anna.chat.id, { kind: 'text', text: '**hi**' })
    expect(anna.sees()).toEqual(['hi'])
    await refusing.close()
  })

  it('[I15.partial-edits] an answer that is being written grows in one message, and ends as the final text', async () => {
    const kate = scene.fake.person()
    const to = { integration: 'tg', conversation: String(kate.chat.id) }
    const { platformIds } = await scene.send(kate.chat.id, { kind: 'text', text: 'Once', partial: true })
    const more = { to, key: 'o_1', seq: 1, shown: platformIds }
    const { streaming } = scene.adapter
    if (streaming?.by !== 'edits') throw new Error('it streams by edits')
    await streaming.revise({ ...more, op: { kind: 'text', text: 'Once **upon', partial: true } })
    expect(kate.sees()).toEqual(['Once **upon'])
    const made = await scene.adapter.send({ ...more, op: { kind: 'text', text: 'Once **upon** a time' } })
    // A repeat does no harm.
    await scene.adapter.send({ ...more, op: { kind: 'text', text: 'Once **upon** a time' } })
    expect(made.platformIds).toEqual(platformIds)
    expect(kate.sees()).toEqual(['Once upon a time'])
  })

  it('[I13.split-once] a text is one message, with its reply and its buttons; one that is too long is refused, not cut', async () => {
    const kate = scene.fake.person()
    const asked = kate.says('go')
    const op = {
      kind: 'text',
      text: '😀'.repeat(2_048),
      replyTo: String(asked.message_id),
      choices: CHOICES,
    } as const
    const { platformIds } = await scene.send(kate.chat.id, op)
    expect(platformIds).toHaveLength(1)
    expect(kate.sees()).toEqual([op.text])
    const [shown] = scene.fake.world.shown(kate.chat.id).filter(({ fromBot }) => fromBot)
    expect(shown?.message).toMatchObject({ reply_to_message: {}, reply_markup: {} })
    const error = await failureOf(scene.send(kate.chat.id, { ...op, text: `${op.text}x` }))
    expect(error).toMatchObject({ code: 'platform_rejected', message: expect.stringContaining('4096') })
    expect(kate.sees()).toHaveLength(1)
  })

  it('[S11.format] a plain text is shown as it was written, sent and edited', async () => {
    const kate = scene.fake.person()
    const text = '**not bold** `<b>` 1\\. [a](https://e.test)'
    const { platformIds } = await scene.send(kate.chat.id, { kind: 'text', text, plain: true })
    expect(scene.fake.world.shown(kate.chat.id).at(-1)?.message).toMatchObject({ text })
    expect(scene.fake.world.shown(kate.chat.id).at(-1)?.message.entities ?? []).toEqual([])
    const edited = `${text} _now_`
    await scene.send(kate.chat.id, { kind: 'edit', on: platformIds[0] ?? '', text: edited, plain: true })
    expect(kate.sees()).toEqual([edited])
  })

  it('[I14.status-telegram] what the agent is doing is one silent message: edited, deleted, and never twice', async () => {
    const kate = scene.fake.person()
    const to = { integration: 'tg', conversation: String(kate.chat.id) }
    const show = (text: string, line: string | null) => scene.adapter.status?.show(to, text, line)
    const line = (await show('reading <b>', null)) ?? ''
    expect(kate.sees()).toEqual(['⏳ reading <b>'])
    const [shown] = scene.fake.world.shown(kate.chat.id)
    expect([String(shown?.message.message_id), shown?.silent]).toEqual([line, true])
    expect(await show('writing', line)).toBe(line)
    expect(await show('writing', line)).toBe(line)
    expect(kate.sees()).toEqual(['⏳ writing'])
    await scene.adapter.status?.remove(to, line)
    await scene.adapter.status?.remove(to, line)
    expect(kate.sees()).toEqual([])
    expect((await failureOf(Promise.resolve(show('again', line)))).code).toBe('platform_rejected')
  })

  it('[S7.telegram-topics] into a topic, [S7.telegram-channelname] to a channel by its name, to a group that moved', async () => {
    const { world } = scene.fake
    world.addChat({ id: -1009, type: 'supergroup', title: 'Forum', is_forum: true })
    await scene.send(-1009, { kind: 'text', text: 'in topic' }, { thread: '42' })
    expect(world.shown(-1009)[0]?.message).toMatchObject({ message_thread_id: 42 })
    world.addChat({ id: -1008, type: 'channel', title: 'News', username: 'news_of_ours' })
    await scene.send('@news_of_ours', { kind: 'text', text: 'to all' })
    expect(world.shown(-1008)[0]?.message.text).toBe('to all')
    world.addChat({ id: -5, type: 'group', title: 'Old', moved_to: -1005 } as never)
    world.addChat({ id: -1005, type: 'supergroup', title: 'New' })
    await scene.send(-5, { kind: 'text', text: 'moved' })
    expect(world.shown(-1005)[0]?.message.text).toBe('moved')
  })

  it('[S11.notify-urgency-tg] low urgency makes no sound', async () => {
    const kate = scene.fake.person()
    for (const urgency of ['low', 'normal', 'high'] as const)
      await scene.send(kate.chat.id, { kind: 'text', text: urgency, urgency })
    expect(scene.fake.world.shown(kate.chat.id).map(({ silent }) => silent)).toEqual([true, false, false])
  })

  it('[I14.urgency-telegram] high is marked on the screen, whatever the form, and the mark takes no room from the text', async () => {
    const kate = scene.fake.person()
    const shown = () => scene.fake.world.shown(kate.chat.id).map(({ message }) => message.text)
    for (const urgency of ['low', 'normal', 'high'] as const)
      await scene.send(kate.chat.id, { kind: 'text', text: `*${urgency}*`, urgency })
    await scene.send(kate.chat.id, { kind: 'text', text: '*as is*', urgency: 'high', plain: true })
    expect(shown()).toEqual(['low', 'normal', '❗ high', '❗ *as is*'])
    const long = 'x'.repeat(4096)
    await scene.send(kate.chat.id, { kind: 'text', text: long, urgency: 'high' })
    expect(shown().at(-1)).toBe(long)
  })

  it('[S7.telegram-buttons] a prompt has buttons until it is decided', async () => {
    const kate = scene.fake.person()
    const { platformIds } = await scene.send(kate.chat.id, {
      kind: 'prompt',
      approval: 'abcde',
      text: 'Run it?',
      choices: CHOICES,
    })
    const [shown] = scene.fake.world.shown(kate.chat.id)
    expect(shown?.message.reply_markup?.inline_keyboard).toEqual([
      [
        { text: 'Allow', callback_data: 'allow:abcde' },
        { text: 'Deny', callback_data: 'deny:abcde' },
      ],
    ])
    const edit = { kind: 'edit', on: platformIds[0] ?? '', text: '*Allowed*' } as const
    await scene.send(kate.chat.id, edit)
    expect(shown?.message).toMatchObject({ text: 'Allowed' })
    expect(shown?.message.reply_markup).toBeUndefined()
    // An edit to the same text changes nothing.
    expect(await scene.send(kate.chat.id, edit)).toEqual({ platformIds: edit.on === '' ? [] : [edit.on] })
    const long = await failureOf(
      scene.send(kate.chat.id, { kind: 'text', text: 'x', choices: [{ label: 'A', value: 'x'.repeat(65) }] }),
    )
    expect(long).toMatchObject({ code: 'platform_rejected', message: expect.stringContaining('64 bytes') })
  })

  it('reactions, and a clear word for one that Telegram does not have', async () => {
    const kate = scene.fake.person()
    const { message_id } = kate.says('hi')
    await scene.send(kate.chat.id, { kind: 'react', on: String(message_id), emoji: '👀' })
    expect(scene.fake.world.find(kate.chat.id, message_id)?.reaction).toBe('👀')
    const error = await failureOf(
      scene.send(kate.chat.id, { kind: 'react', on: String(message_id), emoji: '🦖' }),
    )
    expect(error).toMatchObject({ code: 'platform_rejected', message: expect.stringContaining('🦖') })
    expect((await failureOf(scene.send(1, { kind: 'react', on: 'x', emoji: '👀' }))).message).toContain(
      'not the id',
    )
  })

  it('[I5.typing] typing, said again until it ends', async () => {
    const clock = createTestClock()
    const driven = await openScene({ clock })
    const kate = driven.fake.person()
    const to = { integration: 'tg', conversation: String(kate.chat.id) }
    const said = () => driven.fake.world.calls.filter(({ method }) => method === 'sendChatAction').length
    driven.adapter.signal?.(to, { kind: 'typing', on: true })
    driven.adapter.signal?.(to, { kind: 'typing', on: true })
    await until('first', () => said() === 1)
    await clock.advance(4_600)
    await until('again', () => said() === 2)
    driven.adapter.signal?.(to, { kind: 'typing', on: false })
    await clock.advance(20_000)
    expect(said()).toBe(2)
    await driven.close()
  })
})

describe('files', () => {
  it('[S7.attachments-after-gate] [I5.attachments] are fetched into our folder under a name of ours, and sent from there alone', async () => {
    const kate = scene.fake.person()
    await scene.start()
    kate.sendsFile({ name: '../../evil.sh', content: 'echo', mime: 'text/x-sh' })
    const event = await until('the message', () => scene.intake.events[0])
    expect(scene.fake.world.calls.filter(({ method }) => method === 'getFile')).toEqual([])
    const [attachment] = ('attachments' in event && event.attachments) || []
    if (!attachment) throw new Error('no attachment')
    const file = await scene.adapter.files?.download?.(attachment)
    expect(file).toMatchObject({ name: 'evil.sh', size: 4, mime: 'text/x-sh' })
    expect(file?.path.startsWith(`${scene.filesDir}/`)).toBe(true)
    expect(existsSync(file?.path ?? '')).toBe(true)
    const op = {
      kind: 'file',
      name: 'evil.sh',
      mime: 'text/plain',
      ref: file?.path ?? '',
      caption: '*here*',
    } as const
    await scene.send(kate.chat.id, op)
    expect(scene.fake.world.shown(kate.chat.id).at(-1)?.message).toMatchObject({
      caption: 'here',
      document: { file_name: 'evil.sh', file_size: 4 },
    })
    await scene.send(kate.chat.id, { ...op, mime: 'image/png', ref: 'telegram:BQACAgQAAxkFILE1' })
    expect(scene.fake.world.shown(kate.chat.id).at(-1)?.message.photo).toBeDefined()
  })

  it('too large, gone, or from elsewhere: refused with the reason', async () => {
    const big = { id: '1', kind: 'file', ref: 'x', size: 21 * 1_048_576 } as const
    expect((await failureOf(scene.adapter.files?.download?.(big) ?? Promise.resolve())).code).toBe(
      'too_large',
    )
    const gone = { id: '1', kind: 'file', ref: 'x' } as const
    expect((await failureOf(scene.adapter.files?.download?.(gone) ?? Promise.resolve())).code).toBe(
      'platform_rejected',
    )
    const outside = join(scene.filesDir, '..', 'swb-outside.txt')
    writeFileSync(outside, 'secret')
    mkdirSync(scene.filesDir, { recursive: true })
    symlinkSync(outside, join(scene.filesDir, 'link.txt'))
    for (const ref of [outside, '../swb-outside.txt', 'link.txt', '/etc/passwd', 'nothing.txt']) {
      const error = await failureOf(scene.send(1, { kind: 'file', name: 'x', mime: 'text/plain', ref }))
      expect([ref, error.code]).toEqual([ref, 'platform_rejected'])
    }
  })
})

describe('files on several nodes', () => {
  const report = { name: '../Bericht für alle.txt', mime: 'text/plain', bytes: Buffer.from('report') }
  const op = { kind: 'file', name: 'report.txt', mime: 'text/plain' } as const

  it('[I6.files-shared] a file that one node kept is sent by another, also when the first one is gone', async () => {
    const shared = new Map<string, Uint8Array>()
    const mirror: FileMirror = {
      put: async (name, bytes) => void shared.set(name, bytes),
      get: async (name) => shared.get(name) ?? null,
    }
    const one = await openScene({ mirror })
    const ref = (await one.adapter.files?.keep?.(report)) ?? ''
    await one.close()
    const other = await openScene({ mirror })
    try {
      const kate = other.fake.person()
      await other.send(kate.chat.id, { ...op, ref })
      expect(other.fake.world.shown(kate.chat.id).at(-1)?.message).toMatchObject({
        document: { file_name: 'report.txt', file_size: 6 },
      })
      expect(statSync(join(other.filesDir, ref)).mode & 0o777).toBe(0o600)
      shared.set('../evil', Buffer.from('evil'))
      for (const bad of ['../evil', 'nothing.txt', join(one.filesDir, ref)]) {
        const error = await failureOf(other.send(kate.chat.id, { ...op, ref: bad }))
        expect([bad, error.code]).toEqual([bad, 'platform_rejected'])
      }
    } finally {
      await other.close()
    }
  })

  it('[I6.files-truth] the database is away: nothing is kept, and a send is tried again later', async () => {
    const lost = () => Promise.reject(new SwitchboardError('store_unavailable', 'the database is away'))
    const cut = await openScene({ mirror: { put: lost, get: lost } })
    try {
      expect((await failureOf(cut.adapter.files?.keep?.(report) ?? Promise.resolve())).code).toBe(
        'store_unavailable',
      )
      expect(readdirSync(cut.filesDir)).toEqual([])
      const error = await failureOf(cut.send(1, { ...op, ref: 'elsewhere.txt' }))
      expect([error.code, error.nature.retryable]).toEqual(['store_unavailable', true])
      expect(cut.fake.world.calls.filter(({ method }) => method === 'sendDocument')).toEqual([])
    } finally {
      await cut.close()
    }
  })
})

describe('the truth about what may not have arrived', () => {
  const text = { kind: 'text', text: 'hello' } as const

  it.each([
    ['rate-limit', { retryAfter: 7 }, 'rate_limited', 0],
    ['error', { status: 500 }, 'platform_unavailable', 0],
    ['error', { status: 502 }, 'platform_unavailable', 0],
    ['error', { status: 504 }, 'outcome_unknown', 0],
    ['drop-response', {}, 'outcome_unknown', 1],
    ['half-open', {}, 'outcome_unknown', 1],
    ['deaf', {}, 'outcome_unknown', 0],
    ['malformed', {}, 'outcome_unknown', 1],
  ] as const)('[S7.retry-after] %s %j is %s', async (fault, more, code, arrived) => {
    const kate = scene.fake.person()
    scene.fake.plan([{ on: 'sendMessage', do: fault, ...more }])
    const error = await failureOf(scene.send(kate.chat.id, text))
    expect(error.code).toBe(code)
    if (fault === 'rate-limit') expect(error.retryAfterMs).toBe(7_000)
    expect(kate.sees()).toHaveLength(arrived)
    expect(JSON.stringify([error.message, error.stack, error.cause])).not.toContain(scene.fake.token)
  })

  it('[S7.base-url] nobody listens at api_root: it did not go out', async () => {
    const away = await openScene({ apiRoot: 'http://127.0.0.1:9' })
    expect((await failureOf(away.send(1, text))).code).toBe('platform_unavailable')
    await away.close()
  })

  it('an edit that is too long is refused with the limit, never cut and called done; a retired prompt is cut', async () => {
    const kate = scene.fake.person()
    const { platformIds } = await scene.send(kate.chat.id, { kind: 'text', text: 'short' })
    const on = platformIds[0] ?? ''
    for (const text of ['x'.repeat(4_097), '😀'.repeat(2_049)]) {
      const edit = scene.send(kate.chat.id, { kind: 'edit', on, text }, { cause: 'reply' })
      expect(await failureOf(edit)).toMatchObject({
        code: 'platform_rejected',
        message: expect.stringContaining('4096'),
      })
    }
    expect(kate.sees()).toEqual(['short'])
    const long = 'y'.repeat(4_096)
    await scene.send(kate.chat.id, { kind: 'edit', on, text: long }, { cause: 'reply' })
    expect(kate.sees()).toEqual([long])
    await scene.send(kate.chat.id, { kind: 'edit', on, text: 'z'.repeat(5_000) }, { cause: 'notice' })
    expect(kate.sees()[0]).toMatch(/^z{3000,}/)
  })

  it('an edit or a reaction with a lost answer is simply made again', async () => {
    const kate = scene.fake.person()
    const { platformIds } = await scene.send(kate.chat.id, text)
    scene.fake.plan([{ on: 'editMessageText', do: 'drop-response' }])
    const edit = scene.send(kate.chat.id, { kind: 'edit', on: platformIds[0] ?? '', text: 'new' })
    expect((await failureOf(edit)).code).toBe('platform_unavailable')
    const request = { to: { integration: 'tg', conversation: '1' }, key: 'k', seq: 1 }
    const reconciled = (op: Parameters<Scene['send']>[1]) => scene.adapter.reconcile?.({ ...request, op })
    expect(await reconciled({ kind: 'edit', on: '1', text: 'x' })).toEqual({ outcome: 'absent' })
    expect(await reconciled(text)).toEqual({ outcome: 'unknown' })
  })

  it('an edit that changes nothing is done; one of a message that is gone is refused', async () => {
    const kate = scene.fake.person()
    const [on = ''] = (await scene.send(kate.chat.id, text)).platformIds
    const edit = (id: string) => scene.send(kate.chat.id, { kind: 'edit', on: id, text: 'once more' })
    await edit(on)
    expect((await edit(on)).platformIds).toEqual([on])
    expect((await failureOf(edit('999999'))).code).toBe('platform_rejected')
  })

  it('refusals for good carry Telegram’s words', async () => {
    expect((await failureOf(scene.send(12345, text))).message).toBe('Telegram: Bad Request: chat not found')
    scene.fake.world.addChat({ id: 6, type: 'private', blocked: true } as never)
    expect(await failureOf(scene.send(6, text))).toMatchObject({
      code: 'platform_rejected',
      message: 'Telegram: Forbidden: bot was blocked by the user',
    })
  })
})
