// What a person sees first: tables, code, pictures, quotes, the agent's presence, cards that fold, calm states; and axe, in
// light, dark and on a phone. One page a test, many looks at it.
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { encode } from 'uqr'
import { beforeEach, expect, it } from 'vitest'
import { reachableAddress } from '../../src/runtime/reachable-address.ts'
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

const PICTURES = process.env.PAGE_PICTURES
async function picture(page: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return
  mkdirSync(PICTURES, { recursive: true })
  await page.screenshot({ path: join(PICTURES, `${name}.png`) })
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
interface Axe {
  run(): Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }>
}
/** What axe finds, all of its rules. */
async function violations(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE)
  return page.evaluate(async () => {
    const found = await (globalThis as unknown as { axe: Axe }).axe.run()
    return found.violations.flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id}: ${node.html} ${node.failureSummary}`),
    )
  })
}

const REPORT = `Here is the **report**:

| host | load | state |
|:-----|-----:|:-----:|
| alpha.internal.example.com | 0.31 | up |
| beta.internal.example.com | 12.50 | down |

- [x] collect the logs
- [ ] restart \`beta\`

\`\`\`sh
kubectl --context production --namespace switchboard rollout restart deployment/beta --timeout=300s --field-manager=switchboard
\`\`\``

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

async function fill(page: Page): Promise<void> {
  await send(page, 'first question')
  await page.getByText('you said: first question').waitFor()
  await river.say({ kind: 'text', text: REPORT })
  await page.getByRole('table').waitFor()
  await river.say({
    kind: 'prompt',
    approval: 'kqwte',
    text: 'demo wants to run deploy',
    expiresAt: Date.now() + 9 * 60_000 + 2_000,
    ask: { toolName: 'deploy', description: 'Ship it', input: '{"target":"production"}' },
    choices: [
      { label: 'Allow', value: 'allow:kqwte' },
      { label: 'Deny', value: 'deny:kqwte' },
    ],
  })
  await page.getByText('Needs your approval').waitFor()
}

it('[I18.page-tables] [I18.page-presence] [I18.page-code] [I18.page-quotes] [I18.page-approvals] [I18.page-states] shows what is said as what it is', async () => {
  const { page } = visitor
  await fill(page)
  // The agent is away while the gateway is there, and comes.
  const state = page.locator('.head-state')
  river.agentHere = false
  await page.reload()
  await state.getByText('offline: messages wait for it').waitFor()
  river.agentHere = true
  await river.say({ kind: 'text', text: 'back again' })
  await state.getByText('online').waitFor()

  // Tables and tasks.
  expect(await page.getByRole('table').getByRole('row').count()).toBe(3)
  expect(await page.getByRole('checkbox', { name: 'done' }).isChecked()).toBe(true)
  expect(await page.getByRole('checkbox', { name: 'to do' }).isChecked()).toBe(false)

  // Code that is wider than its box: an edge says so, keys move it, and then the other edge says so.
  const code = page.getByRole('group', { name: 'Code, sh' })
  const edges = () => code.evaluate((box) => box.parentElement?.className)
  await expect.poll(edges).toBe('scroller more-right')
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  await code.evaluate((box) => box.scrollTo({ left: 60 }))
  await expect.poll(edges).toBe('scroller more-left more-right')
  await code.focus()
  await page.keyboard.press('End')
  await code.evaluate((box) => box.scrollTo({ left: box.scrollWidth }))
  await expect.poll(edges).toBe('scroller more-left')

  // The card: when it was asked, until when it is open.
  const card = page.locator('.card')
  expect(await card.locator('.card-expiry').textContent()).toBe('9 min left')
  expect(await card.getByText(/^asked /).count()).toBe(1)
  await picture(page, 'open')
  await page.getByRole('button', { name: 'Allow' }).click()
  await card.getByText('You allowed it').waitFor()
  // Folded: the question is there for whoever opens it, and not before.
  expect(await page.getByText('{"target":"production"}').isVisible()).toBe(false)
  await card.locator('summary').click()
  expect(await page.getByText('{"target":"production"}').isVisible()).toBe(true)

  // A reply keeps its quote, also after a reload; an answer right below its question has none.
  await page.locator('.message.theirs', { hasText: 'you said: first question' }).hover()
  await page
    .locator('.message.theirs', { hasText: 'you said: first question' })
    .getByRole('button', { name: 'Reply' })
    .click()
  await send(page, 'quiet reply')
  const quote = page.locator('.message.own', { hasText: 'quiet reply' }).locator('.quote')
  await quote.waitFor()
  expect(await quote.locator('.quote-text').textContent()).toBe('you said: first question')
  await page.reload()
  await quote.waitFor()
  expect(await quote.locator('.quote-text').textContent()).toBe('you said: first question')
  expect(await page.locator('.message.theirs .quote').count()).toBe(0)

  // One line a group, whose mark says what it means; what went wrong is told where it did.
  await send(page, 'quiet two')
  await send(page, 'quiet three')
  await expect.poll(() => deliveryUnder(page, 'quiet three').textContent()).toBe('seen')
  await expect.poll(() => deliveryUnder(page, 'quiet two').count()).toBe(0)
  const mark = deliveryUnder(page, 'quiet three')
  expect(await mark.getAttribute('title')).toBe('The agent has it.')
  await mark.click()
  await page.getByText('The agent has it.').waitFor()
  const second = river.rows.find((row) => row.text === 'quiet two')
  river.move(second?.platformMessageId ?? '', 'failed', { reason: 'agent_failed' })
  await page.getByText('failed — The agent answered with an error.').waitFor()
  await picture(page, 'decided')
})

it('[I18.page-images] a picture stands at the right edge, and the log follows it when it comes late', async () => {
  const { page } = visitor
  for (let line = 0; line < 40; line += 1) await river.say({ kind: 'text', text: `line ${line}` })
  let release: () => void = () => undefined
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route('**/chat/files/**', async (route) => {
    await held
    await route.fulfill({ contentType: 'image/svg+xml', body: TALL })
  })
  await page.setInputFiles('input[type=file]', { name: 'shot.png', mimeType: 'image/png', buffer: PNG })
  await page.locator('.upload .file-size').waitFor()
  await send(page, 'quiet, a picture')
  const image = page.getByRole('img', { name: 'shot.png' })
  await image.waitFor({ state: 'attached' })
  const end = () =>
    page.locator('.log').evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight)
  await expect.poll(end).toBeLessThan(2)
  release()
  await expect.poll(async () => (await image.boundingBox())?.height ?? 0).toBeGreaterThan(200)
  await expect.poll(end).toBeLessThan(2)
  const [picked, bubble] = await Promise.all([
    image.boundingBox(),
    page.locator('.message.own .bubble').last().boundingBox(),
  ])
  const right = (box: { x: number; width: number } | null) => Math.round((box?.x ?? 0) + (box?.width ?? 0))
  expect(right(picked)).toBe(right(bubble))
  await picture(page, 'image')
})
const TALL =
  '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="240"><rect width="200" height="240" fill="#48a"/></svg>'

