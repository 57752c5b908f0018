// The fake Discord against the libraries that most bots use: @discordjs/rest, /ws and /core. They send and receive the
// same things against it as against Discord.
import { API } from '@discordjs/core'
import { DiscordAPIError, REST } from '@discordjs/rest'
import { CompressionMethod, WebSocketManager, WebSocketShardEvents } from '@discordjs/ws'
import { afterEach, describe, expect, it } from 'vitest'
import { until } from '../../platforms/discord/fixtures/discord-scene.ts'
import { createFakeDiscord, type FakeDiscord, type FakeDiscordOptions } from './fake-discord.ts'
import { FORUM_ID, GENERAL_ID, GUILD_ID, KATE_ID } from './world.ts'

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

async function open(options: FakeDiscordOptions = {}) {
  const fake = await createFakeDiscord(options)
  ends.push(() => fake.stop())
  const rest = new REST({ version: '10', api: fake.apiUrl, timeout: 5_000 }).setToken(fake.token)
  return { fake, rest, api: new API(rest) }
}

interface Heard {
  readonly t: string
  readonly d: Readonly<Record<string, unknown>>
}

function listen(
  fake: FakeDiscord,
  rest: REST,
  options: { readonly intents?: number; readonly compress?: true } = {},
) {
  const manager = new WebSocketManager({
    token: fake.token,
    intents: options.intents ?? 46_593,
    rest,
    ...(options.compress ? { compression: CompressionMethod.ZlibNative } : {}),
  })
  const heard: Heard[] = []
  manager.on(WebSocketShardEvents.Dispatch, (payload) => void heard.push(payload as unknown as Heard))
  const errors: unknown[] = []
  manager.on(WebSocketShardEvents.Error, (error) => void errors.push(error))
  ends.push(async () => manager.destroy())
  const texts = () => heard.filter(({ t }) => t === 'MESSAGE_CREATE').map(({ d }) => d.content)
  return { manager, heard, errors, texts }
}

describe('the fake Discord and @discordjs/rest', () => {
  it('[I20.fake-wire] posts, answers, edits, reacts, sends files and reads them back', async () => {
    const { fake, rest, api } = await open()
    expect(await api.users.getCurrent()).toMatchObject({ username: 'switchboard', bot: true })
    const first = await api.channels.createMessage(GENERAL_ID, {
      content: 'one',
      nonce: 'n-1',
      enforce_nonce: true,
    })
    const again = await api.channels.createMessage(GENERAL_ID, {
      content: 'one',
      nonce: 'n-1',
      enforce_nonce: true,
    })
    expect(again.id).toBe(first.id)
    await api.channels.createMessage(GENERAL_ID, {
      content: 'two',
      message_reference: { message_id: first.id },
      files: [{ name: 'a.txt', data: Buffer.from('hello'), contentType: 'text/plain' }],
    })
    await api.channels.editMessage(GENERAL_ID, first.id, { content: 'changed' })
    await api.channels.addMessageReaction(GENERAL_ID, first.id, '👍')
    const messages = await api.channels.getMessages(GENERAL_ID, { limit: 10 })
    expect(messages.map(({ content }) => content)).toEqual(['two', 'changed'])
    expect(messages[0]).toMatchObject({ type: 19, attachments: [{ filename: 'a.txt', size: 5 }] })
    expect(messages[1]).toMatchObject({ reactions: [{ emoji: { name: '👍' } }] })
    const after = await api.channels.getMessages(GENERAL_ID, { after: first.id, limit: 1 })
    expect(after.map(({ content }) => content)).toEqual(['two'])
    expect(await fetch(messages[0]?.attachments[0]?.url ?? '').then((answer) => answer.text())).toBe('hello')
    await api.channels.deleteMessage(GENERAL_ID, first.id)
    const gone = api.channels.createMessage(GENERAL_ID, { content: 'one', nonce: 'n-1', enforce_nonce: true })
    await expect(gone).rejects.toMatchObject({ code: 10008 })
    expect(rest).toBeDefined()
    expect(fake.world.messages(GENERAL_ID)).toHaveLength(1)
  })

  it('[I20.fake-wire] opens chats, threads and posts, and registers commands', async () => {
    const { fake, api } = await open()
    fake.person()
    const direct = await api.users.createDM(KATE_ID)
    expect(direct).toMatchObject({ type: 1, recipients: [{ id: KATE_ID }] })
    const message = await api.channels.createMessage(GENERAL_ID, { content: 'begin' })
    const thread = await api.channels.createThread(GENERAL_ID, { name: 'talk' }, message.id)
    expect(thread).toMatchObject({ id: message.id, type: 11, parent_id: GENERAL_ID })
    const post = await api.channels.createForumThread(FORUM_ID, {
      name: 'post',
      message: { content: 'first' },
    })
    expect(await api.channels.getMessages(post.id)).toMatchObject([{ content: 'first' }])
    const active = await api.guilds.getActiveThreads(GUILD_ID)
    expect(active.threads.map(({ name }) => name).toSorted()).toEqual(['post', 'talk'])
    await api.applicationCommands.bulkOverwriteGlobalCommands(fake.world.appId, [
      { name: 'ask', description: 'Ask', type: 1 },
    ])
    expect(await api.applicationCommands.getGlobalCommands(fake.world.appId)).toMatchObject([{ name: 'ask' }])
  })

  it('[I20.fake-wire] refuses as Discord does: codes, forms, rights, tokens', async () => {
    const { fake, api } = await open()
    const refused = async (asking: Promise<unknown>) => {
      const error = await asking.catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(DiscordAPIError)
      return error as DiscordAPIError
    }
    const long = await refused(api.channels.createMessage(GENERAL_ID, { content: 'x'.repeat(2_001) }))
    expect([long.code, long.message]).toEqual([50035, expect.stringContaining('2000 or fewer')])
    expect((await refused(api.channels.createMessage(GENERAL_ID, { content: '' }))).code).toBe(50006)
    expect((await refused(api.channels.get('1234567890'))).code).toBe(10003)
    const button = { type: 2 as const, style: 1 as const, label: 'a', custom_id: 'same' }
    const twice = { content: 'x', components: [{ type: 1 as const, components: [button, button] }] }
    expect((await refused(api.channels.createMessage(GENERAL_ID, twice))).message).toContain('DUPLICATED')
    const bot = fake.world.guild.roles[1]
    if (bot) bot.permissions = String(1n << 10n)
    expect((await refused(api.channels.createMessage(GENERAL_ID, { content: 'x' }))).code).toBe(50013)
    expect(await api.channels.getMessages(GENERAL_ID)).toEqual([])
    if (bot) bot.permissions = '0'
    expect((await refused(api.channels.get(GENERAL_ID))).code).toBe(50001)
    fake.revoke(true)
    expect((await refused(api.users.getCurrent())).status).toBe(401)
  })

  it('[I20.fake-limits] tells its limits in headers, which the library obeys', async () => {
    const { fake, rest, api } = await open({ limits: true, now: acceleratedClock(20) })
    const told: unknown[] = []
    rest.on('rateLimited', (info) => told.push(info))
    await Promise.all(
      Array.from({ length: 6 }, (_, at) => api.channels.createMessage(GENERAL_ID, { content: `m${at}` })),
    )
    expect(fake.world.messages(GENERAL_ID)).toHaveLength(6)
    expect(told.length).toBeGreaterThan(0)
  })
})

