// The web chat against the real daemon, in a real browser: the way a new user goes, and a daemon that is killed.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { freePort } from '../../src/testing/free-port.ts'
import { deliveryUnder, NO_CHROMIUM, openChromium, send, type Visitor, visit } from './chromium.ts'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const NOT_BUILT = 'dist/ is not built: npm run build'

interface Daemon {
  readonly url: string
  readonly chatLink: string
  /** kill -9: no goodbye, no flush. */
  kill(): Promise<void>
  stop(): Promise<void>
}

let browser: Browser | null = null
let data: string
let port: number
let daemon: Daemon
let visitor: Visitor

beforeAll(async () => {
  browser = await openChromium()
})
afterAll(async () => {
  await browser?.close()
})

beforeEach(async (context) => {
  if (browser === null) return context.skip(NO_CHROMIUM)
  if (!existsSync(MAIN)) return context.skip(NOT_BUILT)
  data = mkdtempSync(join(tmpdir(), 'swb-chat-'))
  port = await freePort()
  daemon = await startDaemon()
  visitor = await visit(browser)
  await visitor.page.goto(daemon.chatLink)
  await connected(visitor.page)
})
afterEach(async () => {
  if (browser === null || !existsSync(MAIN)) return
  await visitor.context.close()
  await daemon.stop()
  rmSync(data, { recursive: true, force: true })
  expect(visitor.complaints).toEqual([])
})

it('[I3.browser-send] [I3.web-token-link] [S14.http-chat] the printed link leads to an agent that answers', async () => {
  const { page } = visitor
  // A suggestion is put where one types: nothing is said to an agent that one did not send.
  await page.getByRole('button', { name: 'help' }).click()
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText('I am the demo agent').waitFor()
  await expect.poll(() => deliveryUnder(page, 'help').textContent()).toBe('answered')
  await send(page, 'hello there')
  await page.getByText('You said: hello there').waitFor()
})

it('[I3.web-reload] history survives a reload, a file included', async () => {
  const { page } = visitor
  await page.setInputFiles('input[type=file]', {
    name: 'notes.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('hi'),
  })
  await page.getByText('2 B').waitFor()
  await send(page, 'look at this')
  await page.getByText('(with notes.txt)').waitFor()
  await page.reload()
  await page.getByText('look at this', { exact: true }).waitFor()
  await page.getByText('(with notes.txt)').waitFor()
  await expect.poll(() => deliveryUnder(page, 'look at this').textContent()).toBe('answered')
  await page.locator('.own .file-name', { hasText: 'notes.txt' }).waitFor()
})

it('[I3.browser-approve] [I3.web-windows] an approval is given in a second window, and both show it', async () => {
  const { page } = visitor
  await send(page, 'deploy')
  await page.getByText('Needs your approval').waitFor()
  await page.getByRole('button', { name: 'Menu' }).click()
  await page.getByText('Link another device').click()
  const link = await page.getByRole('textbox', { name: 'Link' }).inputValue()
  await page.getByRole('button', { name: 'Close' }).click()
  const second = await visit(browser)
  await second.page.goto(link)
  await second.page.getByText('deploy --target main --to production').first().waitFor()
  await second.page.getByRole('button', { name: 'Allow' }).click()
  for (const one of [page, second.page]) {
    await one.locator('.card-outcome', { hasText: 'You allowed it' }).waitFor()
    await one.getByText('Deployed:').waitFor()
  }
  expect(second.complaints).toEqual([])
  await second.context.close()
})

it('[S10.text-verdict] [S10.decided-id-answered] an approval is denied by text; a second answer comes too late', async () => {
  const { page } = visitor
  await send(page, 'deploy')
  const id = (await page.locator('.card-id').textContent()) ?? ''
  await send(page, `no ${id}`)
  await page.locator('.card-outcome', { hasText: 'You denied it' }).waitFor()
  await expect.poll(() => deliveryUnder(page, `no ${id}`).textContent()).toBe('taken as your decision')
  await send(page, `yes ${id}`)
  await page.getByText(`${id}: already answered by owner`).waitFor()
})

it('a reminder comes after the answer that promised it, and stays there after a reload', async () => {
  const { page } = visitor
  await send(page, 'remind me in 1s to stretch')
  await page.getByText('⏰ Reminder: stretch').waitFor()
  const order = async () =>
    (await page.locator('.theirs .bubble').allTextContents()).map((text) => text.trim())
  expect(await order()).toEqual(['I will remind you in 1s.', '⏰ Reminder: stretch'])
  await page.reload()
  await page.getByText('⏰ Reminder: stretch').waitFor()
  expect(await order()).toEqual(['I will remind you in 1s.', '⏰ Reminder: stretch'])
})

it('[I3.browser-kill] [I3.web-reconnect] the daemon is killed and comes back: nothing is lost, nothing comes twice', async () => {
  const { page } = visitor
  await send(page, 'before the kill')
  await page.getByText('You said: before the kill').waitFor()
  await daemon.kill()
  await page.getByText(/^ ?Reconnecting…/).waitFor()
  await send(page, 'typed while it was dead')
  await expect
    .poll(() => deliveryUnder(page, 'typed while it was dead').textContent())
    .toBe('waiting for the connection')
  daemon = await startDaemon()
  await page.getByText('You said: typed while it was dead').waitFor()
  await expect.poll(() => deliveryUnder(page, 'typed while it was dead').textContent()).toBe('answered')
  await page.reload()
  await connected(page)
  for (const text of ['before the kill', 'typed while it was dead']) {
    expect(await page.getByText(text, { exact: true }).count()).toBe(1)
    expect(await page.getByText(`You said: ${text}`).count()).toBe(1)
  }
})

it('[I3.dns-rebinding] [S7.web-host] [I3.web-csp] a foreign Host gets nothing; the page forbids what it does not need', async () => {
  const page = await fetch(`${daemon.url}/chat`)
  expect(page.status).toBe(200)
  const policy = page.headers.get('content-security-policy') ?? ''
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).not.toMatch(/unsafe-inline|unsafe-eval|\*/)
  expect(await page.text()).not.toMatch(/<script>|<style|style=| on\w+=/)
  // fetch sets Host by itself, so this is asked by hand.
  expect(await statusWithHost('/chat', 'evil.example')).toBe(403)
  expect(await statusWithHost('/chat/me', 'evil.example')).toBe(403)
})

async function connected(page: Page): Promise<void> {
  await page.getByText('online', { exact: true }).waitFor()
}

/** Always on the same port, so that the page finds it again. */
async function startDaemon(): Promise<Daemon> {
  const child = spawn(process.execPath, [MAIN, 'up', '--json', '--data', data, '--port', String(port)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: data },
  })
  const problems: string[] = []
  child.stderr?.on('data', (chunk) => problems.push(String(chunk)))
  const banner = await firstLine(child).catch(() => {
    throw new Error(`the daemon did not start: ${problems.join('')}`)
  })
  const { url, chat_link: chatLink } = JSON.parse(banner) as { url: string; chat_link: string }
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    await gone
  }
  return { url, chatLink, kill: () => end('SIGKILL'), stop: () => end('SIGTERM') }
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    if (child.stdout === null) return reject(new Error('no stdout'))
    createInterface({ input: child.stdout }).once('line', resolve)
    child.once('exit', () => reject(new Error('gone')))
  })
}

async function statusWithHost(path: string, host: string): Promise<number> {
  const { request } = await import('node:http')
  return new Promise((resolve, reject) => {
    const asked = request(`${daemon.url}${path}`, { headers: { host } }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    asked.on('error', reject)
    asked.end()
  })
}
