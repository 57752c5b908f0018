// The console shows what others wrote, wherever it can be planted: names, bodies, tool names and inputs, file names, answers,
// servers and what they print. Nothing of it runs, nothing is loaded, and no link leads where it does not say.
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { dataFolderAt, openKeyRing, prepareDataFolder } from '../../src/config/index.ts'
import { createRealClock, createRealRandom } from '../../src/runtime/real-clock.ts'
import { openStore } from '../../src/store/open.ts'
import { until } from '../faults/until.ts'
import { consoleBrowser, createConsoleScenes, goTo, PAGES, picture, settled } from './console-scene.ts'

const browser = consoleBrowser()
const begin = createConsoleScenes(browser)

const EVIL = 'http://evil.invalid'
const NAME = `<img src=x onerror=window.hurt=1>"'>\u202Egnp.exe\u2066`
const HOSTILE = `${NAME}</textarea></script><script>window.hurt=1</script><style>body{display:none}</style>
![pixel](${EVIL}/pixel.png) <img src="${EVIL}/p.png"> [x](javascript:window.hurt=1) [y](JaVaScRiPt\t:window.hurt=1)
[z](data:text/html,<script>window.hurt=1</script>) [//](//evil.invalid/a) [v](vbscript:x) <javascript:window.hurt=1>
<svg onload=window.hurt=1><iframe src="${EVIL}"></iframe> <link rel=stylesheet href="${EVIL}/x.css">
[https://bank.invalid](${EVIL}/login) {{constructor.constructor('window.hurt=1')()}} \u0000\u0007\uFEFF

[ref]: javascript:window.hurt=1
[ref] &lt;script&gt;window.hurt=1&lt;/script&gt;`

/** A turn with hostile tool events and file names, as an agent and a platform could have told them. */
async function plant(data: string): Promise<void> {
  const folder = dataFolderAt({ data, env: {} })
  prepareDataFolder(folder)
  const store = await openStore(folder.defaultStore, {
    ...{ clock: createRealClock(), random: createRealRandom(), node: 'plant' },
    ledgerKey: openKeyRing({ dataDir: folder.path, env: {} }).ledgerKey,
  })
  const body = {
    kind: 'message' as const,
    ...{ text: HOSTILE, senderName: NAME },
    attachments: [{ id: 'f1', kind: 'file', name: `${NAME}.pdf`, mime: NAME, size: 7, ref: 'x' } as const],
  }
  const [received] = await store.receive([
    {
      turn: {
        ...{ at: { integration: 'ci', conversation: NAME, thread: NAME }, platform: 'webhook' },
        ...{ messageId: NAME, editVersion: 0, source: 'webhook:ci', agent: 'demo', sender: NAME, body },
        bodyDigest: createHash('sha256').update(JSON.stringify(body)).digest('hex'),
      },
      ...{ state: 'consumed', reason: 'command', keepRow: true, effects: [] },
    },
  ])
  const turn = received?.id ?? ''
  for (const [n, kind] of (['tool_call', 'tool_result', 'error'] as const).entries())
    await store.keepTurnEvent({ turn, kind, call: NAME, name: NAME, text: HOSTILE, key: `k${n}` })
  await store.close()
}

/** An agent behind HTTP that asks with hostile words before it answers with them. */
async function evilAgent(onEnd: (undo: () => void) => void): Promise<string> {
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
    })
    request.on('end', async () => {
      const { reply_url } = JSON.parse(text) as { reply_url: string }
      const ask = { tool: NAME, description: HOSTILE, input: { [NAME]: HOSTILE } }
      response.setHeader('content-type', 'application/json')
      const asks = () =>
        fetch(reply_url, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ ask }),
        }).catch(() => undefined)
      response.statusCode = 202
      response.on('finish', () => void asks()).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onEnd(() => void server.close())
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/turn`
}

const SERVER = fileURLToPath(new URL('../../src/platforms/mcp/fixtures/bad-server.mjs', import.meta.url))
const push = JSON.stringify({
  ...{ jsonrpc: '2.0', method: 'notifications/nexo/channel' },
  params: { content: HOSTILE, meta: { chat_id: 'c1', user: NAME, user_id: NAME, message_id: '1' } },
})

/** What of it came alive, or could. A bubble shows what the person saw, and what turns its line ends with it. */
const alive = (page: Page) =>
  page.evaluate(`(() => {
    const odd = [...document.querySelectorAll('script,style,img,iframe,link,object,embed')]
    const links = [...document.querySelectorAll('a[href]')]
    const all = [...document.querySelectorAll('*')]
    return {
      hurt: window.hurt ?? 0,
      foreign: odd.filter((one) => one.closest('main, .side, dialog') !== null).length,
      handlers: all.filter((one) => one.getAttributeNames().some((name) => name.startsWith('on'))).length,
      schemes: [...new Set(links.map((one) => one.protocol))].filter((scheme) => !/^https?:$/.test(scheme)),
      bare: links.filter((one) => one.origin !== location.origin && !/noopener/.test(one.rel)).length,
      turned: all.some((one) => one.children.length === 0 && !one.closest('.bubble') && one.textContent.includes('\\u202E')),
      wide: document.documentElement.scrollWidth > innerWidth,
    }
  })()`)
const CALM = { hurt: 0, foreign: 0, handlers: 0, schemes: [], bare: 0, turned: false, wide: false }

it('[I21.con-inject] [I21.con-own-host] hostile words in every place where others write stay words', async () => {
  const undo: (() => void)[] = []
  const url = await evilAgent((one) => void undo.push(one))
  const plan = { capabilities: { 'nexo/channel': {} }, stderr: HOSTILE, after: [push] }
  const server = NAME.replace(/[\u202E\u2066]/g, '')
  const at = await begin({
    prepare: plant,
    config: (text) =>
      `mcp_servers:
  ${JSON.stringify(server)}: { command: ${JSON.stringify(process.execPath)}, args: ${JSON.stringify([SERVER, JSON.stringify(plan)])} }