/** Time passes faster for the server, so the limit's window is short. The library waits as long as the headers say. */
function acceleratedClock(factor: number): () => number {
  const start = Date.now()
  return () => start + (Date.now() - start) * factor
}

describe('the fake Discord and @discordjs/ws', () => {
  it('[I20.fake-gateway] identifies, brings events by intents, and answers interactions', async () => {
    const { fake, rest, api } = await open()
    const { manager, heard, texts } = listen(fake, rest)
    await manager.connect()
    await until('the server', () => heard.some(({ t }) => t === 'GUILD_CREATE'))
    fake.person().says('direct')
    fake.person({ channel: GENERAL_ID }).says('in the channel')
    await until('both', () => texts().length === 2)
    expect(texts()).toEqual(['direct', 'in the channel'])
    const asked = fake.person().commands('status')
    const interaction = await until('the command', () => heard.find(({ t }) => t === 'INTERACTION_CREATE'))
    await api.interactions.reply(asked.id, asked.token, { content: 'fine', flags: 64 })
    expect(interaction.d).toMatchObject({ type: 2, data: { name: 'status' }, user: { id: KATE_ID } })
    expect(fake.world.ephemerals.map(({ text }) => text)).toEqual(['fine'])
    await expect(api.interactions.reply(asked.id, asked.token, { content: 'x' })).rejects.toMatchObject({
      code: 40060,
    })
  })

  it.each([{}, { compress: true as const }])(
    '[I20.fake-gateway] resumes after a reconnect and a lost connection, and replays what lies between (%o)',
    async (options) => {
      const { fake, rest } = await open()
      const { manager, texts } = listen(fake, rest, options)
      await manager.connect()
      const kate = fake.person()
      fake.gateway.reconnect()
      kate.says('while it reconnects')
      await until('resumed', () => fake.gateway.counts().resumed === 1)
      await until('the first', () => texts().includes('while it reconnects'))
      fake.cut()
      kate.says('while it is away')
      await until('resumed again', () => fake.gateway.counts().resumed === 2)
      await until('the second', () => texts().includes('while it is away'))
      expect(texts()).toEqual(['while it reconnects', 'while it is away'])
      expect(fake.gateway.counts().identified).toBe(1)
    },
  )

  it('[I20.fake-gateway] an invalid session is begun anew, and a zombie is found by its beats', async () => {
    const { fake, rest } = await open({ heartbeatMs: 150 })
    const { manager, heard } = listen(fake, rest)
    await manager.connect()
    fake.gateway.invalidate(false)
    await until('a second session', () => heard.filter(({ t }) => t === 'READY').length === 2, 15_000)
    fake.gateway.silence()
    await until('resumed', () => fake.gateway.counts().resumed === 1)
    expect(fake.gateway.counts()).toMatchObject({ identified: 2, resumed: 1 })
  })

  it('[I20.fake-gateway] refuses an intent that is not switched on, and a wrong token', async () => {
    const { fake, rest } = await open({ contentIntent: false })
    const { manager, errors } = listen(fake, rest)
    await expect(manager.connect()).rejects.toThrow(/disallowed intents/i)
    expect(errors.length).toBeGreaterThan(0)
    const other = listen(fake, rest, { intents: 1 << 9 })
    await other.manager.connect()
    fake.person({ channel: GENERAL_ID }).says('blank to it')
    fake.person({ channel: GENERAL_ID }).says('@switchboard not blank')
    await until('both', () => other.texts().length === 2)
    expect(other.texts()).toEqual(['', '<@900000000000000001> not blank'])
  })
})
