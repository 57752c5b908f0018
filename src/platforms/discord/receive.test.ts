// Events of people in Discord: their place, the addressed bot, attachments, and the sender.
import { afterEach, describe, expect, it } from 'vitest'
import type { InboundEvent } from '../../contract/index.ts'
import {
  FORUM,
  GENERAL,
  openStarted,
  type Scene,
  type SceneOptions,
  until,
} from './fixtures/discord-scene.ts'
import { isBlank } from './parse.ts'

const VOICE = '920000000000000003'
const BOT_ROLE = '940000000000000001'
let scene: Scene
afterEach(() => scene.close())

async function begin(options: SceneOptions = {}) {
  scene = await openStarted(options)
  return scene
}
type Said = Extract<InboundEvent, { kind: 'message' | 'edit' }>
const heard = (text: string) =>
  until(text, () => scene.intake.events.find((one): one is Said => 'text' in one && one.text.includes(text)))

describe('where it belongs', () => {
  it('[I20.chats-in] direct chats are direct; channels, voice, threads and posts are groups, threads under their channel', async () => {
    const { fake } = await begin()
    const kate = fake.person()
    kate.says('direct')
    expect(await heard('direct')).toMatchObject({
      chat: 'direct',
      conversation: kate.channel.id,
      sender: { id: kate.user.id, name: 'Kate' },
      mentioned: true,
    })
    for (const channel of [GENERAL, VOICE]) {
      fake.person({ channel }).says(`in ${channel}`)
      const event = await heard(`in ${channel}`)
      expect(event).toMatchObject({ chat: 'group', conversation: channel, mentioned: false })
      expect(event.thread).toBeUndefined()
    }
    const inside = fake.person({ channel: GENERAL }).opens('talk', 'opening')
    inside.says('in the thread')
    expect(await heard('in the thread')).toMatchObject({
      conversation: GENERAL,
      thread: inside.channel.id,
      chat: 'group',
    })
    const post = fake.person({ channel: FORUM }).opens('a post', 'first words')
    expect(await heard('first words')).toMatchObject({ conversation: FORUM, thread: post.channel.id })
    expect(scene.texts().filter((text) => text === 'first words')).toHaveLength(1)
  })

  it('[I20.chats-in] a thread that nobody told of is asked for, and one that is gone belongs to itself', async () => {
    const { fake } = await begin()
    fake.world.addChannel({
      id: '960000000000000001',
      type: 11,
      parent_id: GENERAL,
      thread_metadata: { archived: false, locked: false, auto_archive_duration: 60 },
    })
    fake.person({ channel: '960000000000000001' }).says('in a silent thread')
    expect(await heard('in a silent thread')).toMatchObject({
      conversation: GENERAL,
      thread: '960000000000000001',
    })
    const data = {
      id: '5',
      channel_id: '960000000000000002',
      guild_id: fake.world.guild.id,
      content: 'nowhere',
      author: { id: '77', username: 'x' },
    }
    fake.gateway.dispatch('MESSAGE_CREATE', data, { guild: fake.world.guild.id })
    expect(await heard('nowhere')).toMatchObject({ conversation: '960000000000000002', chat: 'group' })
  })
})

describe('who is meant', () => {
  it('[I20.mentions-in] by name, by a role of the bot, by an answer to it; not by others, and not by everyone', async () => {
    const { fake } = await begin()
    const kate = fake.person({ channel: GENERAL })
    const own = fake.world.put(GENERAL, { author: fake.world.bot, content: 'mine' })
    const cases: readonly (readonly [string, boolean, (() => unknown) | null])[] = [
      ['@switchboard by name', true, null],
      [`<@!${fake.world.bot.id}> by old name`, true, null],
      [`<@&${BOT_ROLE}> by role`, true, null],
      ['<@&940000000000000099> other role', false, null],
      ['@everyone all of you', false, null],
      ['an answer to it', true, () => kate.says('an answer to it', { replyTo: own.id })],
    ]
    for (const [text, mentioned, act] of cases) {
      if (act === null) kate.says(text)
      else act()
      const words = text.replace(/^\S+ /, '')
      expect([text, (await heard(words)).mentioned]).toEqual([text, mentioned])
    }
    expect((await heard('by name')).text).toBe('by name')
  })

  it('[I20.safe-names] a nickname writes no mention, no Markdown and no line of its own', async () => {
    const { fake } = await begin()
    const name = '**@everyone** <@1> `x`\n[a](b)\u202e'
    fake
      .person({ id: '930000000000000050', channel: GENERAL, name: 'eve', nick: name })
      .says('hi <@930000000000000050>')
    const event = await heard('hi')
    expect(event.sender.name).toMatch(/^[^*@<>`[\]()\n\u202e]+$/)
    expect(event.text).not.toMatch(/[<*`]|\u202e/)
  })
})

