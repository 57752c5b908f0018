// Sends to Discord: once, to the right place, in its form, without a ping, and with the true reason of each failure.
import { afterEach, describe, expect, it } from 'vitest'
import type { OutboundOp, TranscriptEntry } from '../../contract/index.ts'
import { splitText } from '../../kit/markdown/index.ts'
import { createTestClock } from '../../testing/test-clock.ts'
import {
  FORUM,
  GENERAL,
  openScene,
  openStarted,
  type Scene,
  type SceneOptions,
  sendRequest,
  textOp,
  until,
} from './fixtures/discord-scene.ts'
import { discordMarkdown } from './markdown.ts'
import { TEXT_LIMIT } from './render.ts'

let scene: Scene
afterEach(() => scene.close())

async function begin(options: SceneOptions = {}) {
  scene = await openStarted(options)
  return scene
}
const posts = () => scene.fake.world.calls.filter(({ name }) => name === 'create-message')

describe('texts', () => {
  it('[I20.markdown-out] [S7.discord-limit] in Discord’s Markdown; what could act in it shows as it is written', async () => {
    const { fake } = await begin()
    const cases: readonly (readonly [string, string])[] = [
      ['**b** *i* ~~s~~ `c`', '**b** *i* ~~s~~ `c`'],
      ['# One\n\n#### Four', '# One\n\n**Four**'],
      ['- a\n- b\n  - c', '- a\n- b\n  - c'],
      ['3. x\n4. y', '3. x\n4. y'],
      ['[t](https://a.example/x_y)', '[t](https://a.example/x%5Fy)'],
      ['https://a.example/', 'https://a.example/'],
      ['```js\nlet a\n```', '```js\nlet a\n```'],
      ['| a | b |\n|---|---|\n| 1 | 2 |', '```\na | b\n--|--\n1 | 2\n```'],
      [
        '||no spoiler|| <@1> <#2> <t:1:R> a_b_c',
        '\\|\\|no spoiler\\|\\| \\<@1\\> \\<#2\\> \\<t:1:R\\> a\\_b\\_c',
      ],
      ['> quote', '> quote'],
      ['[x](javascript:alert)', '\\[x\\]\\(javascript:alert\\)'],
    ]
    for (const [written, shown] of cases) {
      await scene.send(GENERAL, textOp(written))
      expect([written, fake.world.messages(GENERAL).at(-1)?.content]).toEqual([written, shown])
    }
  })

  it('[I20.markdown-out] [S7.discord-limit] 40,000 characters in parts of at most 2,000, fences closed and opened again', async () => {
    await begin()
    const long = `${'word_ *x* '.repeat(1_500)}\n\n\`\`\`ts\n${'let a = 1 // <@1>\n'.repeat(1_300)}\`\`\``
    const parts = splitText({ text: long }, TEXT_LIMIT, discordMarkdown)
    for (const [part, said] of parts.entries()) await scene.send(GENERAL, textOp(said), { part })
    const contents = posts().map(({ body }) => String(body.content))
    expect(Math.max(...contents.map(({ length }) => length))).toBeLessThanOrEqual(2_000)
    expect(contents.length).toBeGreaterThan(15)
    for (const content of contents) expect((content.match(/```/g) ?? []).length % 2).toBe(0)
    await expect(scene.send(GENERAL, textOp('x'.repeat(2_001)))).rejects.toMatchObject({
      code: 'platform_rejected',
      message: expect.stringContaining('2000'),
    })
    await scene.send(GENERAL, textOp('y'.repeat(9_000)), { cause: 'notice' })
    expect(String(posts().at(-1)?.body.content)).toMatch(/…$/)
    const before = posts().length
    const plain = splitText({ text: '*'.repeat(1_900), plain: true }, TEXT_LIMIT, discordMarkdown)
    for (const text of plain) await scene.send(GENERAL, { kind: 'text', text, plain: true })
    const stars = posts().slice(before)
    expect(stars.map(({ status }) => status)).toEqual([200, 200])
    expect(stars.map(({ body }) => body.content).join('')).toBe('\\*'.repeat(1_900))
  })

  it('[I20.no-ping] [S7.discord-mentions] nothing pings, on a post, an edit, an answer or a file', async () => {
    const { fake } = await begin()
    const words = '@everyone @here <@930000000000000001> <@&940000000000000001> ```\n@everyone\n```'
    const { platformIds } = await scene.send(GENERAL, textOp(words))
    const [on = ''] = platformIds
    await scene.send(GENERAL, { kind: 'edit', on, text: words })
    await scene.send(GENERAL, { kind: 'text', text: words, plain: true, replyTo: on })
    await scene.send(GENERAL, { kind: 'text', text: 'long', asFile: { name: 'a.md', caption: words } })
    expect(fake.world.pinged).toEqual([])
    const bodies = fake.world.calls
      .filter(({ name }) => name.endsWith('-message'))
      .map(({ body }) => body.allowed_mentions)
    expect(bodies).toEqual(Array.from({ length: 4 }, () => ({ parse: [], replied_user: false })))
  })

  it('quotes what it answers by reply_to_mode; one that is gone is no reason not to answer', async () => {
    const { fake } = await begin({ replyToMode: 'first' })
    const kate = fake.person({ channel: GENERAL })
    const { id } = kate.says('question')
    const op: OutboundOp = { kind: 'text', text: 'answer', replyTo: id }
    await scene.send(GENERAL, op, { part: 0 })
    await scene.send(GENERAL, op, { part: 1 })
    kate.deletes(id)
    await scene.send(GENERAL, op)
    expect(fake.world.messages(GENERAL).map(({ type }) => type)).toEqual([19, 0, 0])
    // If the history may not be read, quoting is refused, but sending is not.
    const channel = fake.world.channel(GENERAL)
    if (!channel) throw new Error('no such channel')
    channel.permission_overwrites = [{ id: fake.world.bot.id, type: 1, allow: '0', deny: String(1n << 16n) }]
    await scene.send(GENERAL, { ...op, text: 'unquoted' }, { key: 'o_unquoted' })
    expect(fake.world.messages(GENERAL).at(-1)).toMatchObject({ type: 0, content: 'unquoted' })
  })
})

describe('what else goes out', () => {
  it('[I20.components] [S7.discord-limit] buttons, which go when it is decided', async () => {
    const { fake } = await begin()
    const choices = [
      { label: 'Allow', value: 'v:abcde:allow' },
      { label: `Deny ${'x'.repeat(100)}`, value: 'v:abcde:deny' },
    ]
    const { platformIds } = await scene.send(GENERAL, {
      kind: 'prompt',
      approval: 'abcde',
      text: 'Run **it**?',
      choices,
    })
    const shown = fake.world.messages(GENERAL).at(-1)
    expect(shown?.components).toMatchObject([
      { type: 1, components: [{ style: 3, label: 'Allow', custom_id: 'v:abcde:allow' }, { style: 4 }] },
    ])
    await scene.send(GENERAL, { kind: 'edit', on: platformIds[0] ?? '', text: 'allowed by kate' })
    expect(shown).toMatchObject({ content: 'allowed by kate', components: [] })
    const many = Array.from({ length: 12 }, (_, at) => ({ label: `c${at}`, value: `v${at}` }))
    await scene.send(GENERAL, { kind: 'text', text: 'choose', choices: many })
    expect(fake.world.messages(GENERAL).at(-1)?.components).toHaveLength(3)
    // Counted like Discord, without half a character at the end.
    const rockets = [{ label: `a${'🚀'.repeat(60)}`, value: 'v' }]
    await scene.send(GENERAL, { kind: 'text', text: 'choose', choices: rockets })
    expect(fake.world.messages(GENERAL).at(-1)?.components).toMatchObject([
      { components: [{ label: `a${'🚀'.repeat(39)}` }] },
    ])
    const tooMany = Array.from({ length: 26 }, (_, at) => ({ label: 'c', value: `v${at}` }))
    await expect(scene.send(GENERAL, { kind: 'text', text: 'x', choices: tooMany })).rejects.toMatchObject({
      code: 'platform_rejected',
    })
    await expect(
      scene.send(GENERAL, { kind: 'text', text: 'x', choices: [{ label: 'a', value: 'v'.repeat(101) }] }),
    ).rejects.toMatchObject({ code: 'platform_rejected' })
  })

  it('[I20.threads-out] each: the answer goes into a thread at the message, and the thread is the session', async () => {
    const { fake } = await begin({ options: { threads: 'each' } })
    const kate = fake.person({ channel: GENERAL })
    const { id } = kate.says('@switchboard what is **this**?')
    const event = await until('the question', () => scene.intake.events.find((one) => 'text' in one))
    expect(event).toMatchObject({ conversation: GENERAL, thread: id })
    await scene.send(GENERAL, textOp('answer one'), { thread: id })
    await scene.send(GENERAL, textOp('answer two'), { thread: id })
    expect(fake.world.channel(id)).toMatchObject({ parent_id: GENERAL, name: 'what is this?' })
    expect(fake.world.messages(id).map(({ content }) => content)).toEqual(['answer one', 'answer two'])
    fake.person({ channel: id }).says('and in it')
    expect(
      await until('in it', () =>
        scene.intake.events.find((one) => 'text' in one && one.text === 'and in it'),
      ),
    ).toMatchObject({ conversation: GENERAL, thread: id })
  })

  it('[I20.threads-out] long: the rest of a long answer goes below its first part; a forum gets a post', async () => {
    const { fake } = await begin({ options: { threads: 'long' } })
    for (const part of [0, 1, 2]) await scene.send(GENERAL, textOp(`part ${part}`), { part, turn: 't_1' })
    await scene.send(GENERAL, textOp('short'), { turn: 't_2' })
    const [first, short, ...more] = fake.world.messages(GENERAL)
    expect([first?.content, short?.content, more]).toEqual(['part 0', 'short', []])
    expect(fake.world.messages(first?.id ?? '').map(({ content }) => content)).toEqual(['part 1', 'part 2'])
    const { platformIds } = await scene.send(FORUM, textOp('News of **today**'))
    const post = fake.world.channels().find(({ parent_id }) => parent_id === FORUM)
    expect(post?.name).toBe('News of today')
    expect(fake.world.messages(post?.id ?? '').map(({ id }) => id)).toEqual(platformIds)
  })

  it('[I20.threads-out] a long text in a forum is one post, and its parts stand in it', async () => {
    const rows: Partial<TranscriptEntry>[] = []
    const { fake } = await begin({ transcript: () => rows as readonly TranscriptEntry[] })
    for (const part of [0, 1, 2]) {
      const { platformIds } = await scene.send(FORUM, textOp(`part ${part}`), { part, seq: part + 10 })
      rows.push({ seq: part + 10, direction: 'out', platformMessageId: platformIds[0] ?? '' })
      // In between, another post gets a message.
      rows.push({ seq: part + 10, direction: 'out', thread: '1', platformMessageId: '2' })
    }
    const opened = fake.world.channels().filter(({ parent_id }) => parent_id === FORUM)
    expect(opened.map(({ id }) => fake.world.messages(id).map(({ content }) => content))).toEqual([
      ['part 0', 'part 1', 'part 2'],
    ])
  })

  it('[I20.files-out] files as multipart, up to the limit of the server', async () => {
    const { fake, adapter } = await begin()
    const keep = (size: number) =>
      adapter.files?.keep?.({ name: 'a "b".bin', mime: 'application/pdf', bytes: new Uint8Array(size) }) ??
      Promise.reject(new Error('files can be sent'))
    const op = async (size: number): Promise<OutboundOp> => ({
      kind: 'file',
      name: 'a "b".bin',
      mime: 'application/pdf',
      ref: await keep(size),
      caption: 'see *this*',
    })
    await scene.send(GENERAL, await op(1_000))
    const shown = fake.world.messages(GENERAL).at(-1)
    expect(shown).toMatchObject({
      content: 'see *this*',
      attachments: [{ size: 1_000, content_type: 'application/pdf' }],
    })
    const large = await op(21 * 1_048_576)
    const refused = (most: string) => ({
      code: 'platform_rejected',
      message: expect.stringMatching(new RegExp(`^40005: .*${most}`)),
    })
    await expect(scene.send(GENERAL, large)).rejects.toMatchObject(refused('20 MB'))
    // Discord's own limit decides. A refusal below ours is reported in the same way.
    fake.world.guild.premium_tier = 2
    const next = scene.make()
    const to = { integration: 'dc', conversation: GENERAL }
    await next.send({ to, op: large, key: 'o_boosted', seq: 90 })
    expect(fake.world.messages(GENERAL).at(-1)?.attachments).toMatchObject([{ size: 21 * 1_048_576 }])
    fake.world.guild.premium_tier = 0
    await expect(next.send({ to, op: large, key: 'o_less', seq: 91 })).rejects.toMatchObject(
      refused('larger than this place takes'),
    )
    await next.stop()
  })

  it('[I20.typing] is kept up until the work ends', async () => {
    const clock = createTestClock()
    scene = await openScene({ clock, timings: { typingMs: 8_000 } })
    const { adapter } = scene
    const to = { integration: 'dc', conversation: GENERAL }
    const said = () => scene.fake.world.calls.filter(({ name }) => name === 'typing').length
    const passes = async (times: number) => {
      await clock.advance(8_000)
      await until(`said ${times} times`, () => said() >= times)
    }
    adapter.signal?.(to, { kind: 'typing', on: true })
    adapter.signal?.(to, { kind: 'typing', on: true })
    await until('it is said', () => said() === 1)
    await passes(2)
    await passes(3)
    adapter.signal?.(to, { kind: 'typing', on: false })
    await clock.advance(600_000)
    // This send is answered after all earlier requests, so no further typing was sent.
    await adapter.send({ to, op: textOp('done'), key: 'o_done', seq: 1 })
    expect(said()).toBe(3)
  })

  it('reacts by emoji and by name, and says what it is not', async () => {
    const { fake } = await begin()
    const { id } = fake.person({ channel: GENERAL }).says('look')
    await scene.send(GENERAL, { kind: 'react', on: id, emoji: '👀' })
    await scene.send(GENERAL, { kind: 'react', on: id, emoji: '<:party:123456789>' })
    expect(fake.world.find(GENERAL, id)?.reactions?.map(({ emoji }) => emoji)).toEqual([
      '👀',
      'party:123456789',
    ])
    await expect(scene.send(GENERAL, { kind: 'react', on: id, emoji: 'nothing' })).rejects.toMatchObject({
      message: expect.stringContaining('10014'),
    })
  })
})

describe('where it goes, and why it does not', () => {
  it('[I20.targets] a channel, a person, their chat, a thread; anything else is refused', async () => {
    const { fake } = await begin()
    const kate = fake.person()
    const { conversation, platformIds } = await scene.send(kate.user.id, textOp('to her'))
    expect([conversation, platformIds.length]).toEqual([kate.channel.id, 1])
    await scene.send(kate.channel.id, textOp('to her chat'))
    expect(kate.sees()).toEqual(['to her', 'to her chat'])
    const thread = fake.person({ channel: GENERAL }).opens('talk', 'x').channel.id
    await scene.send(GENERAL, textOp('in it'), { thread })
    expect(fake.world.messages(thread).at(-1)?.content).toBe('in it')
    for (const target of ['#general', '@kate', '', '123456789012345678901234'])
      await expect(scene.send(target, textOp('x'))).rejects.toMatchObject({ code: 'platform_rejected' })
    await expect(scene.send('123456789012345678', textOp('x'))).rejects.toMatchObject({
      code: 'platform_rejected',
      message: expect.stringContaining('10003'),
    })
  })

  it('[I20.missing-rights] says which permission is missing in which channel, and who takes no messages', async () => {
    const { fake } = await begin()
    const deny = (bits: bigint) => {
      const channel = fake.world.channel(GENERAL)
      if (channel)
        channel.permission_overwrites = [{ id: fake.world.bot.id, type: 1, allow: '0', deny: String(bits) }]
    }
    const refusal = async (op: OutboundOp) =>
      (await scene.send(GENERAL, op).catch((error: Error) => error)) as Error
    deny(1n << 11n)
    expect((await refusal(textOp('x'))).message).toBe('50013: the bot lacks "Send Messages" in #general')
    deny(1n << 10n)
    expect((await refusal(textOp('x'))).message).toBe('50001: the bot lacks "View Channels" in #general')
    deny(1n << 15n)
    expect((await refusal({ kind: 'text', text: 'x', asFile: { name: 'a', caption: 'b' } })).message).toBe(
      '50013: the bot lacks "Attach Files" in #general',
    )
    const kate = fake.person()
    fake.world.closed.add(kate.user.id)
    await expect(scene.send(kate.user.id, textOp('x'))).rejects.toMatchObject({
      code: 'platform_rejected',
      message: expect.stringContaining('takes no direct messages'),
    })
  })

  it('[I20.gone-channel] a channel deleted in the middle refuses that message with the reason, and nothing else', async () => {
    const { fake } = await begin()
    const other = fake.world.addChannel({ id: '920000000000000021', type: 0, name: 'short-lived' })
    await scene.send(other.id, textOp('in time'))
    fake.deleteChannel(other.id)
    await expect(scene.send(other.id, textOp('too late'))).rejects.toMatchObject({
      code: 'platform_rejected',
      message: expect.stringContaining('10003'),
    })
    await scene.send(GENERAL, textOp('elsewhere'))
    expect(fake.world.messages(GENERAL).at(-1)?.content).toBe('elsewhere')
  })

  it('[I20.limits] a limit is kept for its route and channel alone, and learnt from the headers before it is met', async () => {
    const { fake } = await begin({ limits: true })
    const kate = fake.person()
    for (let at = 0; at < 5; at++) await scene.send(GENERAL, textOp(`m${at}`))
    const before = posts().length
    const wait = await scene.send(GENERAL, textOp('one more')).catch((error: unknown) => error)
    expect(wait).toMatchObject({ code: 'rate_limited' })
    expect((wait as { readonly retryAfterMs: number }).retryAfterMs).toBeGreaterThan(0)
    // No request went to Discord.
    expect(posts()).toHaveLength(before)
    await scene.send(kate.channel.id, textOp('another channel'))
    expect(kate.sees()).toEqual(['another channel'])
  })

  it('an answer that is being written is one message, which is changed', async () => {
    const { fake, adapter } = await begin()
    const { platformIds } = await scene.send(
      GENERAL,
      { kind: 'text', text: 'beg', partial: true },
      { key: 'o_s' },
    )
    if (adapter.streaming?.by !== 'edits') throw new Error('it streams by edits')
    await adapter.streaming.revise({ ...sendRequest(GENERAL, textOp('beginning')), shown: platformIds })
    await scene.send(GENERAL, textOp('the whole'), { shown: platformIds })
    expect(fake.world.messages(GENERAL).map(({ content }) => content)).toEqual(['the whole'])
    fake.world.remove(GENERAL, platformIds[0] ?? '')
    await expect(scene.send(GENERAL, textOp('again'), { shown: platformIds })).rejects.toMatchObject({
      code: 'not_found',
    })
  })
})
