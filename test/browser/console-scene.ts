// Set-up of the console's tests: a real daemon with people, hooks and a Telegram, its console in a real browser, and
// axe.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { createFakeTelegram } from '../../src/testing/emulate.ts'
import { freePort } from '../../src/testing/free-port.ts'
import type { Daemon } from '../faults/daemon.ts'
import { createScene, type Scene, switchboard } from '../faults/scene.ts'
import { NO_CHROMIUM, openChromium, type Visitor, visit } from './chromium.ts'

type FakeTelegram = Awaited<ReturnType<typeof createFakeTelegram>>

export interface ConsoleScene {
  readonly scene: Scene
  readonly daemon: Daemon
  readonly data: string
  readonly telegram: FakeTelegram
  /** The receiver of the answers of `pager`, and what it got. It answers 400 until it is `mended`. */
  readonly pager: { mended: boolean; readonly got: string[] }
  /** Kills the daemon with SIGKILL and starts it again on the same port. */
  restart(): Promise<void>
  kill(): Promise<void>
  start(): Promise<void>
  /** Posts to a hook as a program on this machine would. */
  hook(id: string, text: string): Promise<void>
  link(user?: string): Promise<string>
  /** Opens a browser of its own that followed a fresh link. */
  enter(user?: string, options?: Parameters<typeof visit>[1]): Promise<Visitor>
  writeConfig(change: (text: string) => string): void
}

export const PAGES = [
  'now',
  'conversations',
  'approvals',
  'people',
  'agents',
  'outbox',
  'turns',
  'try',
  'config',
]

/** The browser of the test file. Without one it is null, and every test is skipped. */
export function consoleBrowser(): () => Browser | null {
  let browser: Browser | null = null
  beforeAll(async () => {
    browser = await openChromium()
  })
  afterAll(async () => {
    await browser?.close()
  })
  beforeEach((context) => {
    if (browser === null) context.skip(NO_CHROMIUM)
  })
  return () => browser
}

export interface SceneOptions {
  /** Changes the configuration that the daemon starts with. */
  readonly config?: (text: string) => string
  /** Runs before the daemon starts. */
  readonly prepare?: (data: string) => Promise<void>
}

export function createConsoleScenes(
  browser: () => Browser | null,
): (options?: SceneOptions) => Promise<ConsoleScene> {
  const scene = createScene()
  return async (options = {}) => {
    const telegram = await createFakeTelegram()
    scene.onEnd(() => telegram.stop())
    const pager = { mended: false, got: [] as string[] }
    const pagerServer = await listen((text) => {
      pager.got.push(text)
      return pager.mended ? 200 : 400
    })
    scene.onEnd(() => void pagerServer.server.close())
    const data = scene.folder()
    const config = join(data, 'switchboard.yaml')
    writeFileSync(join(data, 'telegram.token'), telegram.token, { mode: 0o600 })
    const text = yaml(telegram.url, pagerServer.url)
    writeFileSync(config, options.config?.(text) ?? text)
    await options.prepare?.(data)
    const port = await freePort()
    let daemon = await scene.start({ data, config, port })
    const link = async (user?: string) => {
      const { stdout } = await switchboard(
        data,
        'console',
        '--json',
        ...(user === undefined ? [] : ['--user', user]),
      )
      return (JSON.parse(stdout) as { url: string }).url
    }
    const start = async () => {
      daemon = await scene.start({ data, config, port })
    }
    const kill = async () => void (await daemon.kill9())
    return {
      ...{ scene, data, telegram, pager, link, kill, start },
      get daemon() {
        return daemon
      },
      async restart() {
        await kill()
        await start()
      },
      async hook(id, text) {
        const answer = await fetch(`${daemon.url}/hooks/${id}`, {
          method: 'POST',
          headers: { 'x-sender': 'dev', 'content-type': 'text/plain' },
          body: text,
        })
        if (answer.status !== 200) throw new Error(`the hook said ${answer.status}: ${await answer.text()}`)
      },
      async enter(user, options = {}) {
        const guest = await visit(browser(), { width: 1_200, height: 860, ...options })
        scene.onEnd(() => guest.context.close())
        await guest.page.goto(await link(user))
        await guest.page.getByRole('heading', { level: 1 }).waitFor()
        await guest.page.locator('.lamp-up').first().waitFor({ state: 'attached' })
        return guest
      },
      writeConfig(change) {
        writeFileSync(config, change(readFileSync(config, 'utf8')))
      },
    }
  }
}

function yaml(telegram: string, pager: string): string {
  return `users:
  - { id: kate, roles: [owner] }
  - { id: otto, roles: [operator] }
  - { id: anna, roles: [approver] }
  - { id: vera, roles: [viewer] }
integrations:
  - { id: web, platform: web }
  - { id: ci, platform: webhook, sender_header: X-Sender, two_way: true, access: { allow_from: [dev] } }
  - id: pager
    platform: webhook
    sender_header: X-Sender
    access: { allow_from: [dev] }
    out: { url: "${pager}", allow_private: true }
  - { id: front, platform: chorus, scope: all }
  - { id: tg, platform: telegram, token: "file:telegram.token", api_root: "${telegram}", mode: polling }
agents:
  - id: demo
    connector: { type: demo }
    inbound_bindings:
      - { plugin: web, instance: web }
      - { plugin: webhook, instance: ci }
      - { plugin: webhook, instance: pager }
      - { plugin: telegram, instance: tg }
  - id: coder
    connector: { type: channel }
    inbound_bindings: []
`
}

async function listen(answer: (text: string) => number): Promise<{ server: Server; url: string }> {
  const port = await freePort()
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
    })
    request.on('end', () => {
      response.statusCode = answer(text)
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return { server, url: `http://127.0.0.1:${port}/in` }
}

export async function goTo(page: Page, place: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(`#/${place}`)}`)
}

/** Waits until a page has loaded everything it shows at first. */
export async function settled(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  await expect.poll(() => page.locator('main [aria-busy]').count()).toBe(0)
}

const PICTURES = process.env.PAGE_PICTURES
export async function picture(page: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return
  mkdirSync(PICTURES, { recursive: true })
  await page.screenshot({ path: join(PICTURES, `${name}.png`) })
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
interface Axe {
  run(): Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }>
}
/** The violations that axe finds with all of its rules. */
export async function violations(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE)
  return page.evaluate(async () => {
    const found = await (globalThis as unknown as { axe: Axe }).axe.run()
    return found.violations.flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id}: ${node.html.slice(0, 300)} ${node.failureSummary}`),
    )
  })
}
