// Writes the page of speed from the kept results: two tables, plots, and the runs that they come from.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { CASES } from '../measure/cluster.ts'
import { writeScalePage } from '../model/scale-page.ts'
import { SERVERS, type Sections } from '../report.ts'
import { type Judgement, judge, type Table } from '../targets.ts'
import { type Bar, drawPlot, type Plot } from './plots.ts'
import { keepResults, type PartResult, RESULTS, readResults, sectionsOf } from './results.ts'

const here = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
export const PAGE = here('docs/guide/speed.md')
export const IMAGES = here('docs/images')

/** Adds the reports to the kept ones. */
export function keepReports(files: readonly string[]): void {
  keepResults(RESULTS, files)
}

/** Writes the page, its pictures and the page of scale from the kept results. Returns the names of the files. */
export function writePage(): readonly string[] {
  const results = readResults(RESULTS)
  writeFileSync(PAGE, withSections(readFileSync(PAGE, 'utf8'), sectionsOfPage(results)))
  const pictures = Object.entries(picturesOf(results))
  for (const [name, svg] of pictures) writeFileSync(`${IMAGES}/${name}`, svg)
  return [PAGE, ...pictures.map(([name]) => `${IMAGES}/${name}`), writeScalePage()]
}

/** Puts each text between `<!-- bench:NAME -->` and `<!-- end -->`. */
export function withSections(page: string, sections: Readonly<Record<string, string>>): string {
  return Object.entries(sections).reduce((text, [name, body]) => {
    const place = new RegExp(`(<!-- bench:${name}[^>]*-->\n)[\\s\\S]*?(<!-- end -->)`)
    if (!place.test(text)) throw new Error(`the page has no place for ${name}`)
    return text.replace(place, (_whole, before: string, after: string) => `${before}\n${body}\n\n${after}`)
  }, page)
}

export function sectionsOfPage(results: readonly PartResult[]): Readonly<Record<string, string>> {
  const found = judge(sectionsOf(results))
  const picture = (name: string, alt: string) => `![${alt}](../images/${name})`
  return {
    ways: [
      wayTable(of(found, 'way')),
      picture('speed-ways.svg', 'Each way as a share of its aim'),
      picture('speed-intake.svg', 'Messages a second that each server takes'),
      picture('speed-claims.svg', 'Claims a second of each store and of a bare queue'),
    ].join('\n\n'),
    growth: [
      growthTable(of(found, 'growth')),
      picture('speed-growth.svg', 'Each row of the table of growth as a share of its aim'),
    ].join('\n\n'),
    runs: runTable(results),
  }
}

export function picturesOf(results: readonly PartResult[]): Readonly<Record<string, string>> {
  const sections = sectionsOf(results)
  const found = judge(sections)
  return {
    'speed-ways.svg': drawPlot(shares('The whole way: what is reached of each aim', of(found, 'way'))),
    'speed-growth.svg': drawPlot(shares('As it grows: what is reached of each aim', of(found, 'growth'))),
    'speed-intake.svg': drawPlot(intakePlot(sections)),
    'speed-claims.svg': drawPlot(claimsPlot(sections)),
  }
}

function of(found: readonly Judgement[], table: Table): readonly Judgement[] {
  return found.filter((one) => one.table === table)
}

// ---- tables -----------------------------------------------------------------------------------------------

function wayTable(found: readonly Judgement[]): string {
  const rows = found.map((one) => {
    const value = figure(one)
    const isRatio = one.unit === '×'
    return [
      one.label,
      one.now ?? (isRatio ? '–' : value),
      one.against ?? '–',
      isRatio ? value : '–',
      one.target ?? '–',
      verdict(one),
    ]
  })
  return table(['way', 'now', 'against', 'ratio', 'aim', 'met'], rows)
}

function growthTable(found: readonly Judgement[]): string {
  const rows = found.map((one) => [one.label, one.now ?? '', figure(one), one.target ?? '–', verdict(one)])
  return table(['what', 'measured', 'now', 'aim', 'met'], rows)
}

function runTable(results: readonly PartResult[]): string {
  const machines = [...new Set(results.map(machineOf))]
  const rows = results.map((one) => [
    one.part,
    `${one.at.slice(0, 16).replace('T', ' ')} UTC`,
    one.rounds === null ? '–' : `${one.rounds}${one.wanted === one.rounds ? '' : ` of ${one.wanted}`}`,
    `${one.seconds} s`,
    String(one.machine.load_1m),
    `${one.fdatasync_p50_ms} ms`,
    one.watched === 0 ? '–' : `${one.disturbed} of ${one.watched} (${one.foreign_cores ?? '–'})`,
    ...(machines.length > 1 ? [machineOf(one)] : []),
  ])
  const head = [
    'part',
    'when',
    'rounds',
    'took',
    'load before',
    'fdatasync',
    'rounds disturbed (most cores of others)',
  ]
  const whole = table([...head, ...(machines.length > 1 ? ['machine'] : [])], rows)
  return machines.length === 1 ? `${machines[0]}.\n\n${whole}` : whole
}

function machineOf({ machine }: PartResult): string {
  const { cores, cpu, node, filesystem, pinned } = machine
  const where = pinned ? 'servers on one core, load on another' : 'not pinned'
  return `${cores} cores (${cpu}), Node ${node}, ${filesystem}, ${where}`
}

function figure({ value, unit }: Judgement): string {
  return value === null ? '–' : `${value.toLocaleString('en')}${unit}`
}

function verdict({ value, met, missing }: Judgement): string {
  if (value === null) return 'not measured'
  if (met === null) return '–'
  return met ? 'yes' : `no: ${missing}`
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}

// ---- plots ------------------------------------------------------------------------------------------------

/** Beyond twice the target, more makes no difference. */
const ENOUGH = 2

function shares(title: string, found: readonly Judgement[]): Plot {
  const bars = found
    .filter(({ target }) => target !== null)
    .map(
      ({ label, share, met }): Bar => ({
        label: shortened(label.replaceAll('`', '')),
        value: share,
        shown: share === null ? 'not measured' : `${Number(share.toPrecision(2))}×`,
        tone: met === true ? 'ours' : 'missed',
      }),
    )
  return { title, bars, cut: ENOUGH, mark: { at: 1, label: 'the aim' } }
}

function shortened(label: string): string {
  return label.length <= 52 ? label : `${label.slice(0, 51)}…`
}

function intakePlot({ intake }: Sections): Plot {
  const bars = SERVERS.map(
    ([name, label]): Bar => rateBar(label, intake.servers[name]?.per_second ?? null, label.startsWith('(d)')),
  )
  return { title: 'Messages a second, 32 connections', bars }
}

function claimsPlot({ claims }: Sections): Plot {
  const names = { sqlite: 'SQLite', postgres_1: '1 node', postgres_2: '2 nodes', postgres_3: '3 nodes' }
  return {
    title: 'Claims of lanes a second: taken, settled, given back',
    bars: [
      rateBar('a bare PostgreSQL queue, SKIP LOCKED', claims?.bare_queue_per_second ?? null, false),
      ...CASES.map((one) =>
        rateBar(
          one === 'sqlite' ? 'Switchboard on SQLite' : `Switchboard on PostgreSQL, ${names[one]}`,
          claims?.per_second[one] ?? null,
          true,
        ),
      ),
    ],
  }
}

function rateBar(label: string, value: number | null, ours: boolean): Bar {
  const shown = value === null ? 'not measured' : `${value.toLocaleString('en')}/s`
  return { label, value, shown, tone: ours ? 'ours' : 'other' }
}
