// Switchboard hosting Switchboard: one daemon starts `switchboard channel` of another as a channel server. A message goes
// around, an approval comes back, and neither a killed server nor a killed daemon loses anything.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, it } from 'vitest'
import { dealtPlans } from '../scenarios/deal.ts'
import { HOOK } from './channel-scene.ts'
import { BINARY, type Daemon } from './daemon.ts'
import { post } from './hook-client.ts'
import { expectLedgerHolds, sendsOf, settled, turnsOf } from './river-checks.ts'
import { askJson, askLines, createScene, switchboard } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()
const FAR = 'channel:far@kate'

interface Place {
  readonly data: string
  readonly config: string
  start(env?: Record<string, string>): Promise<Daemon>
}

interface Approval {
  readonly id: string
  readonly state: string
  readonly decided_by: string | null
}

function place(yaml: () => string): Place {
  const data = scene.folder()
  const config = join(data, 'switchboard.yaml')
  writeFileSync(config, yaml())
  return { data, config, start: (env) => scene.start({ data, config, ...(env ? { env } : {}) }) }
}

/** People write to `serving`; its agent is a host, and that host is `hosting`, where the demo agent answers. */
function openPair() {
  const serving = place(
    () => `server: { port: 0 }
integrations:
${HOOK}agents:
  - id: bob
    connector: { type: channel, dialect: nexo }
    inbound_bindings: [{ plugin: webhook, instance: hook }]
`,
  )
  // A shim that finds no daemon starts one, which is nobody's child: it is ended by the pid that it wrote down itself.
  scene.onEnd(() => {
    try {
      process.kill(note(serving.data).pid, 'SIGKILL')
    } catch {
      // it has ended already
    }
  })
  const args = [BINARY, 'channel', '--agent', 'bob', '--dialect', 'nexo', '--data', serving.data]
  const hostingYaml = (on: boolean) => `server: { port: 0 }
integrations:
  - { id: hook, platform: webhook, sender_header: X-Sender, two_way: true, access: { allow_from: [dev] } }
mcp_servers:
  far: { command: ${JSON.stringify(process.execPath)}, args: ${JSON.stringify([...args, '--config', serving.config])} }
agents:
  - id: kate
    connector: { type: demo }
    channels: { enabled: ${on}, approved: [{ server: far, outbound_tool_name: reply }] }
    inbound_bindings: [{ plugin: webhook, instance: hook, allowed_channel_servers: [far] }]
`
  const hosting = place(() => hostingYaml(true))
  return { serving, hosting, hostingYaml }
}

const note = (data: string) =>
  JSON.parse(readFileSync(join(data, 'daemon.json'), 'utf8')) as {
    readonly pid: number
    readonly url: string
  }

let said = 0
const say = async (daemon: Pick<Daemon, 'url'>, text: string) => {
  const posted = await post(`${daemon.url}/hooks/hook`, text, {
    'x-sender': 'dev',
    'idempotency-key': `k${++said}`,
  })
  expect(posted.status).toBe(200)
}

const heard = (data: string, text: string) =>
  until(`"${text}" is said`, async () => (await sendsOf(data)).find((send) => send.text.includes(text)))

const connected = (data: string) =>
  until('the server is connected', async () => {
    const { servers = [] } = await askJson<{ servers?: { state: string }[] }>(data, 'status')
    return servers[0]?.state === 'up'
  })

/** The program that the hosting daemon started, by what the kernel says of its children. */
function serverChild(daemon: Daemon): number {
  const list = readFileSync(`/proc/${daemon.pid}/task/${daemon.pid}/children`, 'utf8').trim().split(/\s+/)
  const found = list.find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('channel'))
  if (found === undefined) throw new Error('the daemon has no such child')
  return Number(found)
}

