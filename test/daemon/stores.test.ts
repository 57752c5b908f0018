// The store that the configuration names: a SQLite file relative to it, a PostgreSQL behind a reference; and the
// embedded default, which keeps everything in the data folder.
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type PostgresServer, startPostgres } from '../../src/testing/postgres/server.ts'
import { bareEnvironment } from '../faults/daemon.ts'
import { readEvents } from '../faults/event-reader.ts'
import { acknowledged, post, postDemo } from '../faults/hook-client.ts'
import { type Audit, expectLedgerHolds, type Status, settled, turnsOf } from '../faults/river-checks.ts'
import { askJson, askLines, createScene, switchboard } from '../faults/scene.ts'
import { until } from '../faults/until.ts'
import { writeYaml } from './admin.ts'

const scene = createScene()
let postgres: PostgresServer | null = null
afterAll(() => postgres?.stop())

const YAML = `integrations:
  - { id: ci, platform: webhook, sender_header: X-Sender, two_way: true, access: { allow_from: [dev], approvers: [dev] } }
agents:
  - { id: demo, connector: { type: demo }, inbound_bindings: [{ plugin: webhook, instance: ci }] }
`
const say = (url: string, text: string) => post(`${url}/hooks/ci`, text, { 'x-sender': 'dev' })

describe('store', () => {
  it('[S3.store-sqlite] sqlite:PATH is that file, relative to the configuration', async () => {
    const [data, place] = [scene.folder(), scene.folder()]
    mkdirSync(join(place, 'kept'))
    const config = writeYaml(place, `store: sqlite:./kept/talk.db\n${YAML}`)
    const daemon = await scene.start({ data, config })
    acknowledged(await say(daemon.url, 'hello'))
    await settled(data)
    expect(existsSync(join(place, 'kept/talk.db'))).toBe(true)
    expect(existsSync(join(data, 'switchboard.db'))).toBe(false)
    expect((await askJson<Status>(data, 'status')).store).toMatchObject({ kind: 'sqlite' })
    await daemon.terminate()
    // Without a daemon the same file is read.
    const turns = await askLines<{ text: string }>(data, 'turns', '--config', config)
    expect(turns).toMatchObject([{ text: 'hello', state: 'answered' }])
  })

  it('[S3.store-postgres] [S3.ref-env] [S3.ref-missing] a message goes around through a real PostgreSQL, named by reference, and is there after a fall', async () => {
    postgres ??= await startPostgres()
    const data = scene.folder()
    const env = { DATABASE_URL: await postgres.freshDatabase() }
    const config = writeYaml(data, `store: env:DATABASE_URL\n${YAML}`)
    let daemon = await scene.start({ data, config, env })
    const reader = readEvents(() => `${daemon.url}/hooks/ci/events`, { 'x-sender': 'dev' })
    scene.onEnd(() => reader.stop())
    await until('the reader watches', () => reader.connections() > 0)
    acknowledged(await say(daemon.url, 'hello postgres'))
    await until('the answer is heard', () =>
      reader.events.some(({ data: said }) => said === 'You said: hello postgres'),
    )
    expect((await askJson<Status>(data, 'status')).store).toMatchObject({ kind: 'postgres' })
    expect(existsSync(join(data, 'switchboard.db'))).toBe(false)
    await daemon.kill9()
    daemon = await scene.start({ data, config, env })
    acknowledged(await say(daemon.url, 'again'))
    await settled(data)
    expect((await turnsOf(data)).map(({ text, state }) => `${text}: ${state}`)).toEqual([
      'hello postgres: answered',
      'again: answered',
    ])
    await expectLedgerHolds(data)
    for (const line of daemon.stderr().split('\n')) expect(line).not.toContain(env.DATABASE_URL)

    const nowhere = await switchboard(data, 'up', '--config', config)
    expect(nowhere.code).toBe(1)
    await daemon.terminate()
    const unset = await switchboard(data, 'up', '--config', config)
    expect(unset).toMatchObject({ code: 2, stdout: '' })
    expect(unset.stderr).toMatch(/env:DATABASE_URL leads to nothing[\s\S]*hint: set the environment variable/)
  })
})

describe('the embedded default', () => {
  it('[S3.default-up] [S3.default-webhook] [S3.default-web] [S3.default-data] runs web chat, a two-way webhook and the demo agent on SQLite in ~/.switchboard', async () => {
    const home = scene.folder()
    const data = join(home, '.switchboard')
    // As a person would: no --data, no --config.
    const { spawn } = await import('node:child_process')
    const { BINARY } = await import('../faults/daemon.ts')
    const child = spawn(process.execPath, [BINARY, 'up', '--port', '0', '--json'], {
      cwd: home,
      env: { ...bareEnvironment(), HOME: home },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    scene.onEnd(() => void child.kill('SIGKILL'))
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk
    })
    await until('it is up', () => said.includes('\n'))
    const { url, chat_link, config } = JSON.parse(said) as { url: string; chat_link: string; config: null }
    expect(config).toBeNull()
    expect(new URL(url).hostname).toBe('127.0.0.1')
    expect(existsSync(join(data, 'switchboard.db'))).toBe(true)

    const status = await askJson<Status & { integrations: object[]; agents: object[] }>(data, 'status')
    expect(status.integrations).toMatchObject([
      { id: 'web', platform: 'web', link: 'up' },
      { id: 'demo', platform: 'webhook', link: 'up' },
    ])
    expect(status.agents).toMatchObject([{ id: 'demo', connector: 'demo', attached: true }])

    const reader = readEvents(() => `${url}/hooks/demo/events`, { 'x-sender': 'dev' })
    scene.onEnd(() => reader.stop())
    await until('the reader watches', () => reader.connections() > 0)
    acknowledged(await postDemo(url, 'hello'))
    await until('the answer is heard', () =>
      reader.events.some(({ data: text }) => text === 'You said: hello'),
    )
    for (const headers of [
      {},
      { 'x-sender': 'mallory' },
      { 'x-sender': 'dev', 'x-forwarded-for': '10.0.0.1' },
    ])
      expect((await post(`${url}/hooks/demo`, 'hi', headers as Record<string, string>)).status).toBe(403)

    // The link opens the chat once.
    const ticket = new URL(chat_link).hash.replace('#ticket=', '')
    const enter = () =>
      fetch(`${url}/chat/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: url },
        body: JSON.stringify({ ticket }),
      })
    const entered = await enter()
    expect(entered.status).toBe(200)
    const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? ''
    expect((await enter()).status).toBe(410)
    const sent = await fetch(`${url}/chat/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: url, cookie },
      body: JSON.stringify({ text: 'from the page', clientId: 'page-0001' }),
    })
    expect([sent.status, await sent.text()]).toMatchObject([200, expect.any(String)])
    await until('the page is answered', async () =>
      (await askLines<{ text: string; to: string }>(data, 'outbox')).some(
        (row) => row.text === 'You said: from the page',
      ),
    )
    expect(await askJson<Audit>(data, 'audit', 'verify')).toMatchObject({ ok: true })
  })
})
