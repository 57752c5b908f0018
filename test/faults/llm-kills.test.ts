// kill -9 of a real daemon in each step of the connector llm, by the process itself at the very line: turns that
// die at every point, one after the other. The API and the tool's own record outlive the daemon.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createFakeLlm } from '../../src/testing/llm/fake-llm.ts'
import { postDemo } from './hook-client.ts'
import { oneToolServer } from './one-tool-server.ts'
import { expectLedgerHolds, sendsOf, settled, turnsOf } from './river-checks.ts'
import { createScene } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()
const KEY = 'sk-planted-4716-very-secret'

/** In the order in which one turn comes by them: a turn is tried five times, and each of these lives four kills. */
const FIRST = ['llm.before-model', 'llm.model-done', 'llm.model-kept', 'llm.before-start']
/** `started` is before the tool runs. */
const SECOND = ['llm.started', 'llm.tool-done', 'llm.result-kept', 'llm.before-answer']

/** It writes into a file that it has run. */
const SERVER = oneToolServer(`appendFileSync(process.env.DONE_FILE, 'post\\n')`, 'it is posted')

it('[I16.resume] [I16.unknown-told] a real daemon killed at every point makes no finished step twice, and answers once', async () => {
  const fake = createFakeLlm({
    key: KEY,
    script: ({ isResult, last }) =>
      isResult ? { text: `Done: ${last}` } : { calls: [{ name: 'desk__post', input: { to: 'bob' } }] },
  })
  const api = await fake.listen()
  scene.onEnd(() => api.close())
  const data = scene.folder()
  const [config, server, doneFile] = ['switchboard.yaml', 'desk.mjs', 'done.txt'].map((name) =>
    join(data, name),
  ) as [string, string, string]
  writeFileSync(server, SERVER)
  const desk = { command: process.execPath, args: [server], env: { DONE_FILE: doneFile } }
  const model = { provider: 'anthropic', model: 'm1', api_key: 'env:KEY', base_url: api.url }
  const connector = { type: 'llm', ...model, risky_tools: [], mcp: { desk } }
  writeFileSync(
    config,
    `integrations:
  - { id: demo, platform: webhook, sender_header: X-Sender, two_way: true, access: { allow_from: [dev] } }
agents:
  - id: kate
    inbound_bindings: [{ plugin: webhook, instance: demo }]
    connector: ${JSON.stringify(connector)}
`,
  )
  const dies = async (point: string, say?: string) => {
    const life = scene.launch({ data, config, env: { KEY, SWITCHBOARD_CRASH_AT: point } })
    const daemon = await life.ready
    if (say !== undefined) expect((await postDemo(daemon?.url ?? '', say, say)).status).toBe(200)
    expect(await life.exited, point).toEqual({ code: null, signal: 'SIGKILL' })
    expect(life.stderr()).not.toContain('4716')
  }
  const ran = () => (existsSync(doneFile) ? readFileSync(doneFile, 'utf8').trim().split('\n').length : 0)
  const asked = (what: string) => fake.requests.filter(({ last }) => last === what).length

  const alive = async (what: string) => {
    const daemon = await scene.start({ data, config, env: { KEY } })
    await until(`${what} is answered`, async () =>
      (await turnsOf(data)).every(({ state }) => state === 'answered'),
    )
    await settled(data)
    await daemon.kill9()
  }

  for (const [at, point] of FIRST.entries()) await dies(point, at === 0 ? 'post it' : undefined)
  expect(ran()).toBe(0)
  await alive('the first')
  expect(ran()).toBe(1)
  // Before its answer was kept the model was asked in two lives that were killed, and in the next; then never again.
  expect(asked('post it')).toBe(2)
  for (const [at, point] of SECOND.entries()) await dies(point, at === 0 ? 'post more' : undefined)
  // Begun before the kill, and never run: nobody can know that, and nobody runs it.
  expect(ran()).toBe(1)
  await alive('the second')
  await dies('llm.tool-done', 'post the last')
  await alive('the third')
  expect(ran()).toBe(2)
  expect([asked('post more'), asked('post the last')]).toEqual([1, 1])
  const said = (await sendsOf(data)).map(({ text }) => text).filter((text) => text.startsWith('Done'))
  expect(said).toEqual([
    'Done: it is posted',
    expect.stringMatching(/^Done: Outcome unknown/),
    expect.stringMatching(/^Done: Outcome unknown/),
  ])
  await expectLedgerHolds(data)
})
