// Set-up of the page's tests, on the built page. Each test has its own river and a browser that is signed in to it. A
// page that logged an error fails its test.
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import type { InboundEvent } from '../../src/contract/index.ts'
import { NO_CHROMIUM, openChromium, type Visitor, visit } from './chromium.ts'
import { createRiverDouble, type RiverDouble } from './river-double.ts'

export interface PageScene {
  /** Null without a browser. The test is then skipped. */
  browser(): Browser | null
  river(): RiverDouble
  visitor(): Visitor
  /** Opens another browser that follows a fresh link. */
  enter(options?: Parameters<typeof visit>[1]): Promise<Visitor>
}

const PAGES = fileURLToPath(new URL('../../dist/web', import.meta.url))

export function createPageScene(): PageScene {
  let browser: Browser | null = null
  let river: RiverDouble
  let visitor: Visitor

  async function enter(options: Parameters<typeof visit>[1] = {}): Promise<Visitor> {
    if (browser === null) throw new Error(NO_CHROMIUM)
    const guest = await visit(browser, options)
    await guest.page.goto(await river.chatLink())
    await guest.page.getByText('connected', { exact: true }).waitFor()
    return guest
  }

  beforeAll(async () => {
    browser = await openChromium()
  })
  afterAll(async () => {
    await browser?.close()
  })
  beforeEach(async (context) => {
    if (browser === null) context.skip(NO_CHROMIUM)
    river = await createRiverDouble(PAGES, answer)
    visitor = await enter()
  })
  afterEach(async () => {
    if (browser === null) return
    const { complaints } = visitor
    await visitor.context.close()
    await river.close()
    expect(complaints).toEqual([])
  })

  return { browser: () => browser, river: () => river, visitor: () => visitor, enter }
}

/** Answers as a small agent would. */
function answer(event: InboundEvent, at: RiverDouble): void {
  if (event.kind === 'tap') {
    const verb = event.value.startsWith('allow') ? 'allowed' : 'denied'
    void at.say({ kind: 'edit', on: event.on, text: `deploy (kqwte): ${verb} by owner` })
    return
  }
  if (event.kind !== 'message') return
  const id = event.messageId ?? ''
  if (event.text.startsWith('waiting')) return
  at.move(id, 'handed')
  at.move(id, 'seen')
  if (event.text.startsWith('quiet')) return
  at.move(id, 'answered')
  void at.say({ kind: 'text', text: `you said: ${event.text}` })
}
