// `npm run model`: nodes, cores, disk, log and memory for any number of conversations. `--write` renews the tables of
// docs/guide/scale.md; `--report FILE` takes the costs from what `npm run bench -- --json --only cluster` printed.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { COSTS, costsOf } from './costs.ts'
import { type Costs, HABITS, type Habits, plan } from './model.ts'
import { renderDisk, renderInputs, renderPlans } from './render.ts'

export const ORDERS: readonly number[] = [1e4, 1e5, 1e6, 1e7, 1e8]
const PAGE = fileURLToPath(new URL('../../docs/guide/scale.md', import.meta.url))

const HELP = `npm run model -- [flags]
  --conversations LIST  instead of 10^4 to 10^8, e.g. 250000,5e6
  --report FILE         costs from a report of npm run bench -- --json --only cluster
  ${Object.keys(HABITS)
    .map((name) => `--${name} N`)
    .join(', ')}
  --json                the plans as JSON
  --write               renew the tables of docs/guide/scale.md (no other flag)`

/** The tables of the page, by the name of their place in it. */
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

function main(args: readonly string[]): string {
  const { values } = parseArgs({
    args: [...args],
    options: {
      conversations: { type: 'string' },
      report: { type: 'string' },
      json: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
      ...Object.fromEntries(Object.keys(HABITS).map((name) => [name, { type: 'string' as const }])),
    },
  })
  if (values.help) return HELP
  if (values.write) {
    writeFileSync(PAGE, withTables(readFileSync(PAGE, 'utf8'), tablesOf(ORDERS, COSTS, HABITS)))
    return `${PAGE} is renewed`
  }
  const costs = values.report === undefined ? COSTS : costsOf(JSON.parse(readFileSync(values.report, 'utf8')))
  const orders = values.conversations?.split(',').map((text) => number('--conversations', text)) ?? ORDERS
  const given = values as Readonly<Record<string, unknown>>
  const habits = Object.fromEntries(
    Object.entries(HABITS).map(([name, usual]) => {
      const text = given[name]
      return [name, typeof text === 'string' ? number(`--${name}`, text) : usual]
    }),
  ) as unknown as Habits
  if (values.json) return JSON.stringify(orders.map((one) => plan(one, costs, habits)))
  const tables = tablesOf(orders, costs, habits)
  return [tables.inputs, tables.plans, tables.disk].join('\n\n')
}

function number(flag: string, text: string): number {
  const value = Number(text.replaceAll('_', ''))
  if (!Number.isFinite(value) || value <= 0) throw new Error(`${flag}: "${text}" is not a number above 0`)
  return value
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    console.log(main(process.argv.slice(2)))
  } catch (thrown) {
    console.error(`model: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
    process.exit(1)
  }
}
