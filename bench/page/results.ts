// The results in the repository, one file per part of the benchmark. The page comes from them.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Machine } from '../machine.ts'
import { PARTS, type Part } from '../options.ts'
import { type BenchReport, NO_SECTIONS, type Sections } from '../report.ts'

export const RESULTS = fileURLToPath(new URL('../results', import.meta.url))

export interface PartResult {
  readonly part: Part
  /** The start of its run. */
  readonly at: string
  readonly seconds: number
  readonly rounds: number | null
  readonly wanted: number | null
  readonly machine: Machine
  readonly fdatasync_p50_ms: number
  /** The number of observed rounds. Below it are the disturbed rounds and the most foreign cores. */
  readonly watched: number
  readonly disturbed: number
  readonly foreign_cores: number | null
  readonly figures: unknown
}

const SECTION: Readonly<Record<Part, keyof Sections>> = {
  intake: 'intake',
  ready: 'ready',
  rss: 'rss_mb',
  growth: 'growth',
  sizes: 'sizes',
  scale: 'scale',
  micro: 'micro',
  chorus: 'chorus',
  http: 'http',
  slack: 'slack',
  llm: 'llm',
  'claude-code': 'claudeCode',
  channel: 'channel',
  mcp: 'mcp',
  claims: 'claims',
  cluster: 'cluster',
}

/** The results of each part in a report. Throws for a quick run, because its figures prove nothing. */
function partsOf(report: BenchReport): readonly PartResult[] {
  if (report.quick) throw new Error('a report of --quick is no proof: nothing of it is kept')
  return report.parts.map(({ part, seconds, rounds, wanted }) => {
    const known = PARTS.find((one) => one === part)
    if (known === undefined) throw new Error(`a report of an unknown part "${part}"`)
    // Rounds have the part's name, with a number after it if the part has several series.
    const weather = report.weather.filter((one) => one.part.split(' ')[0] === part)
    const cores = weather.flatMap((one) => one.foreign_cores ?? [])
    return {
      part: known,
      at: report.at,
      seconds,
      rounds,
      wanted,
      machine: report.machine,
      fdatasync_p50_ms: report.fdatasync_p50_ms,
      watched: weather.length,
      disturbed: weather.filter((one) => one.disturbed).length,
      foreign_cores: cores.length === 0 ? null : Math.max(...cores),
      figures: report[SECTION[known]],
    }
  })
}

/** Reads one output of `--json`. npm may have written lines before it. */
function readReport(file: string): BenchReport {
  const line = readFileSync(file, 'utf8')
    .split('\n')
    .find((one) => one.startsWith('{'))
  if (line === undefined) throw new Error(`${file} holds no report of --json`)
  return JSON.parse(line) as BenchReport
}

/** If a part is in several reports, the newest counts. */
export function keepResults(dir: string, files: readonly string[]): void {
  const found = files.flatMap((file) => partsOf(readReport(file)))
  mkdirSync(dir, { recursive: true })
  for (const result of found.sort((a, b) => a.at.localeCompare(b.at)))
    writeFileSync(join(dir, `${result.part}.json`), `${JSON.stringify(result, null, 1)}\n`)
}

/** Reads the results in the order of the parts. */
export function readResults(dir: string): readonly PartResult[] {
  if (!existsSync(dir)) return []
  const there = new Set(readdirSync(dir))
  return PARTS.filter((part) => there.has(`${part}.json`)).map(
    (part) => JSON.parse(readFileSync(join(dir, `${part}.json`), 'utf8')) as PartResult,
  )
}

export function sectionsOf(results: readonly PartResult[]): Sections {
  const found: Record<string, unknown> = { ...NO_SECTIONS }
  for (const { part, figures } of results) found[SECTION[part]] = figures
  return found as unknown as Sections
}
