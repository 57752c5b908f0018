// The chat page where it cannot trust what it hears: answers of others in the gateway's place, other tabs, other links.
import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'
import type { HttpReply } from '../../src/contract/index.ts'
import { deliveryUnder, send, type Visitor } from './chromium.ts'
import { createPageScene } from './page-scene.ts'
import type { RiverDouble } from './river-double.ts'

const scene = createPageScene()
let river: RiverDouble
let visitor: Visitor

beforeEach(() => {
  river = scene.river()
  visitor = scene.visitor()
})

describe('several tabs of one browser', () => {
  it('signing out in one ends the other, which was opened by an older link', async () => {
    const { page } = visitor
    const second = await visitor.context.newPage()
    await second.goto(await river.chatLink())
    await second.getByText('connected', { exact: true }).waitFor()
    await second.getByRole('button', { name: 'Menu' }).click()
    await second.getByText('Sign out').click()
    for (const one of [second, page]) await one.getByText('This browser is not signed in').waitFor()
    await river.say({ kind: 'text', text: 'private' })
    expect(await page.getByText('private').count()).toBe(0)
  })

  it('a message that finds no session any more says so, and is sent after signing in again', async () => {
    const { page } = visitor
    // The session ends, and the stream does not hear of it.
    const gone = { status: 401, body: '{"error":{"code":"unauthorized","message":"no session"}}' }
    river.instead = (_, path) => (path === '/chat/messages' || path === '/chat/me' ? gone : null)
    await send(page, 'kept meanwhile')
    await page.getByText('This browser is not signed in').waitFor()
    river.instead = null
    await page.goto('about:blank')
    await page.goto(await river.chatLink())
    await page.getByText('you said: kept meanwhile').waitFor()
    expect(await page.getByText('This browser is not signed in').count()).toBe(0)
  })

  it.each(['owner', 'kate'])(
    'a tab that asks before the cookie of a new link (%s) is there finds in with it',
    async (who) => {
      const { page } = visitor
      const signedOut = page.getByText('This browser is not signed in')
      // The older session has ended at the gateway; the answer with the new one is still on its way.
      river.late = async (path) => {
        if (path === '/chat/session') await signedOut.waitFor()
      }
      const second = await visitor.context.newPage()
      await second.goto(await river.chatLink(who))
      for (const one of [second, page]) await one.getByText('connected', { exact: true }).waitFor()
      await send(page, 'quiet in the older tab')
      await deliveryUnder(page, 'quiet in the older tab').getByText('seen').waitFor()
      expect(river.received).toMatchObject([{ sender: { id: who } }])
    },
  )

  it('a link for somebody else turns every tab to their chat: two chats are never in one', async () => {
    await river.say({ kind: 'text', text: 'for the owner' })
    await visitor.page.getByText('for the owner').waitFor()
    const second = await visitor.context.newPage()
    await second.goto(await river.chatLink('kate'))
    await second.getByText('connected', { exact: true }).waitFor()
    await visitor.page.getByText('for the owner').waitFor({ state: 'detached' })
    await visitor.page.getByText('connected', { exact: true }).waitFor()
    await send(visitor.page, 'quiet as kate')
    await deliveryUnder(visitor.page, 'quiet as kate').getByText('seen').waitFor()
    expect(river.received).toMatchObject([{ sender: { id: 'kate' } }])
  })
})

describe('what was typed', () => {
  it('and not sent is nobody else’s: it goes with signing out', async () => {
    const { page } = visitor
    const box = page.getByRole('textbox', { name: /^Message/ })
    const again = async (sender: string) => {
      await page.goto('about:blank')
      await page.goto(await river.chatLink(sender))
      await page.getByText('connected', { exact: true }).waitFor()
      return box.inputValue()
    }
    await box.fill('only mine')
    expect(await again('kate')).toBe('')
    expect(await again('owner')).toBe('only mine')
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByText('Sign out').click()
    await page.getByText('This browser is not signed in').waitFor()
    expect(await again('owner')).toBe('')
  })
})

