// An ACP agent as a new user has it: `init`, the web chat and Telegram, a permission, a stop, and the daemon killed in mid-turn and
// in mid-approval. The agent is one made from the official library's agent side; it counts every run of its tool.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { createFakeTelegram } from '../../src/testing/emulate.ts'
import type { Daemon } from './daemon.ts'
import { post } from './hook-client.ts'
import { expectLedgerHolds, settled } from './river-checks.ts'
import { askJson, createScene, switchboard } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()
const KATE = '412587349'
const AGENT = fileURLToPath(new URL('../../src/agents/acp/fixtures/scripted-agent.mjs', import.meta.url))

async function setUp() {
  const telegram = await createFakeTelegram()
  scene.onEnd(() => telegram.stop())
  const data = scene.folder()
  const config = join(data, 'switchboard.yaml')
  mkdirSync(join(data, 'work'))
  writeFileSync(join(data, 'telegram.token'), telegram.token, { mode: 0o600 })
  const words = ['--command', `${process.execPath} ${AGENT} --load`, '--cwd', join(data, 'work')]
  const made = await switchboard(
    data,
    'init',
    '--platform',
    'web',
    '--agent',
    'acp',
    ...words,
    '--yes',
    '--no-start',
    '--config',
    config,
  )
  expect(made).toMatchObject({ code: 0, stderr: expect.stringContaining('scripted 1.2.3') })
  const file = parse(readFileSync(config, 'utf8'))
  const [agent] = file.agents
  file.integrations.push({
    ...{
      id: 'tg',
      platform: 'telegram',
      token: 'file:telegram.token',
      api_root: telegram.url,
      mode: 'polling',
    },
    access: { dm: 'allowlist', allow_from: [KATE], approvers: [KATE] },
  })
  agent.inbound_bindings.push({ plugin: 'telegram', instance: 'tg' })
  writeFileSync(config, stringify(file))
  const kate = telegram.person()
  const lines = (name: string) => {
    const path = join(data, 'work', name)
    return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []
  }
  return {
    ...{ data, kate },
    runs: () => lines('runs.log'),
    start: () => scene.start({ data, config }),
    sees: (part: string) => until(`Kate sees ${part}`, () => kate.sees().find((text) => text.includes(part))),
    /** The ids of all that was asked so far. */
    asked: () => kate.sees().flatMap((text) => /yes ([a-z]{5})/.exec(text)?.[1] ?? []),
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

it('[I22.acp-daemon] init, the page and Telegram, a permission, a stop, kill -9 in mid-turn and in mid-approval: no tool twice, nobody left', async () => {
  const { data, kate, start, sees, asked, runs } = await setUp()
  let daemon = await start()
  const history = await sayOnThePage(daemon, 'hello there')
  await until('the page shows the answer', async () => (await history()).includes('echo: hello there'))

  kate.says('ask')
  const first = await until('it is asked', () => asked()[0])
  kate.says(`yes ${first}`)
  await sees('the tool ran')
  expect(runs()).toHaveLength(1)

  // In mid-turn: its tool has run, and the words that follow never end.
  kate.says('work')
  await until('the second tool has run', () => runs().length === 2)
  await until('that is kept', async () => {
    const [turn] = await turnsOf(data)
    return turn?.state === 'seen'
  })
  await daemon.kill9()
  daemon = await start()
  await sees('not to be run again: write the log')
  expect(runs()).toHaveLength(2)

  // In mid-approval: the old question is nobody's any more, and the tool did not run.
  kate.says('ask')
  await until('it is asked again', () => asked().some((id) => id !== first))
  await daemon.kill9()
  daemon = await start()
  await until('it went on', () => kate.sees().filter((text) => text.includes('went on')).length === 2)
  expect(runs()).toHaveLength(2)

  kate.says('work')
  await until('the third tool has run', () => runs().length === 3)
  kate.says('/stop')
  await sees('topped')
  kate.says('hello again')
  await sees('echo: hello again')

  await settled(data)
  await expectLedgerHolds(data)
  await daemon.terminate()
  expect(readdirSync(join(data, 'processes'))).toEqual([])
})

async function turnsOf(data: string): Promise<{ state: string }[]> {
  const { stdout } = await switchboard(data, 'turns', '--json', '--limit', '1')
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}
