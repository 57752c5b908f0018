// The command `npm run model`: nodes, cores, disk, log and memory for any number of conversations. `--write` renews the
// tables of docs/guide/scale.md. `--report FILE` takes the costs from the output of `npm run bench -- --json --only
// cluster`.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { costsOf, keptCosts } from './costs.ts'
import { HABITS, type Habits, plan } from './model.ts'
import { ORDERS, tablesOf, writeScalePage } from './scale-page.ts'

const HELP = `npm run model -- [flags]
  --conversations LIST  instead of 10^4 to 10^8, e.g. 250000,5e6
  --report FILE         costs from a report of npm run bench -- --json --only cluster
  ${Object.keys(HABITS)
    .map((name) => `--${name} N`)
    .join(', ')}
  --json                the plans as JSON
  --write               renew the tables of docs/guide/scale.md (no other flag)`

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
  if (values.write) return `${writeScalePage()} is renewed`
  const costs =
    values.report === undefined ? keptCosts() : costsOf(JSON.parse(readFileSync(values.report, 'utf8')))
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
