// The page of speed: it shows the kept results. Also what happens to a report before it is kept.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type BenchReport, NO_INTAKE, NO_SECTIONS } from '../report.ts'
import { createRounds, PART_LIMIT_MS } from '../rounds.ts'
import { IMAGES, PAGE, picturesOf, sectionsOfPage, withSections } from './page.ts'
import { drawPlot } from './plots.ts'
import { keepResults, RESULTS, readResults } from './results.ts'

const dir = mkdtempSync(join(tmpdir(), 'bench-page-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const REPORT: BenchReport = {
  ...NO_SECTIONS,
  ready: { first_ms: 600, again_ms: 500, all_ms: [600], status_ms: 140 },
  ready_ms: 600,
  ledger_growth: null,
  cpu_us: { bare: null, insert: null, chat_sdk: null, bolt: null, switchboard: null, draining: null },
  fdatasync_p50_ms: 0.3,
  at: '2026-01-02T03:04:05.000Z',
  parts: [{ part: 'ready', seconds: 20, rounds: null, wanted: null }],
  weather: [],
  machine: { cores: 2, cpu: 'x', node: 'v20', load_1m: 0.1, pinned: true, filesystem: 'ext4' },
  quick: false,
  warnings: [],
}

describe('[I23.bench-page] docs/guide/speed.md', () => {
  it('shows what is kept in bench/results: write it again with npm run bench -- --page', () => {
    const results = readResults(RESULTS)
    const page = readFileSync(PAGE, 'utf8')
    expect(page).toBe(withSections(page, sectionsOfPage(results)))
    const pictures = Object.entries(picturesOf(results))
    expect(pictures.length).toBeGreaterThan(3)
    for (const [name, svg] of pictures) {
      expect(readFileSync(join(IMAGES, name), 'utf8'), name).toBe(svg)
      expect(page, name).toContain(`](../images/${name})`)
    }
  })

  it('[I23.ready] [I23.chorus-many] [I23.pg-end-to-end] says of what was measured last that these aims are met', () => {
    const { ways = '' } = sectionsOfPage(readResults(RESULTS))
    const rows = ways.split('\n')
    const met = ['start to /readyz', '`status` as a command', 'Chorus, 256 conversations']
    for (const way of [...met, 'PostgreSQL, answered end to end, one node'])
      expect(
        rows.find((row) => row.startsWith(`| ${way} |`)),
        way,
      ).toMatch(/\| yes \|$/)
  })

  it('has a row for every aim, with what was measured, what it is held against, and whether it is met', () => {
    const of = { ...NO_INTAKE.servers, switchboard: server(3_000), bare: server(6_000), bolt: server(400) }
    const report: BenchReport = {
      ...REPORT,
      intake: { ...NO_INTAKE, vs_bare: 0.5, servers: of, rounds: [{}] },
      parts: [...REPORT.parts, { part: 'intake', seconds: 200, rounds: 7, wanted: 9 }],
      weather: [{ part: 'intake', round: 1, foreign_cores: 0.4, load_1m: 1, disturbed: true }],
    }
    const results = kept('rows', report)
    expect(results.map(({ part }) => part)).toEqual(['intake', 'ready'])
    const { ways = '', growth = '', runs = '' } = sectionsOfPage(results)
    expect(ways).toContain('| way | now | against | ratio | aim | met |')
    expect(ways).toContain('| bare 6,000/s | 0.5× | ≥ 0.65× | no: 0.15× short (23 %) |')
    expect(ways).toContain('| start to /readyz | 600 ms | – | – | ≤ 350 ms | no: 250 ms over (71 %) |')
    expect(ways).toContain('| `status` as a command | 140 ms | – | – | ≤ 150 ms | yes |')
    expect(growth).toContain('| start, 200 / 400 / 1,000 integrations |  | – | ≤ 3,000 ms | not measured |')
    expect(runs).toContain('| intake | 2026-01-02 03:04 UTC | 7 of 9 | 200 s | 0.1 | 0.3 ms | 1 of 1 (0.4) |')
    const pictures = picturesOf(results)
    expect(pictures['speed-intake.svg']).toContain('>6,000/s<')
    expect(pictures['speed-intake.svg']).toContain('Slack Bolt')
    expect(pictures['speed-ways.svg']).toContain('not measured')
  })

  it('keeps the newest of a part, also out of a file in which npm spoke first, and nothing of a quick run', () => {
    const later = { ...REPORT, at: '2026-01-03T00:00:00.000Z', rss_mb: 80 }
    const again = {
      ...later,
      parts: [...later.parts, { part: 'rss', seconds: 7, rounds: null, wanted: null }],
    }
    const results = kept('newest', again, REPORT)
    expect(results.map(({ part, at }) => [part, at.slice(0, 10)])).toEqual([
      ['ready', '2026-01-03'],
      ['rss', '2026-01-03'],
    ])
    expect(() => kept('quick', { ...REPORT, quick: true })).toThrow('--quick is no proof')
    const nothing = join(dir, 'nothing.json')
    writeFileSync(nothing, 'npm error\n')
    expect(() => keepResults(dir, [nothing])).toThrow('holds no report')
  })

  it('a plot cuts what is far beyond, and draws no markup out of a name', () => {
    const bars = [
      { label: 'a < b', value: 40, shown: '40×', tone: 'ours' as const },
      { label: 'half', value: 0.5, shown: '0.5×', tone: 'missed' as const },
    ]
    const svg = drawPlot({ title: 'T', bars, cut: 2, mark: { at: 1, label: 'the aim' } })
    expect(svg).toContain('a &lt; b')
    const widths = [...svg.matchAll(/<rect class="(?:ours|missed)"[^>]* width="(\d+)"/g)].map(([, width]) =>
      Number(width),
    )
    expect(widths).toEqual([320, 80])
    expect(svg).toContain('prefers-color-scheme: dark')
  })
})

describe('the time of a part', () => {
  it('[I23.bench-page] no round begins that would end too late, and it is told', async () => {
    let now = 0
    const said: string[] = []
    const rounds = createRounds(
      (text) => said.push(text),
      () => now,
    )
    const took = PART_LIMIT_MS / 4 + 1
    let done = 0
    await rounds.during('slow', () => {
      for (const round of rounds.of(9)) {
        expect(round).toBe(done)
        done += 1
        now += took
      }
    })
    expect(done).toBe(3)
    expect(now).toBeLessThan(PART_LIMIT_MS)
    expect(said).toEqual(['slow: its time allows 3 of 9 rounds'])
    await rounds.during('quick', () => undefined)
    expect(rounds.runs).toEqual([
      { part: 'slow', seconds: Math.round((took * 3) / 1000), rounds: 3, wanted: 9 },
      { part: 'quick', seconds: 0, rounds: null, wanted: null },
    ])
  })
})

/** Keeps these reports in a new folder. */
function kept(name: string, ...reports: readonly BenchReport[]) {
  const into = join(dir, name)
  const files = reports.map((report, at) => {
    const file = join(dir, `${name}-${at}.json`)
    writeFileSync(file, `\n> bench\n${JSON.stringify(report)}\n`)
    return file
  })
  keepResults(into, files)
  return readResults(into)
}

function server(perSecond: number) {
  const unknown = { p50_ms: null, p99_ms: null, cpu_us: null, disk_bytes: null, end_to_end_per_second: null }
  return { per_second: perSecond, ...unknown }
}
