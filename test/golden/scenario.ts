// The fixed scenario behind the golden files: one daemon, a demo agent, an agent that cannot be reached, and a few
// messages. Each message is settled before the next. The test compares the output of the commands byte by byte.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Daemon } from '../faults/daemon.ts'
import { post, postDemo } from '../faults/hook-client.ts'
import { askLines, type Scene } from '../faults/scene.ts'
import { pause, until } from '../faults/until.ts'

const CONFIG = `integrations:
  - { id: web, platform: web, default: true }
  - id: demo
    platform: webhook
    sender_header: X-Sender
    two_way: true
    access: { allow_from: [dev], approvers: [dev] }
  - id: ci
    platform: webhook
    secret: "file:ci.secret"
    signature: plain
agents:
  - id: demo
    connector: { type: demo }
    inbound_bindings:
      - { plugin: web, instance: web }
      - { plugin: webhook, instance: demo }
    schedules:
      - { id: standup, cron: "0 9 1 1 *", prompt: Post the standup. }
  - id: gone
    connector: { type: http, url: "http://127.0.0.1:1/agent" }
    inbound_bindings: [{ plugin: webhook, instance: ci }]
users:
  - { id: owner, roles: [owner], identities: ["demo:dev"] }
`

export interface Golden {
  readonly daemon: Daemon
  readonly data: string
  readonly file: string
}

interface Row {
  readonly id: string
  readonly state: string
  readonly text: string
}

export async function playScenario(scene: Scene): Promise<Golden> {
  const data = join(scene.folder(), 'golden')
  mkdirSync(data, { mode: 0o700 })
  const file = join(data, 'switchboard.yaml')
  writeFileSync(file, CONFIG)
  writeFileSync(join(data, 'ci.secret'), 'the-secret-of-ci', { mode: 0o600 })
  const daemon = await scene.start({ data, config: file })
  const { url } = daemon

  await said(daemon, data, 'hello', 'You said: hello')
  await said(daemon, data, 'deploy api', 'wants to run Deploy')
  await postDemo(url, 'remind me in 3d to stretch', 'key-1')
  await postDemo(url, 'remind me in 3d to stretch', 'key-1')
  await post(`${url}/hooks/demo`, 'let me in', { 'x-sender': 'stranger' })
  await post(`${url}/hooks/ci`, 'build 7 failed', { 'x-webhook-secret': 'the-secret-of-ci' })
  await until('the demo agent answered', async () =>
    (await rows(data, 'turns', '--integration', 'demo')).every((turn) => turn.state !== 'queued'),
  )
  await pause(1)
  return { daemon, data, file }
}

const rows = (data: string, ...words: readonly string[]) => askLines<Row>(data, ...words)

async function said(daemon: Daemon, data: string, text: string, answer: string): Promise<void> {
  await postDemo(daemon.url, text)
  await until(answer, async () =>
    (await rows(data, 'outbox')).find((row) => row.text.includes(answer) && row.state === 'sent'),
  )
}
