// Reading the history of Slack page by page: limits, expired cursors, channels that disappear, and servers that report
// less than Slack does.
import { describe, expect, it } from 'vitest'
import type { HistoryPage } from '../../contract/index.ts'
import type { SlackClient } from './api/client.ts'
import type { Names } from './api/names.ts'
import { type Scene, withScene } from './fixtures/slack-scene.ts'
import { createHistory } from './history.ts'

const GENERAL = 'C0GENERAL'
const SINCE = 0

function reader({ adapter }: Scene) {
  if (!adapter.history) throw new Error('there is no history')
  return adapter.history
}

async function page(scene: Scene, id: string, after: string | null = null, limit = 100) {
  return reader(scene).read({ place: { id }, after, since: SINCE, limit })
}

const entriesOf = (found: HistoryPage) => ('entries' in found ? found.entries : [])

/** Reads a whole place, like the core. */
async function walk(scene: Scene, id: string, limit = 100): Promise<readonly (string | undefined)[]> {
  const texts: (string | undefined)[] = []
  let after: string | null = null
  for (let pages = 0; pages < 100; pages++) {
    const found = await page(scene, id, after, limit)
    texts.push(...entriesOf(found).map(({ event }) => event?.text))
    after = entriesOf(found).at(-1)?.position ?? after
    if (!('more' in found) || !found.more) return texts
  }
  throw new Error('it never ends')
}

const asked = ({ fake }: Scene, method = 'conversations.history') =>
  fake.world.calls.filter((call) => call.method === method).length

