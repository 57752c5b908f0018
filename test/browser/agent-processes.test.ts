// Agents that run as a process, from the web chat in a real browser: a new user talks, allows a tool, answers a question, stops a
// turn, and the daemon is killed in mid-turn.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DatabaseSync } from '@photostructure/sqlite'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, type TestContext } from 'vitest'
import { stringify } from 'yaml'
import { freePort } from '../../src/testing/free-port.ts'
import { askJson, askLines, createScene } from '../faults/scene.ts'
import { until } from '../faults/until.ts'
import { NO_CHROMIUM, openChromium, send, visit } from './chromium.ts'

const scene = createScene()
let browser: Browser | null = null
beforeAll(async () => {
  browser = await openChromium()
})
afterAll(async () => {
  await browser?.close()
})

const fixture = (name: string) => fileURLToPath(new URL(`../../src/agents/${name}`, import.meta.url))

/** A daemon with the web chat and one agent, on a port that outlives it, and a page that is signed in. */
async function open(context: TestContext, connectorOf: (data: string, work: string) => object) {
  if (browser === null) return context.skip(NO_CHROMIUM)
  const data = scene.folder()
  const work = join(data, 'work')
  mkdirSync(work)
  const config = join(data, 'switchboard.yaml')
  const agent = {
    id: 'kate',
    connector: connectorOf(data, work),
    inbound_bindings: [{ plugin: 'web', instance: 'web' }],
  }
  const server = { port: await freePort() }
  writeFileSync(
    config,
    stringify({ server, integrations: [{ id: 'web', platform: 'web' }], agents: [agent] }),
  )
  const start = () => scene.start({ data, config, port: server.port })
  const daemon = await start()
  const { url } = await askJson<{ url: string }>(data, 'link')
  const { page, context: tab } = await visit(browser)
  scene.onEnd(() => tab.close())
  await page.goto(url)
  const lines = (name: string) => {
    const path = join(work, name)
    return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []
  }
  const relayed = (count: number) =>
    until('the verdict was passed on', async () => {
      const all = await askLines<{ state: string }>(data, 'approvals', 'list', '--all')
      return all.filter(({ state }) => state === 'relayed').length === count
    })
  return { data, daemon, start, page, lines, relayed }
}

/** Whether the journal of the newest turn has a tool's result. */
function endOfTool(data: string): boolean {
  const database = new DatabaseSync(join(data, 'switchboard.db'), { readOnly: true })
  try {
    const sql = "SELECT 1 FROM turn_steps WHERE kind = 'result' AND turn = (SELECT max(seq) FROM turns)"
    return database.prepare(sql).get() !== undefined
  } finally {
    database.close()
  }
}

const shows = (page: Page, text: string) => page.getByText(text).first().waitFor()
const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).last().click()

it('[I22.cc-journey] [I22.cc-choices] Claude Code: an answer, an approval and a question by their buttons, a stop, and kill -9 in mid-turn', async (context) => {
  const place = await open(context, (data, work) => {
    const command = join(data, 'claude')
    const double = fixture('claude-code/fixtures/claude-double.mjs')
    writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${double}" "$@"\n`)
    chmodSync(command, 0o755)
    return { type: 'claude-code', command, cwd: work, env: { HOME: data } }
  })
  const { page, lines, relayed, daemon, start } = place
  await send(page, 'hello there')
  await shows(page, 'You said: hello there')
  await send(page, 'call Bash {"command":"make it"}')
  await press(page, /^Allow/)
  await shows(page, 'The tool said: ran make it')
  await send(page, 'ask')
  await press(page, '2. Blue')
  await shows(page, '"Which colour?"="Blue"')
  await send(page, 'endless')
  await shows(page, 'it begins')
  await send(page, '/stop')
  await shows(page, 'topped')
  await send(page, 'call Bash {"command":"sleep 100000"}')
  await press(page, /^Allow/)
  await relayed(2)
  await daemon.kill9()
  await start()
  await shows(page, 'I went on')
  expect(lines('ran.log')).toEqual(['make it'])
})

it('[I22.acp-browser] an ACP agent: an answer, a permission by its button, a stop, and kill -9 in mid-turn', async (context) => {
  const agent = fixture('acp/fixtures/scripted-agent.mjs')
  const place = await open(context, (_data, work) => ({
    ...{ type: 'acp', command: process.execPath, args: [agent, '--load'], cwd: work },
  }))
  const { page, lines, daemon, start, data } = place
  await send(page, 'hello there')
  await shows(page, 'echo: hello there')
  await send(page, 'ask')
  await press(page, /^Allow/)
  await shows(page, 'the tool ran')
  expect(lines('runs.log')).toHaveLength(1)
  await send(page, 'work')
  await until('the second tool has run', () => lines('runs.log').length === 2)
  await send(page, '/stop')
  await shows(page, 'topped')
  await send(page, 'work')
  await until('the third tool has run', () => lines('runs.log').length === 3)
  await until('that the turn was seen is kept', async () =>
    (await askLines<{ state: string }>(data, 'turns', '--limit', '1')).some(({ state }) => state === 'seen'),
  )
  // The tool's end is another row than the turn's state, and may be written behind it.
  await until('that the tool has run is kept', () => endOfTool(data))
  await daemon.kill9()
  await start()
  await shows(page, 'not to be run again: write the log')
  expect(lines('runs.log')).toHaveLength(3)
})
