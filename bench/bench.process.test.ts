// The benchmark itself: a short run gives every named figure, loses nothing and leaves nothing behind.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { LEFT_TO_TEST_ALL } from '../scripts/vitest-reporter.mjs'
import { until } from '../test/faults/until.ts'
import { SCOPE } from '../test/scenarios/deal.ts'
import { completeStatus } from './load/connection.ts'
import { buildRequests } from './load/requests.ts'
import { CASES } from './measure/cluster.ts'
import { run } from './measure/through-agent.ts'
import { readOptions } from './options.ts'
import { treeMicros } from './probe.ts'
import { asTables, type BenchReport, NO_INTAKE, NO_SECTIONS } from './report.ts'
import { weatherLines } from './report-cluster.ts'
import { median, quantile } from './statistics.ts'
import { judge } from './targets.ts'
import { createWeather } from './weather.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const dir = mkdtempSync(join(tmpdir(), 'bench-test-'))
// PostgreSQL runs as an unprivileged user, who must be able to enter.
chmodSync(dir, 0o755)
afterAll(() => rmSync(dir, { recursive: true, force: true }))

async function bench(...flags: string[]): Promise<string> {
  const args = ['--import', 'tsx', 'bench/run.ts', '--dir', dir, ...flags]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, maxBuffer: 1 << 24 })
  return stdout
}

describe('a short run', () => {
  it('[S17.bench] [I2.bench-json] [S17.intake] [S17.ready] [S17.memory] [S17.ledger-growth] [I21.con-bench] measures Switchboard beside its peers and prints one object', async () => {
    const flags = ['--quick', '--no-peers', '--rounds', '1', '--messages', '300', '--growth', '1000']
    const stdout = await bench('--json', '--only', 'intake,growth,micro,ready,rss', ...flags)
    expect(stdout.trim().split('\n')).toHaveLength(1)
    const report = JSON.parse(stdout) as BenchReport
    for (const key of ['vs_bare', 'draining_vs_bare', 'vs_insert', 'p99_ms'] as const) {
      expect(report.intake[key]).toBeGreaterThan(0)
    }
    expect(report.intake.rounds).toHaveLength(1)
    expect(report.intake.vs_chat_sdk).toBeNull()
    expect(report.ledger_growth).toBeGreaterThan(0)
    expect(report.growth?.console_now).toBeGreaterThan(0)
    expect(report.growth?.console_conversations).toBeGreaterThan(0)
    expect(report.growth?.reads.turns.failed.ms).toBeGreaterThan(0)
    expect(report.growth?.prune.rows).toBeGreaterThan(0)
    expect(report.ready_ms).toBeGreaterThan(0)
    expect(report.rss_mb).toBeGreaterThan(0)
    expect(report.fdatasync_p50_ms).toBeGreaterThan(0)
    expect(readdirSync(dir)).toEqual([])
  }, 600_000)
})

const ENDED: readonly (readonly [string, readonly string[], string])[] = [
  ['growth', ['--growth', '5000000'], 'filling a ledger'],
  ['sizes', [], '100 sessions that wait'],
  ['scale', [], 'start with'],
]
// Every run has one of them. `npm run test:all` has all.
it.each(ENDED.slice(0, SCOPE === 'all' ? ENDED.length : 1))(
  '[I23.bench-ends] a run of %s that is told to stop ends, and nothing that it started is left',
  async (part, more, sign) => {
    const own = mkdtempSync(join(tmpdir(), 'bench-stop-'))
    const args = ['--import', 'tsx', 'bench/run.ts', '--dir', own, '--quick', '--no-peers', '--only', part]
    const child = spawn(process.execPath, [...args, ...more], { cwd: root })
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
    await until('a child that works', () => said.includes(sign) && running(own).length > 1)
    child.kill('SIGTERM')
    const [code] = await once(child, 'exit')
    expect(code).toBe(130)
    await until('that all have ended', () => running(own).length === 0)
    expect(readdirSync(own)).toEqual([])
    rmSync(own, { recursive: true, force: true })
  },
  600_000,
)

/** Processes whose command line names this folder. */
function running(folder: string): readonly string[] {
  return readdirSync('/proc').filter((id) => {
    if (!/^\d+$/.test(id)) return false
    try {
      return readFileSync(`/proc/${id}/cmdline`, 'utf8').includes(folder)
    } catch {
      return false
    }
  })
}