describe('history', () => {
  it('[I15.history-pages] a channel and a thread of several pages are told once each, in order, and read once', async () => {
    await withScene(async (scene) => {
      const kate = scene.fake.person({ channel: GENERAL })
      const { ts } = kate.says('root')
      const words = Array.from({ length: 450 }, (_, at) => `m${at}`)
      for (const word of words) kate.says(word)
      expect(await walk(scene, GENERAL)).toEqual(['root', ...words])
      // Three pages, and one more query for messages that came meanwhile.
      expect(asked(scene)).toBe(4)
      for (const word of words) kate.says(word, { thread: ts })
      expect(await walk(scene, `${GENERAL}/${ts}`)).toEqual(words)
      const first = await page(scene, GENERAL)
      expect('places' in first && first.places).toMatchObject([{ id: `${GENERAL}/${ts}` }])
    })
  })

  it('[I15.history-pages] what comes while the rest is handed over is not passed', async () => {
    await withScene(async (scene) => {
      const kate = scene.fake.person({ channel: GENERAL })
      for (let at = 0; at < 30; at++) kate.says(`m${at}`)
      const first = await page(scene, GENERAL, null, 20)
      expect(first).toMatchObject({ more: true })
      kate.says('meanwhile')
      const second = await page(scene, GENERAL, entriesOf(first).at(-1)?.position, 20)
      expect(entriesOf(second)).toHaveLength(10)
      expect(second).toMatchObject({ more: true })
      const third = await page(scene, GENERAL, entriesOf(second).at(-1)?.position, 20)
      expect(entriesOf(third).map(({ event }) => event?.text)).toEqual(['meanwhile'])
      expect(third).toMatchObject({ more: false })
    })
  })

  it('[I15.history-threads] a thread under what lies before the mark is named while it is answered', async () => {
    await withScene(async (scene) => {
      const kate = scene.fake.person({ channel: GENERAL })
      const quiet = kate.says('nobody answers this')
      const { ts } = kate.says('said and compared long ago')
      const { ts: mark } = kate.says('the mark')
      kate.says('a reply that the link did not bring', { thread: ts })
      const found = await page(scene, GENERAL, mark)
      expect(entriesOf(found)).toEqual([])
      expect(found).toMatchObject({ more: false, places: [{ id: `${GENERAL}/${ts}` }] })
      expect(JSON.stringify(found)).not.toContain(quiet.ts)
      expect(asked(scene)).toBe(1)
      // Also behind a flood, up to this distance and no further.
      for (let at = 0; at < 199; at++) kate.says(`m${at}`)
      expect(await page(scene, GENERAL, mark)).toMatchObject({ places: [{ id: `${GENERAL}/${ts}` }] })
      expect(asked(scene)).toBe(3)
    })
  })

  it('[I15.history-limit] a limit in the middle says how long, and what was read is not read again', async () => {
    await withScene(async (scene) => {
      const kate = scene.fake.person({ channel: GENERAL })
      for (let at = 0; at < 450; at++) kate.says(`m${at}`)
      scene.fake.plan([{ on: 'conversations.history', nth: 2, do: 'rate-limit', retryAfter: 9 }])
      await expect(page(scene, GENERAL)).rejects.toMatchObject({ code: 'rate_limited', retryAfterMs: 9_000 })
      expect(await walk(scene, GENERAL)).toHaveLength(450)
      expect(asked(scene)).toBe(4)
      scene.fake.plan([{ on: 'conversations.replies', do: 'rate-limit', retryAfter: 2 }])
      const { ts } = scene.fake.world.messages(GENERAL)[0] ?? { ts: '' }
      await expect(page(scene, `${GENERAL}/${ts}`)).rejects.toMatchObject({ code: 'rate_limited' })
    })
  })

  it('[I15.history-limit] a cursor that is not known any more begins anew', async () => {
    await withScene(async (scene) => {
      const kate = scene.fake.person({ channel: GENERAL })
      for (let at = 0; at < 250; at++) kate.says(`m${at}`)
      scene.fake.plan([{ on: 'conversations.history', nth: 2, do: 'rate-limit', retryAfter: 1 }])
      await expect(page(scene, GENERAL)).rejects.toMatchObject({ code: 'rate_limited' })
      scene.fake.forgetCursors()
      expect(await walk(scene, GENERAL)).toHaveLength(250)
    })
  })

  it('[I15.history-gone] a channel that goes away while it is read is gone; one that may not be read says what is missing', async () => {
    await withScene(async (scene) => {
      const kate = scene.fake.person({ channel: GENERAL })
      for (let at = 0; at < 250; at++) kate.says(`m${at}`)
      scene.fake.plan([{ on: 'conversations.history', nth: 2, do: 'rate-limit', retryAfter: 1 }])
      await expect(page(scene, GENERAL)).rejects.toMatchObject({ code: 'rate_limited' })
      scene.fake.world.channel(GENERAL)?.members.delete(scene.fake.world.bot.id)
      expect(await page(scene, GENERAL)).toMatchObject({ unreadable: 'gone' })
      expect(await page(scene, 'C0NOWHERE')).toMatchObject({ unreadable: 'gone' })
      expect(await page(scene, `${GENERAL}/1.000001`)).toMatchObject({ unreadable: 'gone' })
    })
    await withScene(
      async (scene) => {
        expect(await page(scene, GENERAL)).toMatchObject({
          unreadable: 'forbidden',
          detail: expect.stringContaining('channels:history'),
        })
      },
      { scopes: ['im:history', 'channels:read'] },
    )
  })

  it('[I15.history-gone] chats that are heard and may not be listed are told as such, never as complete', async () => {
    await withScene(
      async (scene) => {
        const { places, unlisted } = await reader(scene).places({ since: 0 })
        expect(places.map(({ id }) => id)).toContain(GENERAL)
        expect(unlisted).toEqual([{ detail: expect.stringContaining('groups:read'), lasting: true }])
      },
      { scopes: ['channels:history', 'channels:read', 'groups:history', 'im:history', 'im:read'] },
    )
    await withScene(
      async (scene) =>
        expect(await reader(scene).places({ since: 0 })).toMatchObject({
          places: [],
          unlisted: [{ detail: expect.stringContaining('im:read') }],
        }),
      { scopes: ['im:history'] },
    )
  })

  it.each([
    () => ({ next_cursor: 'the same' }),
    () => ({}),
    (calls: number) => ({ next_cursor: `cursor ${calls}` }),
  ])(
    '[I15.history-pages] [I35.b32] a server that gives one page for ever ends as a fault: %s',
    async (metadata) => {
      let calls = 0
      const me = { userId: 'U1', botId: null, teamId: 'T1', name: '', team: '', scopes: null }
      const client = {
        aheadMs: () => 0,
        async call() {
          if (++calls > 20) return new Promise<never>(() => undefined)
          const messages = [{ type: 'message', ts: '5.000001', user: 'U2', text: 'again' }]
          return {
            answer: { ok: true, messages, has_more: true, response_metadata: metadata(calls) },
            scopes: null,
          }
        },
      } as unknown as SlackClient
      const history = createHistory({
        client,
        self: async () => me,
        names: { find: async () => undefined } as unknown as Names,
        context: (self) => ({ self, replyToMode: 'first', nameOf: () => undefined, now: 0 }),
      })
      for (const id of [GENERAL, `${GENERAL}/5.000001`]) {
        calls = 0
        const read = history.read({ place: { id }, after: null, since: SINCE, limit: 100 })
        await expect(read).rejects.toMatchObject({ code: 'platform_unavailable' })
        expect(calls).toBeLessThan(5)
      }
    },
  )

  it('[I35.b32] kinds of chats that such a server does not list are told, though it names no scopes', async () => {
    await withScene(
      async (scene) => {
        const { places, unlisted } = await reader(scene).places({ since: 0 })
        expect(places.map(({ id }) => id)).toContain(GENERAL)
        expect(unlisted?.map(({ detail }) => detail)).toEqual([
          expect.stringContaining('groups:read'),
          expect.stringContaining('mpim:read'),
        ])
      },
      { silentScopes: true, scopes: ['channels:history', 'channels:read', 'im:read', 'im:history'] },
    )
  })

  it('[I35.b32] a method that such a server answers with a bare 404 is one that it does not have', async () => {
    await withScene(async (scene) => {
      scene.fake.plan([{ on: 'users.conversations', do: 'error', status: 404 }])
      const { places } = await reader(scene).places({ since: 0 })
      expect(places.map(({ id }) => id)).toContain(GENERAL)
    })
  })

  it('[I15.other-servers] a server without scopes, cursors or users.conversations is read all the same', async () => {
    const bare = { silentScopes: true, missing: ['users.conversations'], cursorless: true } as const
    await withScene(
      async (scene) => {
        const kate = scene.fake.person({ channel: GENERAL })
        const { ts } = kate.says('root')
        for (let at = 0; at < 449; at++) kate.says(`m${at}`)
        for (let at = 0; at < 450; at++) kate.says(`r${at}`, { thread: ts })
        const { places } = await reader(scene).places({ since: 0 })
        expect(places.map(({ id }) => id)).toContain(GENERAL)
        expect(await walk(scene, GENERAL)).toHaveLength(450)
        expect(await walk(scene, `${GENERAL}/${ts}`)).toHaveLength(450)
      },
      { ...bare, scopes: ['channels:history', 'channels:read', 'im:read', 'im:history'] },
    )
  })
})
