// Reading the history of Discord: the same events, in order, once; unreadable places; servers that answer oddly.
import { afterEach, describe, expect, it } from 'vitest'
import type { HistoryEntry, HistoryPlace } from '../../contract/index.ts'
import {
  FORUM,
  GENERAL,
  openStarted,
  type Scene,
  type SceneOptions,
  until,
} from './fixtures/discord-scene.ts'

const KATE = '930000000000000001'
let scene: Scene
afterEach(() => scene.close())

async function begin(options: SceneOptions = {}) {
  scene = await openStarted(options)
  return scene
}

async function places(): Promise<readonly HistoryPlace[]> {
  const reader = scene.adapter.history
  if (reader === undefined) throw new Error('Discord keeps a history')
  const all: HistoryPlace[] = []
  for (let page: string | undefined, asked = 0; asked < 10; asked++) {
    const answer = await reader.places({ since: 0, ...(page === undefined ? {} : { page }) })
    all.push(...answer.places)
    if (answer.next === undefined) return all
    page = answer.next
  }
  throw new Error('the list of places does not come to an end')
}

async function readAll(id: string, options: { after?: string | null; since?: number; limit?: number } = {}) {
  const entries: HistoryEntry[] = []
  for (let after = options.after ?? null, asked = 0; asked < 100; asked++) {
    const page = await scene.adapter.history?.read({
      place: { id },
      after,
      since: options.since ?? 0,
      limit: options.limit ?? 100,
    })
    if (page === undefined || 'unreadable' in page) throw new Error(JSON.stringify(page))
    entries.push(...page.entries)
    if (!page.more) return entries
    after = page.entries.at(-1)?.position ?? after
  }
  throw new Error('the history does not come to an end')
}
const texts = (entries: readonly HistoryEntry[]) => entries.map(({ event }) => event?.text ?? null)

describe('places', () => {
  it('[I20.history] channels that are seen, active threads and posts, and direct chats of those allowed', async () => {
    const { fake } = await begin({ allowFrom: [KATE, '930000000000000002', 'not-an-id'] })
    const kate = fake.person()
    const thread = fake.person({ channel: GENERAL }).opens('talk', 'opening').channel.id
    const post = fake.person({ channel: FORUM }).opens('a post', 'first').channel.id
    const found = await places()
    expect(found.map(({ id }) => id).toSorted()).toEqual(
      [kate.channel.id, GENERAL, '920000000000000003', `${GENERAL}/${thread}`, `${FORUM}/${post}`].toSorted(),
    )
    expect(found.find(({ id }) => id === GENERAL)?.name).toBe('#general')
    expect(scene.adapter.history?.placeOf?.({ conversation: GENERAL, thread })).toMatchObject({
      id: `${GENERAL}/${thread}`,
    })
    expect(scene.adapter.history?.placeOf?.({ conversation: 'x' })).toBeNull()
  })

  it('[I20.history-rights] a channel that is not seen is no place; without Read Message History it is told', async () => {
    const { fake } = await begin()
    const hidden = fake.world.addChannel({ id: '920000000000000011', type: 0, name: 'hidden' })
    hidden.permission_overwrites = [{ id: fake.world.bot.id, type: 1, allow: '0', deny: String(1n << 10n) }]
    const mute = fake.world.addChannel({ id: '920000000000000012', type: 0, name: 'mute' })
    mute.permission_overwrites = [{ id: fake.world.guild.id, type: 0, allow: '0', deny: String(1n << 16n) }]
    const found = (await places()).map(({ id }) => id)
    expect([found.includes(hidden.id), found.includes(mute.id)]).toEqual([false, true])
    const ask = (id: string) =>
      scene.adapter.history?.read({ place: { id }, after: null, since: 0, limit: 10 })
    expect(await ask(mute.id)).toEqual({
      unreadable: 'forbidden',
      detail: 'the bot lacks "Read Message History" in #mute',
    })
    expect(await ask(hidden.id)).toMatchObject({ unreadable: 'gone' })
    expect(await ask('920000000000000099')).toMatchObject({ unreadable: 'gone' })
  })
})