// These tests show that a benchmark script works. They run before an issue is resolved, not for every change.
describe('a short run of every other part', () => {
  beforeEach((context) => {
    if (SCOPE !== 'all') context.skip(LEFT_TO_TEST_ALL)
  })

  it('[I23.bench-growth] the verbs are timed at several sizes, and what a waiting session takes', async () => {
    const flags = ['--quick', '--no-peers', '--rounds', '1', '--only', 'sizes']
    const { sizes } = JSON.parse(await bench('--json', ...flags)) as BenchReport
    expect(sizes?.map(({ sessions, turns }) => [sessions, turns])).toEqual([
      [1, 0],
      [100, 0],
      [1_000, 0],
      [100, 20_000],
    ])
    const figures = ['take_us', 'settle_us', 'status_ms', 'turns_ms', 'failed_ms', 'stream_ms'] as const
    for (const one of sizes ?? []) for (const key of figures) expect(one[key], key).toBeGreaterThan(0)
    expect(sizes?.at(2)?.bytes_a_waiting_session).toBeGreaterThan(0)
    for (const one of sizes ?? []) expect(one.bytes_a_waiting_turn).toBeGreaterThanOrEqual(0)
  }, 600_000)

  it('[I23.bench-page] measures the table of growth: many integrations, agents, readers, sends, turns and lines', async () => {
    const { scale } = JSON.parse(await bench('--json', '--only', 'scale', '--quick')) as BenchReport
    expect(Object.keys(scale?.start_ms ?? {})).toEqual(['20', '40', '100'])
    expect(scale?.share).toEqual({ held: 20, other_status: 200 })
    const { readers, doctor, reload, binding, dead, tables } = scale ?? {}
    const gaps = [readers?.gap_ms[10], doctor?.gap_ms, reload?.gap_ms]
    const ratios = [binding?.ratio, dead?.ratio, tables?.many_ms, scale?.long_queue_per_second]
    for (const figure of [...gaps, ...ratios]) expect(figure).toBeGreaterThan(0)
    expect(readdirSync(dir)).toEqual([])
  }, 600_000)

  it('[S17.chorus] [I16.http-bench] [I16.llm-bench] [I22.cc-bench] measures a message to a Chorus agent, to an http agent, to a model and to Claude Code and back, beside each alone', async () => {
    const stdout = await bench('--json', '--only', 'chorus,http,llm,claude-code', '--quick', '--no-peers')
    const { chorus, http, llm, claudeCode } = JSON.parse(stdout) as BenchReport
    expect(claudeCode?.map((one) => one.conversations)).toEqual([1, 4])
    expect(http?.map((one) => one.conversations)).toEqual([1, 32])
    expect(llm?.map((one) => one.conversations)).toEqual([1, 32])
    for (const one of [...(http ?? []), ...(llm ?? []), ...(claudeCode ?? [])]) {
      expect(one.ratio).toBeGreaterThan(0)
      expect(one.bare_p50_ms).toBeGreaterThan(0)
    }
    expect(chorus?.map((one) => one.conversations)).toEqual([1, 32, 256])
    for (const one of chorus ?? []) {
      expect(one.p50_ms).toBeGreaterThan(0)
      expect(one.p99_ms).toBeGreaterThanOrEqual(one.p50_ms)
      expect(one.bare_p50_ms).toBeGreaterThan(0)
      expect(one.bare_relay_p50_ms).toBeGreaterThan(0)
      expect(one.times_relay).toBeGreaterThan(0)
      expect(one.durable_relay_p50_ms).toBeGreaterThan(0)
      expect(one.times_durable_relay).toBeGreaterThan(0)
      expect(one.durable_relay_times_bare).toBeGreaterThan(0)
    }
    expect(readdirSync(dir)).toEqual([])
  }, 600_000)

  it('[S17.stdio] [I15.bench] measures channel notifications over stdio beside a bare server, the start and the memory of a shim; and Slack’s intake beside the webhook’s', async () => {
    const stdout = await bench('--json', '--only', 'channel,slack', '--rounds', '1', '--messages', '200')
    const { channel, slack, weather } = JSON.parse(stdout) as BenchReport
    expect(slack).toMatchObject({ messages: 200, rounds: 1 })
    for (const ratio of [slack?.vs_webhook, slack?.cpu_vs_webhook]) {
      expect(ratio?.socket).toBeGreaterThan(0)
      expect(ratio?.events).toBeGreaterThan(0)
    }
    expect(channel).toMatchObject({ messages: 200, rounds: 1 })
    for (const figures of [channel?.notifications_per_second, channel?.start_ms, channel?.rss_mb]) {
      expect(figures?.bare).toBeGreaterThan(0)
      expect(figures?.shim).toBeGreaterThan(0)
      expect(figures?.daemon).toBeGreaterThan(0)
    }
    expect(channel?.vs_bare.shim_notifications).toBeGreaterThan(0)
    expect(channel?.vs_bare.daemon_notifications).toBeGreaterThan(0)
    expect(weather).toMatchObject([
      { part: 'slack', round: 1 },
      { part: 'channel', round: 1 },
    ])
    expect(readdirSync(dir)).toEqual([])
  }, 600_000)

  it('[S17.gate-wrap] measures hosted channel servers: into the inbox beside a bare client, the cost of a message, idle ones', async () => {
    const stdout = await bench('--json', '--only', 'mcp', '--quick', '--rounds', '1', '--messages', '500')
    const { mcp } = JSON.parse(stdout) as BenchReport
    expect(mcp?.hosting.map(({ servers, messages }) => [servers, messages])).toEqual([
      [1, 500],
      [50, 500],
    ])
    for (const one of mcp?.hosting ?? []) {
      expect(one.per_second).toBeGreaterThan(0)
      expect(one.bare_per_second).toBeGreaterThan(0)
      expect(one.vs_bare).toBeGreaterThan(0)
    }
    expect(mcp?.gate_wrap_session_us).toBeGreaterThan(0)
    expect(mcp?.idle.servers).toBe(20)
    expect(mcp?.idle.all_up_ms).toBeGreaterThan(0)
    expect(mcp?.idle.rss_mb).toBeGreaterThan(0)
    expect(readdirSync(dir)).toEqual([])
  }, 600_000)

  it('[I6.bench-nodes] [I6.bench-claims] [I6.bench-wake] [I6.bench-cost] measures 1, 2 and 3 nodes on one PostgreSQL beside SQLite', async () => {
    const flags = ['--quick', '--rounds', '1', '--messages', '150']
    const stdout = await bench('--json', '--only', 'claims,cluster', ...flags)
    const { claims, cluster } = JSON.parse(stdout) as BenchReport
    for (const one of CASES) {
      expect(cluster?.nodes.cases[one].intake_per_second).toBeGreaterThan(0)
      expect(cluster?.nodes.cases[one].end_to_end_per_second).toBeGreaterThan(0)
      expect(cluster?.nodes.cases[one].cpu_us).toBeGreaterThan(0)
      expect(claims?.per_second[one]).toBeGreaterThan(0)
    }
    expect(cluster?.nodes.ratios.cpu_postgres_vs_sqlite).toBeGreaterThan(0)
    expect(cluster?.nodes.rows_a_message.ledger).toBeGreaterThan(1)
    expect(claims?.bare_queue_per_second).toBeGreaterThan(0)
    expect(claims?.wake.heard).toBeGreaterThan(0)
    expect(cluster?.across.other_node_p50_ms).toBeGreaterThan(0)
    expect(readdirSync(dir)).toEqual([])
  }, 400_000)
})

