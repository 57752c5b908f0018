// The chat page in a real browser, on a river in memory: what it shows, what it refuses to run, how it comes back.
import type { Browser } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'
import { deliveryUnder, send, type Visitor, visit } from './chromium.ts'
import { createPageScene } from './page-scene.ts'
import type { RiverDouble } from './river-double.ts'

const scene = createPageScene()
const { enter } = scene
let browser: Browser | null
let river: RiverDouble
let visitor: Visitor

beforeEach(() => {
  browser = scene.browser()
  river = scene.river()
  visitor = scene.visitor()
})

const ASK = {
  kind: 'prompt',
  approval: 'kqwte',
  text: 'demo wants to run deploy',
  choices: [
    { label: 'Allow', value: 'allow:kqwte' },
    { label: 'Deny', value: 'deny:kqwte' },
  ],
} as const

describe('talking', () => {
  it('[I3.browser-send] [I3.web-delivery-state] a message is sent with Enter, answered, and says so', async () => {
    await send(visitor.page, 'hello')
    await visitor.page.getByText('you said: hello').waitFor()
    await expect.poll(() => deliveryUnder(visitor.page, 'hello').textContent()).toBe('answered')
    expect(visitor.page.url()).toBe(`${river.url}/chat`)
  })

  it('[I3.web-delivery-state] a failure stands under the message, in words, without a reload', async () => {
    await send(visitor.page, 'quiet one')
    await expect.poll(() => deliveryUnder(visitor.page, 'quiet one').textContent()).toBe('seen')
    river.move(river.rows[0]?.platformMessageId ?? '', 'failed', { reason: 'agent_failed' })
    await expect
      .poll(() => deliveryUnder(visitor.page, 'quiet one').textContent())
      .toBe('failed — The agent answered with an error.')
  })

  it('[I15.delete-web] [I15.status] a message that still waits can be deleted; the menu tells how far nothing was missed', async () => {
    const { page } = visitor
    await send(page, 'waiting with hunter2')
    await page.getByRole('button', { name: 'Delete this message' }).click()
    await page.getByText('(deleted)').waitFor()
    expect(await page.getByText('hunter2').count()).toBe(0)
    expect(river.received.at(-1)).toMatchObject({ kind: 'delete' })
    await page.reload()
    await page.getByText('connected', { exact: true }).waitFor()
    expect(await page.locator('.message').count()).toBe(0)
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('button', { name: 'Connections' }).click()
    const lines = page.locator('.connections li')
    await expect.poll(() => lines.count()).toBe(3)
    const [team, other, web] = await lines.allTextContents()
    expect(team).toMatch(/^team \(slack\): complete until /)
    expect(other).toBe('other (slack): behind: #ops: add the scope channels:history')
    expect(web).toBe('web (web): cannot be checked')
  })

  it('Shift+Enter makes a line, an empty message is not sent, the draft outlives a reload', async () => {
    const box = visitor.page.getByRole('textbox', { name: /^Message/ })
    await box.press('Enter')
    await box.pressSequentially('one')
    await box.press('Shift+Enter')
    await box.pressSequentially('two')
    await visitor.page.reload()
    expect(await box.inputValue()).toBe('one\ntwo')
    await box.press('Enter')
    await visitor.page.getByText('you said: one').waitFor()
    expect(river.received.map((event) => (event.kind === 'message' ? event.text : ''))).toEqual(['one\ntwo'])
  })

  it('a suggestion of the empty page is not sent before one says so', async () => {
    await visitor.page.getByRole('button', { name: 'deploy' }).click()
    const box = visitor.page.getByRole('textbox', { name: /^Message/ })
    await expect.poll(() => box.inputValue(), { timeout: 10_000 }).toBe('deploy')
    expect(await visitor.page.locator('.message').count()).toBe(0)
    await box.press('Enter')
    await visitor.page.getByText('you said: deploy').waitFor()
    expect(river.received).toHaveLength(1)
  })

  it('[S7.web-typing] [I13.typing] shows that the agent works, until it answers', async () => {
    const to = { integration: 'web', conversation: 'owner' }
    const typing = visitor.page.locator('.typing')
    expect(await typing.count()).toBe(0)
    river.platform.signal?.(to, { kind: 'typing', on: true })
    await typing.waitFor()
    river.platform.signal?.(to, { kind: 'status', turn: 't', text: 'reading the log' })
    await typing.getByText('reading the log').waitFor()
    await river.say({ kind: 'text', text: 'done' })
    await typing.waitFor({ state: 'detached' })
    expect(await visitor.page.getByText('done', { exact: true }).count()).toBe(1)
  })

  it('[I3.web-reload] a reload shows the same conversation, files and older pages included', async () => {
    for (let i = 0; i < 70; i += 1) await river.say({ kind: 'text', text: `line ${i}` })
    await visitor.page.setInputFiles('input[type=file]', {
      name: 'notes\u202Efdp.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('hi'),
    })
    await visitor.page.getByText('2 B').waitFor()
    await send(visitor.page, 'quiet, with a file')
    await visitor.page.reload()
    await visitor.page.getByText('quiet, with a file').waitFor()
    expect(await visitor.page.locator('.file-name').textContent()).toBe('notesfdp.txt')
    const [download] = await Promise.all([
      visitor.page.waitForEvent('download'),
      visitor.page.locator('.file').click(),
    ])
    expect(download.suggestedFilename()).toBe('notesfdp.txt')
    expect(await visitor.page.getByText('line 0', { exact: true }).count()).toBe(0)
    await visitor.page.getByText('show earlier messages').click()
    await visitor.page.getByText('line 0', { exact: true }).waitFor()
  })

  it('[I3.web-attachment-limit] a file over the limit is named with the reason and not sent', async () => {
    await visitor.page.setInputFiles('input[type=file]', {
      name: 'huge.bin',
      mimeType: 'application/octet-stream',
      buffer: Buffer.alloc(1_048_577),
    })
    await visitor.page.getByText('larger than 1.0 MB').waitFor()
    await send(visitor.page, 'quiet without it')
    await expect.poll(() => river.received.length).toBe(1)
    expect(river.received[0]).not.toHaveProperty('attachments')
  })
})

