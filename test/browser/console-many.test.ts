// The console where much was said: 10,000 conversations, one of 10 MB, and one of a thousand entries.
import { createHash } from 'node:crypto'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { dataFolderAt, openKeyRing, prepareDataFolder } from '../../src/config/index.ts'
import type { ReceiveItem } from '../../src/contract/index.ts'
import { createRealClock, createRealRandom } from '../../src/runtime/real-clock.ts'
import { openStore } from '../../src/store/open.ts'
import { consoleBrowser, createConsoleScenes, goTo, picture, settled, violations } from './console-scene.ts'

const browser = consoleBrowser()
const begin = createConsoleScenes(browser)

const MANY = 10_000
const ENTRIES = 1_000
const MEGABYTE = 1_000_000
let said = 0

/** Somebody said it to `ci`, and it is over. */
function item(conversation: string, text: string): ReceiveItem {
  const body = { kind: 'message', text, senderName: `Name of ${conversation}` } as const
  said += 1
  return {
    turn: {
      ...{
        at: { integration: 'ci', conversation },
        platform: 'webhook',
        messageId: `m${said}`,
        editVersion: 0,
      },
      ...{ source: 'webhook:ci', agent: 'demo', sender: conversation, body },
      bodyDigest: createHash('sha256').update(JSON.stringify(body)).digest('hex'),
    },
    ...{ state: 'consumed', reason: 'command', keepRow: true, effects: [] },
  }
}

/** By the store's own verbs, before the daemon starts: its ledger is whole. */
async function fill(data: string): Promise<void> {
  const folder = dataFolderAt({ data, env: {} })
  prepareDataFolder(folder)
  const store = await openStore(folder.defaultStore, {
    ...{ clock: createRealClock(), random: createRealRandom(), node: 'fill' },
    ledgerKey: openKeyRing({ dataDir: folder.path, env: {} }).ledgerKey,
  })
  const people = Array.from({ length: MANY }, (_, at) => item(`person-${at}`, `word of person-${at}`))
  for (let at = 0; at < MANY; at += 2_000) await store.receive(people.slice(at, at + 2_000))
  for (let at = 0; at < 10; at++)
    await store.receive([item('heavy', `${at}: ${'long '.repeat(MEGABYTE / 5)}`)])
  await store.receive(Array.from({ length: ENTRIES }, (_, at) => item('talker', `entry ${at} of many`)))
  await store.close()
}

/** Bytes of answers of the gateway while something is done. */
function weigh(page: Page): () => number {
  let bytes = 0
  page.on('response', async (response) => {
    if (!response.url().includes('/api/')) return
    bytes += (await response.body().catch(() => Buffer.alloc(0))).length
  })
  return () => bytes
}

const END = `(() => { const at = document.querySelector('.thread'); return at.scrollHeight - at.scrollTop - at.clientHeight })()`
const onPage = (page: Page) => page.evaluate('document.querySelectorAll("main *").length') as Promise<number>

it('[I21.con-many] ten thousand conversations are listed and searched, and only what is in view is on the page', async () => {
  const at = await begin({ prepare: fill })
  const { page, complaints } = await at.enter()
  await goTo(page, 'conversations')
  await page.locator('.row').first().waitFor()
  const atFirst = await onPage(page)
  // Down to the very first one, as far as there is any.
  const end = page.locator('.row', { hasText: 'word of person-0' }).filter({ hasNotText: 'person-00' })
  await expect
    .poll(
      async () => {
        await page.evaluate('document.scrollingElement.scrollTo(0, 1e9)')
        await page.evaluate('document.querySelector("main").scrollTo(0, 1e9)')
        return end.getByText('word of person-0', { exact: true }).count()
      },
      { timeout: 120_000, interval: 20 },
    )
    .toBe(1)
  expect(await page.locator('.row').count()).toBeLessThan(80)
  expect(await onPage(page)).toBeLessThan(atFirst * 2)
  expect(Number(await page.locator('.row-place').first().getAttribute('aria-setsize'))).toBe(MANY + 2)
  await picture(page, 'many-end')
  await page.getByLabel('Search').fill('Name of person-4711')
  await page.locator('.row', { hasText: 'word of person-4711' }).waitFor()
  await expect.poll(() => page.locator('.row').count()).toBe(1)
  expect(complaints).toEqual([])
})

it('[I21.con-many] ten megabytes are read piece by piece, and a thousand entries page by page', async () => {
  const at = await begin({ prepare: fill })
  const { page, complaints } = await at.enter()
  const bytes = weigh(page)
  for (const place of ['conversations', 'turns']) {
    await goTo(page, place)
    await settled(page)
    await page.locator('.row').first().waitFor()
  }
  await goTo(page, 'conversations/ci:heavy')
  await page.locator('.said-in', { hasText: '9: long' }).waitFor()
  await expect.poll(() => page.locator('.said-in').count()).toBe(10)
  // Who comes is where people are now: at the end.
  expect(await page.evaluate(END)).toBeLessThan(5)
  expect(bytes()).toBeLessThan(MEGABYTE)
  expect(await page.evaluate('document.querySelector("main").textContent.length')).toBeLessThan(MEGABYTE / 10)
  await picture(page, 'many-heavy')
  // The whole of one is read by whoever wants it, and shown in a box.
  const last = page.locator('.said-in', { hasText: '9: long' })
  await last.getByRole('button', { name: 'show all (1,000,003 characters)' }).click()
  await last.getByRole('button', { name: 'show less' }).waitFor()
  expect(await last.locator('pre').textContent()).toHaveLength(1_000_003)
  await goTo(page, 'conversations/ci:talker')
  await page.getByText(`entry ${ENTRIES - 1} of many`).waitFor()
  const earlier = page.getByRole('button', { name: 'Earlier' })
  while ((await earlier.count()) > 0) {
    const top = page.locator('.said-in').first()
    const text = (await top.locator('.bubble').textContent()) ?? ''
    await earlier.click()
    const first = page.locator('.said-in').first().locator('.bubble')
    // A last page that was full is followed by one without anything.
    await expect
      .poll(async () => (await earlier.count()) === 0 || (await first.textContent()) !== text)
      .toBe(true)
    // What was looked at is still there, and not out of sight.
    expect([text, await page.locator('.bubble', { hasText: text }).first().isVisible()]).toEqual([text, true])
    expect(await page.locator('.said').count()).toBeLessThanOrEqual(150)
  }
  await page.getByText('entry 0 of many', { exact: true }).waitFor()
  await picture(page, 'many-first')
  expect(await violations(page)).toEqual([])
  // Back to where people are now.
  await page.getByRole('button', { name: 'Newest' }).click()
  const newest = page.getByText(`entry ${ENTRIES - 1} of many`)
  await expect.poll(() => newest.isVisible()).toBe(true)
  expect(complaints).toEqual([])
})