describe('reading', () => {
  it('[I20.history] 250 messages in order, once, from a message on or from a time on; own words pass', async () => {
    const { fake } = await begin()
    const kate = fake.person()
    const said = Array.from({ length: 250 }, (_, at) =>
      fake.world.put(kate.channel.id, {
        author: at % 50 === 49 ? fake.world.bot : kate.user,
        content: `m${at}`,
      }),
    )
    const all = texts(await readAll(kate.channel.id, { limit: 70 }))
    expect(all).toEqual(said.map(({ content }, at) => (at % 50 === 49 ? null : content)))
    const rest = texts(await readAll(kate.channel.id, { after: said[99]?.id ?? null, limit: 40 }))
    expect(rest).toEqual(all.slice(100))
    expect(await readAll(kate.channel.id, { after: said[249]?.id ?? null })).toEqual([])
    expect(await readAll(kate.channel.id, { since: Date.now() + 60_000 })).toEqual([])
  })

  it('[I35.left-discord-long] without a known message 5,300 are read, the oldest first, though so many are not kept at once', async () => {
    const { fake } = await begin()
    const kate = fake.person()
    for (let at = 0; at < 5_300; at++)
      fake.world.put(kate.channel.id, { author: kate.user, content: `m${at}` })
    const all = texts(await readAll(kate.channel.id, { limit: 1_000 }))
    expect(all).toHaveLength(5_300)
    expect([all[0], all[4_999], all[5_000], all[5_299]]).toEqual(['m0', 'm4999', 'm5000', 'm5299'])
  }, 60_000)

  it('[I20.history] is the event that the link would have brought: thread, mention, edit', async () => {
    const { fake } = await begin()
    const inside = fake.person({ channel: GENERAL }).opens('talk', 'opening')
    const { id } = inside.says('@switchboard in the thread')
    await until('live', () => scene.texts().includes('in the thread'))
    const live = scene.intake.events.find((event) => 'text' in event && event.text === 'in the thread')
    const [entry] = await readAll(`${GENERAL}/${inside.channel.id}`)
    const { guild: _, ...meta } = (live as { readonly meta: Record<string, string> }).meta
    expect(entry?.event).toEqual({ ...live, meta })
    inside.edits(id, 'changed')
    const [edited] = await readAll(`${GENERAL}/${inside.channel.id}`)
    expect(edited?.event).toMatchObject({ kind: 'message', text: 'changed', editVersion: expect.any(Number) })
  })

  it('[I35.b12a] a live message names the place whose history holds it, so that it can wait for what came before', async () => {
    const { fake } = await begin({ options: { threads: 'each' } })
    fake.person().says('directly')
    fake.person({ channel: GENERAL }).says('@switchboard opens a thread')
    fake.person({ channel: GENERAL }).opens('talk', 'opening').says('@switchboard within a thread')
    const said = ['directly', 'opens a thread', 'within a thread']
    await until('all of them', () => said.every((text) => scene.texts().includes(text)))
    for (const text of said) {
      const live = scene.intake.events.find((event) => 'text' in event && event.text === text)
      if (live === undefined) throw new Error('it was heard')
      const { conversation, thread, messageId } = live
      const at = { conversation, ...(thread === undefined ? {} : { thread }) }
      const place = scene.adapter.history?.livePlace?.({
        ...at,
        ...(messageId === undefined ? {} : { messageId }),
      })
      expect([text, texts(await readAll(place?.id ?? '')).includes(text)]).toEqual([text, true])
    }
    expect(scene.adapter.history?.livePlace?.({ conversation: 'x' })).toBeNull()
  })
})