describe('approvals', () => {
  it('[I3.browser-approve] [I3.web-choices] [I3.web-windows] one window asks, another allows, both show it', async () => {
    const second = await enter()
    await river.say({
      ...ASK,
      ask: { toolName: 'deploy', description: 'Ship it', input: '{"target":"production"}' },
    })
    await visitor.page.getByText('{"target":"production"}').waitFor()
    await second.page.getByRole('button', { name: 'Allow' }).click()
    for (const { page } of [visitor, second]) {
      await page.getByText('You allowed it').waitFor()
      expect(await page.getByRole('button', { name: 'Allow' }).count()).toBe(0)
    }
    await visitor.page.reload()
    await visitor.page.getByText('You allowed it').waitFor()
    expect(second.complaints).toEqual([])
    await second.context.close()
  })

  it('[S10.whole-input] [S10.cut-safely] [I3.inject-tool-input] the whole input can be seen, hidden characters too', async () => {
    const input = `${'a'.repeat(5_000)}\u202E<script>alert(1)</script>END`
    await river.say({ ...ASK, ask: { toolName: '<b>deploy</b>', description: '**not bold**', input } })
    await visitor.page.getByText('<b>deploy</b>').waitFor()
    await visitor.page.getByText('**not bold**').waitFor()
    const box = visitor.page.locator('.card-input')
    expect((await box.textContent())?.length).toBeLessThan(1_300)
    await visitor.page.getByText(/show all/).click()
    expect(await box.textContent()).toContain('⟨U+202E⟩<script>alert(1)</script>END')
  })

  it('a refused tap says why and leaves the buttons', async () => {
    await river.say(ASK)
    river.verdict = { state: 'refused', reason: 'not_approver' }
    await visitor.page.getByRole('button', { name: 'Deny' }).click()
    await visitor.page.getByText('Somebody who is not an approver pressed a button of an approval.').waitFor()
    expect(await visitor.page.getByRole('button', { name: 'Deny' }).isEnabled()).toBe(true)
  })
})