it('[I18.link-qr] [I18.link-unreachable] [I18.installable] a phone gets a code, a warning where it cannot come, and an app', async () => {
  const { page } = visitor
  river.reachable = reachableAddress(river.url)
  await page.getByRole('button', { name: 'Menu' }).click()
  await page.getByText('Link another device').click()
  const code = page.getByRole('img', { name: 'QR code of the link' })
  await code.waitFor()
  await page.getByText('Another device may not reach it: only this machine').waitFor()
  const link = await page.getByRole('textbox', { name: 'Link' }).inputValue()
  expect(link.startsWith(`${river.url}/chat#ticket=`)).toBe(true)
  const { size, data } = encode(link, { border: 2 })
  const dark = data.flat().filter(Boolean).length
  expect(await code.getAttribute('viewBox')).toBe(`0 0 ${size} ${size}`)
  expect((await code.locator('path').getAttribute('d'))?.split('M').length).toBe(dark + 1)
  const client = await page.context().newCDPSession(page)
  const manifest = await client.send('Page.getAppManifest')
  expect(manifest.errors).toEqual([])
  const app = JSON.parse(manifest.data ?? '{}') as {
    readonly start_url: string
    readonly icons: readonly { readonly src: string; readonly sizes: string }[]
  }
  expect(app.start_url).toBe('/chat')
  const sizes = await Promise.all(
    app.icons.map(async ({ src }) => pngSize(await (await fetch(`${river.url}${src}`)).arrayBuffer())),
  )
  expect(sizes).toEqual(['192x192', '512x512', '512x512'])
  expect(app.icons.map((icon) => icon.sizes)).toEqual(sizes)
})

function pngSize(bytes: ArrayBuffer): string {
  const view = new DataView(bytes)
  return `${view.getUint32(16)}x${view.getUint32(20)}`
}

it.each([
  ['light', { width: 1_000 }],
  ['dark', { dark: true }],
  ['phone', { width: 390, height: 780 }],
  ['phone-dark', { width: 390, height: 780, dark: true }],
] as const)('[I18.page-axe] axe finds nothing: %s', async (name, options) => {
  const guest = await scene.enter(options)
  await fill(guest.page)
  await send(guest.page, 'quiet one')
  await expect.poll(() => deliveryUnder(guest.page, 'quiet one').textContent()).toBe('seen')
  river.move(river.rows.find((row) => row.text === 'quiet one')?.platformMessageId ?? '', 'failed', {
    reason: 'agent_failed',
  })
  await guest.page.getByText('failed — The agent').waitFor()
  expect(await violations(guest.page)).toEqual([])
  await picture(guest.page, name)
  await guest.page.getByRole('button', { name: 'Allow' }).click()
  await guest.page.getByText('You allowed it').waitFor()
  await guest.page.getByRole('button', { name: 'Menu' }).click()
  await guest.page.getByText('Link another device').click()
  await guest.page.getByRole('img', { name: 'QR code of the link' }).waitFor()
  expect(await violations(guest.page)).toEqual([])
  await picture(guest.page, `${name}-link`)
  const roles = ['banner', 'main', 'form'] as const
  for (const role of roles)
    expect(await guest.page.getByRole(role, { includeHidden: true }).count(), role).toBe(1)
  expect(guest.complaints).toEqual([])
  await guest.context.close()
})