describe('what it says', () => {
  it('[I20.edits-in] an edit is an edit once; previews and pins are none; one that tells a part is asked for whole', async () => {
    const { fake, intake } = await begin()
    const kate = fake.person()
    const { id } = kate.says('first')
    await heard('first')
    kate.touches(id, { embeds: [{ type: 'link', url: 'https://a.example' }] })
    kate.touches(id, { pinned: true, edited_timestamp: '2020-01-01T00:00:00.000Z' })
    kate.edits(id, 'second')
    expect(await heard('second')).toMatchObject({
      kind: 'edit',
      messageId: id,
      editVersion: expect.any(Number),
    })
    const message = fake.world.find(kate.channel.id, id)
    if (message) message.content = 'third'
    const part = {
      id,
      channel_id: kate.channel.id,
      edited_timestamp: new Date(Date.now() + 1_000).toISOString(),
    }
    fake.gateway.dispatch('MESSAGE_UPDATE', part, {})
    await heard('third')
    fake.gateway.dispatch('MESSAGE_UPDATE', { id, channel_id: kate.channel.id, embeds: [] }, {})
    fake.gateway.dispatch('MESSAGE_UPDATE', { ...part, id: '12345' }, {})
    kate.says('last')
    await heard('last')
    expect(intake.events.map((event) => ('text' in event ? event.text : event.kind))).toEqual([
      'first',
      'second',
      'third',
      'last',
    ])
  })

  it('[I20.deletes-in] one and many', async () => {
    const { fake, intake } = await begin()
    const kate = fake.person({ channel: GENERAL })
    const [one, two, three] = ['a', 'b', 'c'].map((text) => kate.says(text).id)
    kate.deletes(one ?? '')
    fake.gateway.dispatch(
      'MESSAGE_DELETE_BULK',
      { ids: [two, three], channel_id: GENERAL, guild_id: fake.world.guild.id },
      { guild: fake.world.guild.id },
    )
    await until('three', () => intake.events.filter(({ kind }) => kind === 'delete').length === 3)
    const gone = intake.events.filter(({ kind }) => kind === 'delete')
    expect(gone.map((event) => ('messageId' in event ? event.messageId : ''))).toEqual([one, two, three])
    expect(gone[0]).toMatchObject({ conversation: GENERAL, sender: { id: '' } })
  })

  it('[I20.quotes-in] with what it quotes, also where that is gone', async () => {
    const { fake } = await begin()
    const kate = fake.person({ channel: GENERAL })
    const before = kate.says('the question')
    kate.says('the answer', { replyTo: before.id })
    expect((await heard('the answer')).replyTo).toEqual({
      messageId: before.id,
      text: 'the question',
      sender: kate.user.id,
    })
    kate.says('to nothing', { replyTo: '4711' })
    expect((await heard('to nothing')).replyTo).toEqual({ messageId: '4711' })
  })

  it('[I20.embeds-in] embeds that somebody made, forwards, polls and stickers as text; previews not', async () => {
    const { fake } = await begin()
    const kate = fake.person()
    kate.says('see', {
      fields: {
        embeds: [
          { type: 'rich', title: 'Title', description: 'Told', fields: [{ name: 'n', value: 'v' }] },
          { type: 'link', title: 'Preview' },
        ],
      },
    })
    expect((await heard('Title')).text).toBe('see\n\nTitle\nTold\nn: v')
    kate.says('', {
      fields: {
        message_reference: { type: 1, message_id: '1' },
        message_snapshots: [{ message: { content: 'old words' } }],
      },
    })
    const forwarded = await heard('old words')
    expect([forwarded.text, forwarded.replyTo]).toEqual(['(forwarded) old words', undefined])
    kate.says('', {
      fields: { poll: { question: { text: 'Tea?' }, answers: [{ poll_media: { text: 'Yes' } }] } },
    })
    expect((await heard('Tea')).text).toBe('(poll) Tea?\n- Yes')
    kate.says('', { fields: { sticker_items: [{ id: '9', name: 'Wave', format_type: 1 }] } })
    expect(await heard('Wave')).toMatchObject({
      text: '(sticker: Wave)',
      attachments: [{ kind: 'image', name: 'Wave.png' }],
    })
  })

  it('[I20.files-in] files are fetched when they are asked for, anew where the address ran out, and from no other host', async () => {
    const { fake, adapter } = await begin()
    const kate = fake.person()
    const { id } = kate.sendsFile({ name: '../../etc/x.png', mime: 'image/png', content: 'picture' })
    const [attachment] = (await heard('(file:')).attachments ?? []
    if (attachment === undefined) throw new Error('there is an attachment')
    expect(attachment).toMatchObject({ kind: 'image', size: 7 })
    expect(attachment.name).not.toContain('/')
    expect(fake.world.calls.some(({ path }) => path.includes('attachments'))).toBe(false)
    expect(await adapter.files?.download?.(attachment)).toMatchObject({ size: 7, mime: 'image/png' })
    const stale = { ...attachment, ref: attachment.ref.replace(/ex=\w+/, 'ex=1') }
    expect(await adapter.files?.download?.(stale)).toMatchObject({ size: 7 })
    expect(fake.world.calls.filter(({ name }) => name === 'get-message')).toHaveLength(1)
    const elsewhere = { ...attachment, ref: `${kate.channel.id} ${id} 1 https://evil.example/x.png` }
    await expect(adapter.files?.download?.(elsewhere)).rejects.toMatchObject({ code: 'platform_rejected' })
    await expect(adapter.files?.download?.({ ...attachment, size: 60_000_000 })).rejects.toMatchObject({
      code: 'too_large',
    })
  })

  it('[I20.bots-in] own words make no turn; bots and webhooks are marked as such; what Discord says itself is left out', async () => {
    const { fake, intake } = await begin()
    await scene.send(GENERAL, { kind: 'text', text: 'own words' })
    fake.person({ id: '930000000000000060', channel: GENERAL, isBot: true, name: 'other' }).says('beep')
    fake.person({ channel: GENERAL }).says('by hook', { fields: { webhook_id: '77' } })
    for (const type of [7, 6, 18, 21, 46])
      fake.person({ channel: GENERAL }).says(`system ${type}`, { fields: { type } })
    fake.person({ channel: GENERAL }).says('a person')
    await heard('a person')
    expect(scene.texts()).toEqual(['beep', 'by hook', 'a person'])
    expect(intake.events.map(({ sender }) => sender.isBot === true)).toEqual([true, true, false])
  })

  it('[I20.no-content] that the content is withheld is told once, and by doctor', async () => {
    const { fake, adapter, log } = await begin()
    const guild = { guild: fake.world.guild.id }
    const blank = (id: string) => ({
      id,
      channel_id: GENERAL,
      guild_id: guild.guild,
      type: 0,
      content: '',
      author: { id: '77', username: 'x' },
      embeds: [],
      attachments: [],
    })
    for (const id of ['21', '22', '23']) fake.gateway.dispatch('MESSAGE_CREATE', blank(id), guild)
    fake.person().says('after')
    await heard('after')
    expect(log.lines.filter((line) => line.includes('without their content'))).toHaveLength(1)
    expect(adapter.checks?.gates?.().find(({ gate }) => gate === 'intent Message Content')).toMatchObject({
      pass: false,
    })
    expect([isBlank({ ...blank('24'), content: undefined }), isBlank({ ...blank('25'), type: 7 })]).toEqual([
      true,
      false,
    ])
  })

  it('a reaction comes once, own ones not', async () => {
    const { fake, intake } = await begin()
    const kate = fake.person()
    const { id } = kate.says('look')
    kate.reacts(id, '👍')
    fake.gateway.dispatch(
      'MESSAGE_REACTION_ADD',
      { user_id: fake.world.bot.id, message_id: id, channel_id: kate.channel.id, emoji: { name: '👀' } },
      {},
    )
    kate.says('after')
    await heard('after')
    expect(intake.events.filter(({ kind }) => kind === 'reaction')).toMatchObject([{ emoji: '👍', on: id }])
  })
})