describe('bad things', () => {
  it('[I3.web-markdown-safe] [I3.inject-body] [I3.web-csp] nothing in a message runs, loads or leads elsewhere', async () => {
    const bad = [
      '<script>alert(1)</script>',
      '<img src=x onerror=alert(1)>',
      '[click](javascript:alert(1)) [d](data:text/html,x)',
      '![i](https://evil.example/i.png)',
      '<svg onload=alert(1)><style>*{display:none}</style>',
      '**[ok](https://example.com/)**',
    ]
    for (const text of bad) await river.say({ kind: 'text', text })
    await send(visitor.page, '<img src=x onerror=alert(2)> **plain**')
    await visitor.page.getByText('you said: <img').waitFor()
    const log = visitor.page.locator('.log')
    expect(await log.locator('script, img, style, iframe, svg[onload]').count()).toBe(0)
    const links = await log
      .locator('a')
      .evaluateAll((all) => all.map((a) => [a.getAttribute('href'), a.getAttribute('rel')]))
    expect(links.map(([href]) => href)).toEqual(['https://evil.example/i.png', 'https://example.com/'])
    expect(links.every(([, rel]) => rel === 'noopener noreferrer nofollow')).toBe(true)
    expect(await visitor.page.evaluate('document.cookie')).toBe('')
  })

  it('[I13.md-page] tables and task lists are shown as such, and HTML in them as text', async () => {
    await river.say({
      kind: 'text',
      text: '| who | n |\n|-|-:|\n| <b>kate</b> | 2 |\n\n- [x] done\n- [ ] to do',
    })
    const log = visitor.page.locator('.log')
    await log.locator('td').first().waitFor()
    expect(await log.locator('th').allTextContents()).toEqual(['who', 'n'])
    expect(await log.locator('td').allTextContents()).toEqual(['<b>kate</b>', '2'])
    expect(await log.locator('td b').count()).toBe(0)
    const boxes = log.locator('li input[type=checkbox]')
    expect([await boxes.nth(0).isChecked(), await boxes.nth(1).isChecked()]).toEqual([true, false])
  })

  it('[I3.link-replayed] a used link in another browser opens nothing and says what to do', async () => {
    const link = await river.chatLink()
    const [first, second] = [await visit(browser), await visit(browser)]
    await first.page.goto(link)
    await first.page.getByText('connected', { exact: true }).waitFor()
    await second.page.goto(link)
    await second.page.getByText('This link no longer works').waitFor()
    await second.page.getByText('switchboard link').waitFor()
    // In the browser that used it, it still leads to the chat.
    await first.page.goto('about:blank')
    await first.page.goto(link)
    await first.page.getByText('connected', { exact: true }).waitFor()
    expect(await second.page.getByText('connected', { exact: true }).count()).toBe(0)
    await Promise.all([first.context.close(), second.context.close()])
  })

  it('an answer that comes before the first picture is drawn is shown all the same', async () => {
    const late = await visit(browser)
    // A busy machine: the page draws, and does what it does after drawing, long after the gateway has answered.
    await late.page.addInitScript({
      content: `const later = setTimeout
        requestAnimationFrame = (run) => later(() => run(performance.now()), 1500)
        setTimeout = (run, ms = 0) => later(run, Math.max(ms, 1500))`,
    })
    await late.page.goto(`${river.url}/chat`)
    await late.page.getByText('This browser is not signed in').waitFor()
    expect(await late.page.getByText('connected', { exact: true }).count()).toBe(0)
    await late.context.close()
  })

  it('[I18.link-pasted] a link that is pasted into an open page signs in, and its ticket leaves the address bar', async () => {
    if (browser === null) throw new Error('there is no browser')
    const late = await visit(browser)
    await late.page.goto(`${river.url}/chat`)
    await late.page.getByText('This browser is not signed in').waitFor()
    // Only what is behind the # changes: the browser does not load the page anew by itself.
    await late.page.goto(await river.chatLink())
    await late.page.getByText('connected', { exact: true }).waitFor()
    expect(late.page.url()).toBe(`${river.url}/chat`)
    await late.page.evaluate('location.hash = "elsewhere"')
    await send(late.page, 'still here')
    await late.page.getByText('you said: still here').waitFor()
    await late.context.close()
  })

  it('a link for another device works there; signing out ends it here', async () => {
    await visitor.page.getByRole('button', { name: 'Menu' }).click()
    await visitor.page.getByText('Link another device').click()
    const link = await visitor.page.getByRole('textbox', { name: 'Link' }).inputValue()
    await visitor.page.getByRole('button', { name: 'Close' }).click()
    const other = await visit(browser)
    await other.page.goto(link)
    await other.page.getByText('connected', { exact: true }).waitFor()
    await visitor.page.getByRole('button', { name: 'Menu' }).click()
    // The browser's idle connection is closed under the next request, as a server or proxy does that has waited enough.
    river.closeIdle()
    await visitor.page.getByText('Sign out').click()
    await visitor.page.getByText('This browser is not signed in').waitFor()
    await visitor.page.reload()
    await visitor.page.getByText('This browser is not signed in').waitFor()
    expect(await other.page.getByText('connected', { exact: true }).count()).toBe(1)
    await other.context.close()
  })
})