function isAlive(pid: number): boolean {
  try {
    // One that ended and was not waited for yet is still listed.
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

describe('Switchboard serving, hosted by Switchboard hosting', () => {
  it('[I8.around] [S9.source-logged] [S9.turns-filter] [F7.audit-source] [S10.asked-by-mcp-host] [S10.server-verdict] [S10.surface-servers] one message goes around, an approval comes back', async () => {
    const { serving, hosting } = openPair()
    const far = await serving.start()
    await hosting.start()
    await connected(hosting.data)
    await say(far, 'hello over there')
    await heard(serving.data, 'You said: hello over there')
    expect(await turnsOf(serving.data)).toMatchObject([{ state: 'answered' }])

    await say(far, 'deploy main')
    const asked = await until('it is asked', async () => {
      const [row] = await askLines<Approval>(serving.data, 'approvals', 'list')
      return row?.state === 'pending' && row
    })
    const [theirs] = await askLines<Approval>(hosting.data, 'approvals', 'list')
    expect(theirs).toMatchObject({ id: asked.id, state: 'pending' })
    await say(far, `yes ${asked.id}`)
    await heard(serving.data, '🚀 Deployed: `deploy --target main --to production` (allowed by server:far)')
    await settled(serving.data)
    await settled(hosting.data)
    const [decided] = await askLines<Approval>(hosting.data, 'approvals', 'list', '--all')
    expect(decided).toMatchObject({ id: asked.id, state: 'relayed', decided_by: 'server:far' })

    const logged = await askLines<{ source: string; text: string }>(
      hosting.data,
      ...['turns', '--source', 'channel:far', '--since', '1d'],
    )
    expect(logged.map(({ text }) => text).toSorted()).toEqual(['', 'deploy main', 'hello over there'])
    const database = new DatabaseSync(join(hosting.data, 'switchboard.db'), { readOnly: true })
    const rows = database.prepare("SELECT source FROM goal_turns WHERE source = 'channel:far'").all()
    database.close()
    expect(rows).toHaveLength(3)
    await expectLedgerHolds(serving.data)
    await expectLedgerHolds(hosting.data)
  })

  it('[S9.reload-stops] [S9.reload-starts] the killswitch in the file stops and starts it, and doctor shows the gate', async () => {
    const { serving, hosting, hostingYaml } = openPair()
    const far = await serving.start()
    await hosting.start()
    await connected(hosting.data)
    await say(far, 'at first')
    await heard(serving.data, 'You said: at first')
    writeFileSync(hosting.config, hostingYaml(false))
    expect((await switchboard(hosting.data, 'reload')).code).toBe(0)
    await say(far, 'not now')
    await until('it was barred', async () =>
      (await askLines<{ reason: string }>(hosting.data, 'turns', '--source', 'channel:far')).some(
        ({ reason }) => reason === 'gate_disabled',
      ),
    )
    const shown = await switchboard(hosting.data, 'doctor', '--verbose')
    expect(shown.code).toBe(1)
    expect(shown.stdout).toContain('channels.enabled is false (operator killswitch)')
    expect(shown.stdout).toContain('[agents[0].channels.enabled]')
    expect(shown.stdout).toContain('server far')
    writeFileSync(hosting.config, hostingYaml(true))
    expect((await switchboard(hosting.data, 'reload')).code).toBe(0)
    await say(far, 'now then')
    await heard(serving.data, 'You said: now then')
    const status = await switchboard(hosting.data, 'status')
    expect(status.stdout).toMatch(/SERVER +TRANSPORT +LINK +SPEAKS/)
    expect(status.stdout).toMatch(/far +stdio +up +nexo\/channel/)
    const metrics = await (await fetch(`${note(hosting.data).url}/metrics`)).text()
    expect(metrics).toContain('switchboard_channel_server_up{server="far"} 1')
    expect(metrics).toContain('switchboard_channel_server_restarts_total{server="far"} 0')
    const report = await askJson<{
      integrations: { id: string; gates: { gate: string; pass: boolean }[] }[]
    }>(hosting.data, 'doctor')
    const gates = report.integrations.find(({ id }) => id === FAR)?.gates ?? []
    expect(gates.filter(({ pass }) => !pass)).toEqual([])
    expect(gates.map(({ gate }) => gate)).toEqual(
      expect.arrayContaining(['capability', 'disabled', 'session', 'marketplace', 'allowlist']),
    )
  })

  it('[I8.kill-server] [S9.restart-backoff] kill -9 of the server: it is started again, and what was on its way arrives once', async (context) => {
    if (process.platform !== 'linux') context.skip('needs /proc to find the child')
    const { serving, hosting } = openPair()
    const far = await serving.start()
    const near = await hosting.start()
    await connected(hosting.data)
    await say(far, 'one')
    await heard(serving.data, 'You said: one')
    process.kill(serverChild(near), 'SIGKILL')
    await say(far, 'two')
    await heard(serving.data, 'You said: two')
    await settled(serving.data)
    await settled(hosting.data)
    const { servers } = await askJson<{ servers: { restarts: number; state: string }[] }>(
      hosting.data,
      'status',
    )
    expect(servers).toMatchObject([{ state: 'up', restarts: 1 }])
    const turns = await askLines<{ text: string }>(hosting.data, 'turns', '--source', 'channel:far')
    expect(turns.map(({ text }) => text).toSorted()).toEqual(['one', 'two'])
    await expectLedgerHolds(hosting.data)
  })

  const POINTS = [
    'dispatch.before-hand-over',
    'dispatch.after-settle',
    'outbox.before-send',
    'outbox.after-send',
  ]
  it.each(dealtPlans(POINTS, (point) => point.split('.')[0] ?? ''))(
    '[I8.kill-host] kill -9 of the hosting daemon at %s: its children end, and the message is answered after a new start',
    async (point) => {
      const { serving, hosting } = openPair()
      const far = await serving.start()
      const doomed = await hosting.start({ SWITCHBOARD_CRASH_AT: point })
      await connected(hosting.data)
      const child = process.platform === 'linux' ? serverChild(doomed) : null
      await say(far, 'carry me')
      await doomed.exited
      if (child !== null) await until('its child has ended', () => !isAlive(child))
      await hosting.start()
      await heard(serving.data, 'You said: carry me')
      await settled(hosting.data)
      await settled(serving.data)
      expect(await turnsOf(serving.data)).toMatchObject([{ state: 'answered' }])
      const theirs = await askLines<{ text: string }>(hosting.data, 'turns', '--source', 'channel:far')
      expect(theirs.map(({ text }) => text)).toEqual(['carry me'])
      await expectLedgerHolds(hosting.data)
      await expectLedgerHolds(serving.data)
    },
  )

  it('[I8.kill-serving] kill -9 of the serving daemon: the server outlives it and starts it again, and the next message is answered', async () => {
    const { serving, hosting } = openPair()
    const far = await serving.start()
    await hosting.start()
    await connected(hosting.data)
    await say(far, 'before')
    await heard(serving.data, 'You said: before')
    await far.kill9()
    const back = await until('the shim started another one', () => {
      const now = note(serving.data)
      return now.pid !== far.pid && now
    })
    await say(back, 'after')
    await heard(serving.data, 'You said: after')
    await settled(serving.data)
    await settled(hosting.data)
    expect((await turnsOf(serving.data)).map((turn) => turn.state)).toEqual(['answered', 'answered'])
    await expectLedgerHolds(serving.data)
    await expectLedgerHolds(hosting.data)
  })
})