describe('weather', () => {
  it('marks a round in which others were busy, and no other', async () => {
    const marks = [
      { atMs: 0, allMicros: 0, ownMicros: 0 },
      { atMs: 1_000, allMicros: 1_100_000, ownMicros: 1_000_000 },
      { atMs: 1_000, allMicros: 1_100_000, ownMicros: 1_000_000 },
      { atMs: 2_000, allMicros: 2_900_000, ownMicros: 2_000_000 },
    ]
    const said: string[] = []
    const weather = createWeather(
      (text) => said.push(text),
      () => marks.shift() ?? null,
    )
    expect(await weather.during('intake', 1, async () => 'one')).toBe('one')
    await weather.during('intake', 2, async () => undefined)
    expect(weather.rounds.map((one) => [one.foreign_cores, one.disturbed])).toEqual([
      [0.1, false],
      [0.8, true],
    ])
    expect(said).toEqual(['intake round 2: others kept 0.8 cores busy; it is marked'])
    expect(weatherLines(weather.rounds)).toEqual([
      '1 of 2 rounds were disturbed by others (up to 0.8 cores): intake 2',
    ])
    expect(weatherLines(weather.rounds.slice(0, 1))).toEqual(['1 rounds, none disturbed by others'])
  })

  it('counts this process and its children as its own', () => {
    const before = treeMicros(process.pid) ?? 0
    // Its own processor time, because the process may have to wait for a core. The kernel counts in ticks of 10 ms.
    const start = process.cpuUsage()
    while (process.cpuUsage(start).user < 100_000) Math.sqrt(before)
    expect(treeMicros(process.pid)).toBeGreaterThan(before)
    expect(treeMicros(2 ** 30)).toBeNull()
  })
})

