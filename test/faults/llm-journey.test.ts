// An agent from an API key, as a new user has it: `init`, the web chat and Telegram, an MCP tool after an approval; and the
// daemon killed in mid-loop. The API is the fake one on loopback, which outlives the daemon, as a vendor's does.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { createFakeTelegram } from '../../src/testing/emulate.ts'
import { createFakeLlm, type FakeScript } from '../../src/testing/llm/fake-llm.ts'
import type { Daemon } from './daemon.ts'
import { post } from './hook-client.ts'
import { expectLedgerHolds, settled } from './river-checks.ts'
import { askJson, createScene, switchboard } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()
const KEY = 'sk-planted-4716-very-secret'
const KATE = '412587349'

/** An MCP server of two tools: each writes into the file; `post` says so at once, `ship` never says anything. */
const SERVER = `
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
const say = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
const tools = ['post', 'ship'].map((name) => ({ name, description: name, inputSchema: { type: 'object' } }))
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize')
    say(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'desk', version: '1' } })
  else if (method === 'tools/list') say(id, { tools })
  else if (method === 'tools/call') {
    appendFileSync(process.env.DONE_FILE, params.name + '\\n')
    if (params.name === 'post') say(id, { content: [{ type: 'text', text: 'it is posted' }] })
  } else if (id !== undefined) say(id, {})
}
`

/** Everything that a person would do once, and nothing by hand that `init` does. */
async function setUp(script: FakeScript) {
  const fake = createFakeLlm({ key: KEY, script })
  const api = await fake.listen()
  scene.onEnd(() => api.close())
  const telegram = await createFakeTelegram()
  scene.onEnd(() => telegram.stop())
  const data = scene.folder()
  const [config, keyFile, doneFile] = ['switchboard.yaml', 'key.txt', 'done.txt'].map((name) =>
    join(data, name),
  ) as [string, string, string]
  writeFileSync(keyFile, KEY, { mode: 0o600 })
  writeFileSync(join(data, 'desk.mjs'), SERVER)
  writeFileSync(join(data, 'telegram.token'), telegram.token, { mode: 0o600 })
  const words = ['--provider', 'anthropic', '--base-url', api.url, '--model', 'm1', '--api-key-file', keyFile]
  const made = await switchboard(data, 'init', '--agent', 'llm', ...words, '--yes', '--config', config)
  expect(made).toMatchObject({ code: 0, stderr: expect.stringContaining('the agent answers') })
  const file = parse(readFileSync(config, 'utf8'))
  const [agent] = file.agents
  agent.connector.mcp = {
    desk: { command: process.execPath, args: [join(data, 'desk.mjs')], env: { DONE_FILE: doneFile } },
  }
  const access = { dm: 'allowlist', allow_from: [KATE], approvers: [KATE] }
  const token = 'file:telegram.token'
  file.integrations.push({
    id: 'tg',
    platform: 'telegram',
    token,
    api_root: telegram.url,
    mode: 'polling',
    access,
  })
  agent.inbound_bindings.push({ plugin: 'telegram', instance: 'tg' })
  writeFileSync(config, stringify(file))
  const done = () => (existsSync(doneFile) ? readFileSync(doneFile, 'utf8').trim().split('\n') : [])
  const kate = telegram.person()
  return {
    ...{ fake, data, done, kate },
    start: () => scene.start({ data, config }),
    sees: (part: string) => until(`Kate sees ${part}`, () => kate.sees().find((text) => text.includes(part))),
    /** What the model was told last of its calls. */
    toolResults: () => fake.requests.filter(({ isResult }) => isResult).map(({ last }) => last),
  }
}

async function sayOnThePage(daemon: Daemon, text: string) {
  const { url } = await askJson<{ url: string }>(daemon.data, 'link')
  const ticket = new URL(url).hash.replace('#ticket=', '')
  const json = { 'content-type': 'application/json', origin: daemon.url }
  const entered = await post(`${daemon.url}/chat/session`, JSON.stringify({ ticket }), json)
  const headers = { ...json, cookie: entered.headers.get('set-cookie')?.split(';')[0] ?? '' }
  await post(`${daemon.url}/chat/messages`, JSON.stringify({ clientId: 'client-0001', text }), headers)
  return async () => (await fetch(`${daemon.url}/chat/history`, { headers })).text()
}

it('[I16.journey] init with a key talks on the page and on Telegram, uses a tool once it is allowed, and lives through kill -9', async () => {
  let held = true
  const script: FakeScript = ({ last, isResult }) => {
    if (isResult) {
      // The first life is killed while it waits for these words.
      if (held) return { before: () => new Promise<void>(() => undefined), text: 'nobody hears this' }
      return { text: `Done: ${last}` }
    }
    const name = /^(post|ship) it$/.exec(last)?.[1]
    return name === undefined
      ? { text: `You said: ${last}` }
      : { calls: [{ name: `desk__${name}`, input: { to: 'bob' } }] }
  }
  const { fake, data, start, sees, kate, done, toolResults } = await setUp(script)
  let daemon = await start()
  const history = await sayOnThePage(daemon, 'hello there')
  await until('the page shows the answer', async () => (await history()).includes('You said: hello there'))

  const allow = async (tool: string) => {
    const asks = (text: string) => text.includes(tool) && /yes ([a-z]{5})/.exec(text)
    const asked = await until(`${tool} is asked about`, () => kate.sees().map(asks).find(Boolean) || null)
    kate.says(`yes ${asked[1]}`)
  }
  kate.says('post it')
  await allow('desk__post')
  await until('the tool has run, and the model is told', () => toolResults().length === 1)
  const logs = [daemon.stderr()]
  await daemon.kill9()
  held = false
  daemon = await start()
  await sees('Done: it is posted')
  expect(done()).toEqual(['post'])
  // The step before was kept: the model was asked for it once.
  expect(fake.requests.filter(({ last }) => last === 'post it')).toHaveLength(1)

  kate.says('ship it')
  await allow('desk__ship')
  await until('the second tool has begun', () => done().length === 2)
  logs.push(daemon.stderr())
  await daemon.kill9()
  daemon = await start()
  await sees('Done: Outcome unknown')
  expect(done()).toEqual(['post', 'ship'])
  expect(toolResults().at(-1)).toMatch(
    /Outcome unknown: the call was interrupted after it had begun, and it was not run again/,
  )

  await settled(data)
  await expectLedgerHolds(data)
  const status = JSON.stringify(await askJson(data, 'status'))
  expect([...logs, daemon.stderr(), status].join('\n')).not.toContain('4716')
})