${text
  .replace(
    '  - id: coder',
    `  - id: evil
    connector: { type: http, url: "${url}", mode: later, allow_private: true }
    channels: { enabled: true, approved: [{ server: ${JSON.stringify(server)} }] }
    inbound_bindings:
      - { plugin: webhook, instance: bad, allowed_channel_servers: [${JSON.stringify(server)}] }
  - id: coder`,
  )
  .replace(
    'agents:',
    '  - { id: bad, platform: webhook, sender_header: X-Sender, two_way: true, access: { allow_from: [dev] } }\nagents:',
  )}`,
  })
  at.scene.onEnd(() => {
    for (const one of undo) one()
  })
  const stranger = at.telegram.person({ name: NAME } as never)
  stranger.says(HOSTILE)
  await at.hook('pager', HOSTILE)
  const asked = new Set<string>()
  const { page, complaints } = await at.enter('kate', { width: 1_200 })
  page.on('request', (request) => asked.add(new URL(request.url()).origin))
  await goTo(page, 'people')
  await page.getByRole('button', { name: /Let in to talk/ }).click()
  await until('paired', () => stranger.sees().some((text) => text.includes('You are paired')))
  stranger.sendsFile({ name: `${NAME}.pdf`, mime: 'text/html', caption: HOSTILE, content: HOSTILE })
  await goTo(page, 'approvals')
  await at.hook('bad', HOSTILE)
  await page.getByRole('button', { name: /Allow/ }).first().waitFor()
  for (const place of PAGES) {
    await goTo(page, place)
    await settled(page)
    await picture(page, `hostile-${place}`)
    expect([place, await alive(page)]).toEqual([place, CALM])
  }
  // One of each: the thread with its tools and files, a turn, an approval, a send.
  const opened: string[] = []
  for (const kind of ['conversations', 'turns', 'outbox', 'approvals']) {
    await goTo(page, kind)
    await settled(page)
    await page.locator(`main a[href^="#/${kind}/"]`).first().waitFor()
    const hrefs = await page
      .locator(`main a[href^="#/${kind}/"]`)
      .evaluateAll((links) => [...new Set(links.map((one) => one.getAttribute('href') ?? ''))])
    for (const href of hrefs) {
      await goTo(page, href.slice(2))
      await settled(page)
      await page.evaluate(`for (const one of document.querySelectorAll('main details')) one.open = true`)
      opened.push(kind)
      await picture(page, `hostile-${kind}-${opened.length}`)
      expect([href, await alive(page)]).toEqual([href, CALM])
    }
  }
  expect([...new Set(opened)]).toHaveLength(4)
  expect(opened.length).toBeGreaterThan(10)
  // The names stand there, as they are.
  const planted = ['ci', NAME, NAME].map((part, at) => (at === 0 ? part : encodeURIComponent(part))).join(':')
  await goTo(page, `conversations/${encodeURIComponent(planted)}`)
  await page.locator('.said-file', { hasText: '<img src=x onerror=window.hurt=1>' }).waitFor()
  expect(await page.locator('.events summary', { hasText: '<img src=x' }).count()).toBe(3)
  expect(complaints).toEqual([])
  expect([...asked]).toEqual([at.daemon.url])
})
