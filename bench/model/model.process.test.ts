// The model: its results, and that the page shows them.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { BenchReport } from '../report.ts'
import { costsOf, keptCosts } from './costs.ts'
import { type Costs, HABITS, plan } from './model.ts'
import { bytes, many } from './render.ts'
import { pageTables, withTables } from './scale-page.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const SCRIPT = ['--import', 'tsx', 'bench/model/run.ts']
const run = (...flags: string[]) =>
  promisify(execFile)(process.execPath, [...SCRIPT, ...flags], { cwd: root })

const SIMPLE: Costs = {
  nodeCpuUs: 5_900,
  databaseCpuUs: 11_900,
  walBytes: 10_000,
  rowBytes: { turns: 1_000, outbox: 1_000, ledger: 100, lanes: 50, sessions: 100 },
  rowsAMessage: { turns: 1, outbox: 1, ledger: 6 },
  nodeMb: 100,
  notifyingCommitsPerSecond: 50,
}

describe('[I6.model] the model', () => {
  it('goes from conversations to cores, log and disk', () => {
    const habits = { ...HABITS, peakFactor: 8.64, bodyBytes: 500 }
    const one = plan(1_000_000, SIMPLE, habits)
    expect(one.messagesADay).toBe(1_000_000)
    expect(one.peakPerSecond).toBeCloseTo(100)
    // 100/s × 5.9 ms is 0.59 of a core, planned at 60 %. That is one node, and one more that may die.
    expect(one.nodes).toBe(2)
    expect(one.databaseCores).toBe(2)
    expect(one.walMbPerSecond).toBeCloseTo(1)
    expect(one.walGbADay).toBeCloseTo(10)
    expect(one.rows).toMatchObject({ turns: 365e6, ledger: 2_190e6, lanes: 2e6, sessions: 1e6 })
    // 2.6 kB per message for a year and 200 B per conversation, minus 500 B for the 335 days without a body.
    expect(one.diskGb).toBeCloseTo(365 * 2.6 + 0.2 - 335 * 0.5)
    expect(one.notifyingCommits).toBeCloseTo(62.5)
    expect(one.limits).toEqual(['rows', 'notify'])
  })

  it('names no limit where there is none, and every one where all are passed', () => {
    expect(plan(1_000, SIMPLE).limits).toEqual(['none'])
    const all = ['rows', 'disk', 'notify', 'connections', 'database-cores', 'wal']
    expect(plan(1e10, SIMPLE).limits).toEqual(all)
  })

  it('takes the costs of a report, and says what is missing in one', () => {
    expect(() => costsOf({ cluster: null })).toThrow('no part `cluster`')
    const report = {
      cluster: {
        nodes: {
          cases: { postgres_1: { cpu_us: 900, database_cpu_us: 300, wal_bytes: 5_000 } },
          row_bytes: SIMPLE.rowBytes,
          rows_a_message: SIMPLE.rowsAMessage,
        },
        notify: { notifying_commits_per_second: 77 },
      },
    } as unknown as BenchReport
    expect(costsOf(report)).toEqual({
      ...SIMPLE,
      nodeCpuUs: 600,
      databaseCpuUs: 300,
      walBytes: 5_000,
      nodeMb: keptCosts().nodeMb,
      notifyingCommitsPerSecond: 77,
    })
  })

  it('writes two figures that matter', () => {
    expect([0.4629, 463, 9_999, 36_500_000, 2.19e9].map(many)).toEqual([
      '0.46',
      '463',
      '9999',
      '37 m',
      '2.2 bn',
    ])
    expect([195, 10_255, 1.6e12].map(bytes)).toEqual(['195 B', '10 kB', '1.6 TB'])
  })
})

describe('[I6.scale-page] docs/guide/scale.md', () => {
  it('[I23.bench-growth] shows what was measured last and what the model makes of it: renew it with npm run model -- --write', () => {
    const page = readFileSync(`${root}/docs/guide/scale.md`, 'utf8')
    expect(page).toBe(withTables(page, pageTables()))
    for (const name of Object.keys(pageTables())) expect(page).toContain(`<!-- model:${name} -->`)
    for (const order of ['10^4', '10^5', '10^6', '10^7', '10^8']) expect(page).toContain(`| ${order} |`)
  })

  it('the program answers for other figures, and refuses what is no number', async () => {
    const { stdout } = await run('--json', '--conversations', '5e6', '--activeShare', '0.2')
    expect(JSON.parse(stdout)).toMatchObject([{ conversations: 5e6, messagesADay: 1e7 }])
    await expect(run('--peakFactor', 'high')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--peakFactor: "high" is not a number above 0'),
    })
  }, 60_000)
})
