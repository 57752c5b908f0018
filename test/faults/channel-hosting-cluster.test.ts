// A hosted channel server before two nodes that share a database: one of them has it, both send through it, and when that
// one is killed the other starts it.
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { freePort } from '../../src/testing/free-port.ts'
import { startPostgres } from '../../src/testing/postgres/server.ts'
import type { Daemon } from './daemon.ts'
import { readEvents } from './event-reader.ts'
import { post } from './hook-client.ts'
import { expectLedgerHolds } from './river-checks.ts'
import { askJson, askLines, createScene } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()
const SERVER = fileURLToPath(new URL('../../src/platforms/mcp/fixtures/two-way-webhook.mjs', import.meta.url))

/** A port that is ours for a moment: the server has to come back where people know it. */
const stateOf = async (daemon: Daemon) => {
  const { servers = [] } = await askJson<{ servers?: { state: string }[] }>(daemon.data, 'status')
  return servers[0]?.state ?? ''
}

describe('a hosted channel server in a cluster', () => {
  it('[I8.server-lease] one node has it; a message and an approval go around; the other takes it over when that one is killed', async () => {
    const postgres = await startPostgres()
    scene.onEnd(() => postgres.stop())
    const env = {
      DATABASE_URL: await postgres.freshDatabase(),
      SWITCHBOARD_KEY: randomBytes(32).toString('base64'),
    }
    const webhook = await freePort()
    const yaml = `server: { port: 0 }
store: env:DATABASE_URL
integrations:
  - { id: hook, platform: webhook, sender_header: X-Sender, access: { allow_from: [dev] } }
mcp_servers:
  door: { command: ${JSON.stringify(process.execPath)}, args: [${JSON.stringify(SERVER)}], env: { WEBHOOK_PORT: "${webhook}" } }
agents:
  - id: kate
    connector: { type: demo }
    channels: { enabled: true, approved: [{ server: door, outbound_tool_name: reply }] }
    inbound_bindings: [{ plugin: webhook, instance: hook, allowed_channel_servers: [door] }]
`
    const start = () => {
      const data = scene.folder()
      const config = join(data, 'switchboard.yaml')
      writeFileSync(config, yaml)
      return scene.start({ data, config, env })
    }
    const nodes = await Promise.all([start(), start()])
    const holder = () =>
      until('one node has the server, and the other waits', async () => {
        const states = await Promise.all(nodes.map(stateOf))
        const at = states.indexOf('up')
        return at >= 0 && states[1 - at] === 'waiting' ? nodes[at] : null
      })
    const url = `http://127.0.0.1:${webhook}`
    const stream = readEvents(() => `${url}/events`, {})
    scene.onEnd(() => stream.stop())
    const shown = (text: string) =>
      until(`"${text}" is shown`, () => stream.events.find(({ data }) => data.includes(text)))
    const say = (text: string) => post(url, text, { 'x-sender': 'dev' })

    const first = await holder()
    await until('somebody watches', () => stream.connections() > 0)
    await say('hello')
    await shown('Reply to 1: You said: hello')
    await say('deploy main')
    const asked = await shown('"yes ')
    await say(/"(yes [a-z]{5})"/.exec(asked.data)?.[1] ?? '')
    await shown('🚀 Deployed: `deploy --target main --to production` (allowed by server:door)')

    await first.kill9()
    const left = nodes.find((node) => node !== first)
    if (!left) throw new Error('there is no other node')
    await until('the other has it', async () => (await stateOf(left)) === 'up')
    const before = stream.connections()
    await until('somebody watches again', () => stream.connections() > before || stream.connections() > 1)
    await say('anybody?')
    await shown('You said: anybody?')
    const turns = await askLines<{ state: string }>(left.data, 'turns', '--source', 'channel:door')
    expect(turns.map(({ state }) => state).toSorted()).toEqual([
      'answered',
      'answered',
      'answered',
      'consumed',
    ])
    await expectLedgerHolds(left.data)
  })
})