describe('targets', () => {
  const report: BenchReport = {
    ...NO_SECTIONS,
    intake: { ...NO_INTAKE, vs_bare: 0.45, vs_chat_sdk: 7 },
    ready: { first_ms: 600, again_ms: 500, all_ms: [600], status_ms: 140 },
    ready_ms: 600,
    ledger_growth: null,
    cpu_us: { bare: null, insert: null, chat_sdk: null, bolt: null, switchboard: null, draining: null },
    fdatasync_p50_ms: 0.3,
    at: '2026-01-02T03:04:05.000Z',
    parts: [
      { part: 'intake', seconds: 200, rounds: 7, wanted: 9 },
      { part: 'ready', seconds: 20, rounds: null, wanted: null },
    ],
    weather: [],
    machine: { cores: 2, cpu: 'x', node: 'v20', load_1m: 0, pinned: true, filesystem: 'ext4' },
    quick: false,
    warnings: [],
  }

  it('say by how much one is missed, and nothing of what was not measured', () => {
    const missed = judge(report).filter((one) => one.missing !== null)
    expect(missed.map(({ key, missing }) => [key, missing])).toEqual([
      ['intake.vs_bare', '0.2× short (31 %)'],
      ['ready_ms', '250 ms over (71 %)'],
    ])
    expect(judge(report).find((one) => one.key === 'rss_mb')?.met).toBeNull()
    expect(asTables(report)).toContain('missed intake.vs_bare: 0.2× short (31 %)')
  })
})

describe('parts', () => {
  it('the median of an even number of values is between the middle two; a quantile is one of the values', () => {
    expect(median([4, 1, 3, 2])).toBe(2.5)
    expect(quantile([5, 1, 9], 0.5)).toBe(5)
    expect(quantile([1, 2, 3, 4], 0.99)).toBe(4)
    expect(median([])).toBeNaN()
  })

  it('a message that is never answered ends the run, which says how many', async () => {
    const send = (conversation: string) =>
      conversation === 'c1' ? new Promise<void>(() => undefined) : Promise.resolve()
    await expect(run(send, 3, 2, 20)).rejects.toThrow('2 of 6 messages had no answer after 20 ms')
  })

  it('an answer is whole once its body is', () => {
    const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello'
    expect(completeStatus(Buffer.from(answer))).toBe(200)
    expect(completeStatus(Buffer.from(answer.slice(0, -1)))).toBeNull()
    expect(completeStatus(Buffer.from('HTTP/1.1 200 OK\r\n'))).toBeNull()
    expect(() => completeStatus(Buffer.from('HTTP/1.1 200 OK\r\n\r\n'))).toThrow('Content-Length')
  })

  it('every server gets the same body, and no message comes twice', () => {
    const plan = { path: '/x', secret: 's', count: 3, from: 10, people: 2 }
    const bodies = (scheme: 'github' | 'slack') =>
      buildRequests({ ...plan, scheme }).map((one) =>
        one
          .toString()
          .split('\r\n\r\n')[1]
          ?.replace(/\d{10}/g, 'T'),
      )
    expect(bodies('github')).toEqual(bodies('slack'))
    expect(new Set(bodies('github')).size).toBe(3)
  })

  it('wrong flags are told', () => {
    expect(() => readOptions(['--only', 'intake,nothing'], root)).toThrow('--only: "nothing"')
    expect(() => readOptions(['--rounds', 'x'], root)).toThrow('--rounds: "x"')
    expect(readOptions(['--help'], root)).toBeNull()
    expect(readOptions([], root)?.rounds).toBe(9)
  })
})
