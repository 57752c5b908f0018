// The benchmark itself: a short run gives every named figure, loses nothing and leaves nothing behind.
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { completeStatus } from './load/connection.ts'
import { buildRequests } from './load/requests.ts'
import { readOptions } from './options.ts'
import { asTables, type BenchReport, NO_INTAKE } from './report.ts'
import { median, quantile } from './statistics.ts'
import { judge } from './targets.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const dir = mkdtempSync(join(tmpdir(), 'bench-test-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

async function bench(...flags: string[]): Promise<string> {
  const args = ['--import', 'tsx', 'bench/run.ts', '--dir', dir, ...flags]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, maxBuffer: 1 << 24 })
  return stdout
}

describe('a short run', () => {
  it('[S17.bench] [I2.bench-json] [S17.intake] [S17.ready] [S17.memory] [S17.ledger-growth] measures Switchboard beside its peers and prints one object', async () => {
    const flags = ['--quick', '--no-peers', '--rounds', '2', '--messages', '300', '--growth', '2000']
    const stdout = await bench('--json', '--only', 'intake,growth,micro,ready,rss', ...flags)
    expect(stdout.trim().split('\n')).toHaveLength(1)
    const report = JSON.parse(stdout) as BenchReport
    for (const key of ['vs_bare', 'draining_vs_bare', 'vs_insert', 'p99_ms'] as const) {
      expect(report.intake[key]).toBeGreaterThan(0)
    }
    expect(report.intake.rounds).toHaveLength(2)
    expect(report.intake.vs_chat_sdk).toBeNull()
    expect(report.ledger_growth).toBeGreaterThan(0)
    expect(report.ready_ms).toBeGreaterThan(0)
    expect(report.rss_mb).toBeGreaterThan(0)
    expect(report.fdatasync_p50_ms).toBeGreaterThan(0)
    expect(readdirSync(dir)).toEqual([])
  }, 170_000)

  it('[S17.chorus] measures a message to a Chorus agent and back, beside the agent alone', async () => {
    const stdout = await bench('--json', '--only', 'chorus', '--quick', '--no-peers')
    const { chorus } = JSON.parse(stdout) as BenchReport
    expect(chorus?.map((one) => one.conversations)).toEqual([1, 32, 256])
    for (const one of chorus ?? []) {
      expect(one.p50_ms).toBeGreaterThan(0)
      expect(one.p99_ms).toBeGreaterThanOrEqual(one.p50_ms)
      expect(one.bare_p50_ms).toBeGreaterThan(0)
    }
    expect(readdirSync(dir)).toEqual([])
  }, 170_000)
})

describe('targets', () => {
  const report: BenchReport = {
    intake: { ...NO_INTAKE, vs_bare: 0.45, vs_chat_sdk: 7 },
    ready_ms: 600,
    rss_mb: null,
    ledger_growth: 1.1,
    cpu_us: { bare: null, insert: null, chat_sdk: null, switchboard: null, draining: null },
    fdatasync_p50_ms: 0.3,
    ready: null,
    growth: null,
    micro: null,
    chorus: null,
    machine: { cores: 2, cpu: 'x', node: 'v20', load_1m: 0, pinned: true, filesystem: 'ext4' },
    quick: false,
    warnings: [],
  }

  it('say by how much one is missed, and nothing of what was not measured', () => {
    const missed = judge(report).filter((one) => one.missing !== null)
    expect(missed.map(({ key, missing }) => [key, missing])).toEqual([
      ['intake.vs_bare', '0.15× short (25 %)'],
      ['ready_ms', '100 ms over (20 %)'],
    ])
    expect(judge(report).find((one) => one.key === 'rss_mb')?.met).toBeNull()
    expect(asTables(report)).toContain('missed intake.vs_bare: 0.15× short (25 %)')
  })
})

describe('parts', () => {
  it('the median of an even number of values is between the middle two; a quantile is one of the values', () => {
    expect(median([4, 1, 3, 2])).toBe(2.5)
    expect(quantile([5, 1, 9], 0.5)).toBe(5)
    expect(quantile([1, 2, 3, 4], 0.99)).toBe(4)
    expect(median([])).toBeNaN()
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