describe('coming back', () => {
  it('signing out while the gateway is away is not shown as done', async () => {
    await river.drop()
    await visitor.page.getByText(/^ ?Reconnecting…/).waitFor()
    await visitor.page.getByRole('button', { name: 'Menu' }).click()
    await visitor.page.getByText('Sign out').click()
    await visitor.page.getByText('You are still signed in: the gateway cannot be reached.').waitFor()
    await river.comeBack()
    await visitor.page.getByText('connected', { exact: true }).waitFor()
    await visitor.page.reload()
    await visitor.page.getByText('connected', { exact: true }).waitFor()
    expect(await visitor.page.getByText('This browser is not signed in').count()).toBe(0)
  })

  it('[I3.web-reconnect] what was typed and said while the gateway was away arrives once, on both sides', async () => {
    await send(visitor.page, 'before')
    await visitor.page.getByText('you said: before').waitFor()
    await river.drop()
    await visitor.page.getByText(/^ ?Reconnecting…/).waitFor()
    await send(visitor.page, 'typed one')
    await send(visitor.page, 'typed two')
    await expect
      .poll(() => deliveryUnder(visitor.page, 'typed two').textContent())
      .toBe('waiting for the connection')
    await river.say({ kind: 'text', text: 'said meanwhile' })
    await river.comeBack()
    for (const text of ['said meanwhile', 'you said: typed one', 'you said: typed two']) {
      await visitor.page.getByText(text, { exact: true }).waitFor()
      expect(await visitor.page.getByText(text, { exact: true }).count()).toBe(1)
    }
    const texts = river.received.map((event) => (event.kind === 'message' ? event.text : ''))
    expect(texts).toEqual(['before', 'typed one', 'typed two'])
  })

  it('[I3.web-reconnect] also when the page is closed before the gateway is back', async () => {
    await river.drop()
    await visitor.page.getByText(/^ ?Reconnecting…/).waitFor()
    await send(visitor.page, 'kept in the browser')
    await visitor.page.close()
    await river.comeBack()
    const again = await visitor.context.newPage()
    await again.goto(`${river.url}/chat`)
    await again.getByText('you said: kept in the browser').waitFor()
    expect(river.received).toHaveLength(1)
  })
})

describe('[I3.web-phone] looks', () => {
  for (const [name, options] of [
    ['wide light', { width: 1_280, height: 860 }],
    ['wide dark', { width: 1_280, height: 860, dark: true }],
    ['narrow light', { width: 390, height: 780 }],
    ['narrow dark', { width: 360, height: 640, dark: true }],
  ] as const) {
    it(`${name}: nothing sticks out sideways, everything can be reached`, async () => {
      const guest = await enter(options)
      await river.say({ kind: 'text', text: `\`\`\`\n${'long '.repeat(60)}\n\`\`\`\n${'w'.repeat(300)}` })
      await river.say({
        ...ASK,
        ask: { toolName: 'deploy', description: 'd'.repeat(300), input: 'x'.repeat(2_000) },
      })
      await send(guest.page, `quiet ${'u'.repeat(200)}`)
      await guest.page.getByRole('button', { name: 'Allow' }).waitFor()
      const wide = await guest.page.evaluate('document.documentElement.scrollWidth - innerWidth')
      expect(wide).toBeLessThanOrEqual(0)
      const log = await guest.page.evaluate(
        "(() => { const log = document.querySelector('.log'); return log.scrollWidth - log.clientWidth })()",
      )
      expect(log).toBeLessThanOrEqual(0)
      const box = await guest.page.getByRole('button', { name: 'Send' }).boundingBox()
      expect((box?.y ?? 9_999) + (box?.height ?? 0)).toBeLessThanOrEqual(options.height)
      const paper = await guest.page.evaluate('getComputedStyle(document.body).backgroundColor')
      expect(paper).toBe('dark' in options ? 'rgb(17, 19, 21)' : 'rgb(244, 243, 239)')
      expect(guest.complaints).toEqual([])
      await guest.context.close()
    })
  }
})