describe('two tabs with one outbox', () => {
  it('a no that one of them hears stands under the message in the other, which wrote it', async () => {
    const second = await visitor.context.newPage()
    await second.goto(`${river.url}/chat`)
    await second.getByText('connected', { exact: true }).waitFor()
    const no = JSON.stringify({ error: { code: 'too_large', message: 'text is too long' } })
    let posts = 0
    river.instead = (_, path) => {
      if (path !== '/chat/messages') return null
      posts += 1
      // The first is told to wait; what the second tab sends goes behind it.
      return posts === 1
        ? { status: 429, headers: { 'retry-after': '600' } }
        : posts === 2
          ? { status: 413, body: no }
          : null
    }
    await send(visitor.page, 'written here')
    await expect.poll(() => posts, { timeout: 10_000 }).toBeGreaterThan(0)
    await send(second, 'and there')
    await second.getByText('you said: and there').waitFor()
    await deliveryUnder(visitor.page, 'written here').getByText('refused — text is too long').waitFor()
  })
})

describe('tabs in the background', () => {
  it('[I3.web-windows] eight of one browser do not lock each other out, and still tell what is new', async () => {
    const open = () => river.platform.link?.state().detail
    const hidden: Page[] = []
    for (let i = 0; i < 7; i += 1) {
      const tab = await visitor.context.newPage()
      // A headless browser shows every tab: these say otherwise.
      await tab.addInitScript({
        content: "Object.defineProperty(document, 'hidden', { get: () => !self.inFront })",
      })
      await tab.clock.install()
      await tab.goto(`${river.url}/chat`)
      await tab.getByText('connected', { exact: true }).waitFor()
      await tab.clock.fastForward(6_000)
      await expect.poll(open, { timeout: 20_000 }).toBe('1 open window')
      hidden.push(tab)
    }
    await send(visitor.page, 'hello')
    await visitor.page.getByText('you said: hello').waitFor()
    const [glancing, shown] = hidden
    await glancing?.clock.fastForward(25_000)
    await expect.poll(() => glancing?.title(), { timeout: 20_000 }).toBe('(1) demo')
    await shown?.evaluate("self.inFront = true; document.dispatchEvent(new Event('visibilitychange'))")
    await shown?.getByText('you said: hello').waitFor()
  })
})

describe('answers that are not for good', () => {
  /** What the next POST of a message gets in place of the gateway's answer. Gives how many came. */
  const insteadOnce = (reply: HttpReply): (() => number) => {
    let count = 0
    river.instead = (method, path) => {
      if (method !== 'POST' || path !== '/chat/messages') return null
      count += 1
      return count === 1 ? reply : null
    }
    return () => count
  }

  for (const [name, reply] of [
    [
      'the gateway while the chat is not there',
      { status: 404, body: '{"ok":false,"code":"not_found","error":"no web integration is configured"}' },
    ],
    ['a proxy that forbids', { status: 403, body: '<h1>Forbidden</h1>' }],
    ["a proxy's page for signing in", { status: 200, body: '<h1>Sign in</h1>' }],
    ['a proxy that sends to its page for signing in', { status: 302, headers: { location: '/chat' } }],
    ["a proxy's JSON", { status: 200, body: '{"message":"ok"}' }],
  ] as const) {
    it(`[I3.web-reconnect] a ${reply.status} of ${name} throws no message away`, async () => {
      const posts = insteadOnce(reply)
      await send(visitor.page, 'not lost')
      await visitor.page.getByText('you said: not lost').waitFor()
      await deliveryUnder(visitor.page, 'not lost').getByText('answered').waitFor()
      expect(posts()).toBe(2)
    })
  }

  it("a proxy's page in place of who one is, or of what was said, is waited out", async () => {
    await send(visitor.page, 'quiet before')
    await deliveryUnder(visitor.page, 'quiet before').getByText('seen').waitFor()
    for (const place of ['/chat/me', '/chat/history']) {
      let wrong = 0
      river.instead = (_, path) => {
        if (!path.startsWith(place) || wrong > 0) return null
        wrong += 1
        return { status: 200, body: '<h1>Sign in</h1>' }
      }
      await visitor.page.reload()
      await visitor.page.getByText('quiet before').waitFor()
      expect(wrong).toBe(1)
    }
  })

  it("the gateway's own no ends a message, with its words", async () => {
    const code = 'too_large'
    insteadOnce({ status: 413, body: JSON.stringify({ error: { code, message: 'text is too long' } }) })
    await send(visitor.page, 'too much')
    await deliveryUnder(visitor.page, 'too much').getByText('refused — text is too long').waitFor()
    await visitor.page.reload()
    await visitor.page.getByText('connected', { exact: true }).waitFor()
    expect(river.received).toEqual([])
  })
})