describe('[I20.other-servers] servers that others wrote', () => {
  it('lack routes, resume addresses and limits, and are spoken to all the same', async () => {
    const missing = ['gateway-bot', 'get-application', 'active-threads', 'get-member', 'commands', 'typing']
    const { fake } = await begin({ missing })
    const kate = fake.person()
    kate.says('heard')
    await until('heard', () => scene.texts().includes('heard'))
    await scene.send(kate.channel.id, { kind: 'text', text: 'said' })
    expect(kate.sees()).toEqual(['said'])
    expect((await places()).map(({ id }) => id)).toContain(GENERAL)
    scene.adapter.signal?.({ integration: 'dc', conversation: kate.channel.id }, { kind: 'typing', on: true })
  })

  it('[I35.b32] what cannot be listed is told, and direct chats are compared though no server can be listed', async () => {
    await begin({ missing: ['active-threads'] })
    const reader = scene.adapter.history
    const listed = await reader?.places({ since: 0, page: '0' })
    expect(listed?.places.map(({ id }) => id)).toContain(GENERAL)
    expect(listed?.unlisted).toEqual([{ detail: expect.stringContaining('active threads'), lasting: true }])
    await scene.close()
    await begin({ missing: ['guild-channels'] })
    expect(await scene.adapter.history?.places({ since: 0, page: '0' })).toMatchObject({
      places: [],
      unlisted: [{ detail: expect.stringContaining('could not be listed') }],
    })
    await scene.close()
    await begin({ allowFrom: [KATE], missing: ['my-guilds'] })
    const kate = scene.fake.person()
    expect(await scene.adapter.history?.places({ since: 0 })).toEqual({
      places: [{ id: kate.channel.id }],
      next: '0',
    })
    await expect(scene.adapter.history?.places({ since: 0, page: '0' })).rejects.toThrow('404')
  })

  it('[I35.b32] without the route of a history nothing there is called compared', async () => {
    const { fake } = await begin({ missing: ['get-messages'] })
    const { id } = fake.person().channel
    const read = await scene.adapter.history?.read({ place: { id }, after: null, since: 0, limit: 10 })
    expect(read).toMatchObject({ unreadable: 'forbidden' })
  })

  it('[I35.b32] a history that gives one page for ever is a fault, not complete', async () => {
    const { fake } = await begin()
    const kate = fake.person()
    for (let at = 0; at < 250; at++)
      fake.world.put(kate.channel.id, { author: kate.user, content: `same ${at}` })
    const original = fake.world.messages
    const newest = original(kate.channel.id).slice(-100)
    Object.assign(fake.world, {
      // It returns the newest hundred for any query.
      messages: (id: string) =>
        id === kate.channel.id ? Object.assign([...newest], { filter: () => newest }) : original(id),
    })
    await expect(readAll(kate.channel.id, { since: 0 })).rejects.toThrow('do not move on')
  })

  it('count their ids from small numbers: nothing is taken for old', async () => {
    const { fake } = await begin()
    const kate = fake.person()
    for (let at = 1; at <= 120; at++)
      fake.world.put(kate.channel.id, { id: String(100 + at), author: kate.user, content: `small ${at}` })
    const since = Date.now() - 60_000
    const all = texts(await readAll(kate.channel.id, { since }))
    expect([all.length, all[0], all.at(-1)]).toEqual([120, 'small 1', 'small 120'])
    expect((await places()).find(({ id }) => id === kate.channel.id)?.activeAt).toBeUndefined()
    expect(texts(await readAll(kate.channel.id, { after: '110' }))).toHaveLength(110)
  })

  it('give the newest after a message instead of the next: what lies between is read too', async () => {
    const { fake } = await begin()
    const kate = fake.person()
    const said = Array.from({ length: 250 }, (_, at) =>
      fake.world.put(kate.channel.id, { author: kate.user, content: `n${at}` }),
    )
    const original = fake.world.messages
    const list = original(kate.channel.id)
    // A server whose `after` counts from the end.
    const odd = new Proxy(list, {
      get(target, key) {
        if (key !== 'filter') return Reflect.get(target, key)
        return (keep: (message: (typeof list)[number], at: number) => boolean) => {
          const kept = target.filter(keep)
          return Object.assign([...kept], {
            slice: (from: number, to?: number) =>
              from === 0 && to !== undefined ? kept.slice(-to) : kept.slice(from, to),
          })
        }
      },
    })
    Object.assign(fake.world, { messages: (id: string) => (id === kate.channel.id ? odd : original(id)) })
    const rest = texts(await readAll(kate.channel.id, { after: said[9]?.id ?? null }))
    expect([rest.length, rest[0], rest.at(-1), new Set(rest).size]).toEqual([240, 'n10', 'n249', 240])
  })
})
