// The tables of docs/guide/scale.md: the measurements from the kept results, and the model's results for them.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { CASES } from '../measure/cluster.ts'
import { RESULTS, readResults, sectionsOf } from '../page/results.ts'
import type { Sections } from '../report.ts'
import { keptCosts } from './costs.ts'
import { type Costs, HABITS, type Habits, plan } from './model.ts'
import { renderDisk, renderInputs, renderPlans, table } from './render.ts'

export const ORDERS: readonly number[] = [1e4, 1e5, 1e6, 1e7, 1e8]
const SCALE_PAGE = fileURLToPath(new URL('../../docs/guide/scale.md', import.meta.url))

/** The model's results, by the name of their place in the page. */
export function tablesOf(
  orders: readonly number[],
  costs: Costs,
  habits: Habits,
): Readonly<Record<string, string>> {
  const plans = orders.map((conversations) => plan(conversations, costs, habits))
  return {
    plans: renderPlans(plans),
    disk: renderDisk(plans),
    inputs: renderInputs(costs, habits),
  }
}

/** Puts the tables between `<!-- model:NAME -->` and `<!-- end -->`. */
export function withTables(page: string, tables: Readonly<Record<string, string>>): string {
  return page.replace(/<!-- model:(\w+) -->[\s\S]*?<!-- end -->/g, (place, name: string) => {
    const table = tables[name]
    return table === undefined ? place : `<!-- model:${name} -->\n${table}\n<!-- end -->`
  })
}

/** All tables of the page, from the kept results. */
export function pageTables(): Readonly<Record<string, string>> {
  const sections = sectionsOf(readResults(RESULTS))
  return {
    ...tablesOf(ORDERS, keptCosts(), HABITS),
    measured: renderMeasured(sections),
    sizes: renderSizes(sections),
  }
}

/** Writes the page and returns its file name. */
export function writeScalePage(): string {
  writeFileSync(SCALE_PAGE, withTables(readFileSync(SCALE_PAGE, 'utf8'), pageTables()))
  return SCALE_PAGE
}

type Cell = number | null | undefined

const shown = (value: Cell) => (value === null || value === undefined ? '–' : value.toLocaleString('en'))

function renderMeasured({ cluster, claims }: Sections): string {
  const row = (label: string, of: (one: (typeof CASES)[number]) => Cell) => [
    label,
    ...CASES.map((one) => shown(of(one))),
  ]
  const nodes = cluster?.nodes.cases
  return table(
    ['', '1 node, SQLite', '1 node, PostgreSQL', '2 nodes', '3 nodes'],
    [
      row('messages a second received, agent absent', (one) => nodes?.[one].intake_per_second),
      row('messages a second answered, end to end', (one) => nodes?.[one].end_to_end_per_second),
      row('CPU µs a message received', (one) => nodes?.[one].intake_cpu_us),
      row('CPU µs a message answered, all in all', (one) => nodes?.[one].cpu_us),
      row('of it the database', (one) => (one === 'sqlite' ? null : nodes?.[one].database_cpu_us)),
      row('log, bytes a message', (one) => nodes?.[one].wal_bytes),
      row('claims a second while all ask for the same lanes', (one) => claims?.per_second[one]),
      row('CPU µs a claim', (one) => claims?.cpu_us[one]),
      row('lanes asked for a lane won', (one) => claims?.asked_per_claim[one]),
    ],
  )
}

function renderSizes({ sizes }: Sections): string {
  if (!sizes) return 'Not measured yet.'
  return table(
    [
      'sessions that wait',
      'turns before them',
      'take a lane',
      'settle it',
      '`status`',
      'a page of `turns`',
      'those that failed',
      'a stream’s look',
      'heap a waiting session',
      'heap a turn behind it',
    ],
    sizes.map((one) => [
      shown(one.sessions),
      shown(one.turns),
      `${shown(one.take_us)} µs`,
      `${shown(one.settle_us)} µs`,
      `${shown(one.status_ms)} ms`,
      `${shown(one.turns_ms)} ms`,
      `${shown(one.failed_ms)} ms`,
      `${shown(one.stream_ms)} ms`,
      `${shown(one.bytes_a_waiting_session)} B`,
      `${shown(one.bytes_a_waiting_turn)} B`,
    ]),
  )
}
