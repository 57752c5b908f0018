// The flags of `npm run bench -- …`.
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

export const PARTS = [
  'intake',
  'ready',
  'rss',
  'growth',
  'sizes',
  'scale',
  'micro',
  'chorus',
  'http',
  'slack',
  'llm',
  'claude-code',
  'channel',
  'mcp',
  'claims',
  'cluster',
] as const
export type Part = (typeof PARTS)[number]

export interface BenchOptions {
  readonly json: boolean
  readonly rounds: number
  readonly parts: ReadonlySet<Part>
  /** A short run to check that everything works. Its numbers prove nothing. */
  readonly quick: boolean
  /** The number of turns in the ledger for the growth measurement. */
  readonly growthTurns: number
  /** The number of measured messages per server and round. */
  readonly messages: number
  /** The folder for databases. It must be on a real disk. */
  readonly dir: string
  /** Another build of Switchboard to measure: its cli/main.js. */
  readonly entry: string
  readonly peers: boolean
  /** Measures nothing. Keeps these reports and writes the page from all kept reports. Null is a normal run. */
  readonly page: readonly string[] | null
}

export const HELP = `npm run bench -- [flags]
  --page [FILES]    measures nothing: keeps these reports of --json in bench/results, and writes the tables and plots
                    of docs/guide/speed.md from all that are kept there
  --json            one JSON object on stdout instead of the table
  --rounds N        interleaved rounds (9; at least 1)
  --only LIST       of ${PARTS.join(',')}
  --quick           3 rounds, few messages, 50,000 turns: to see that it runs
  --growth N        turns of the grown ledger (1000000)
  --messages N      measured messages a server and round (10000)
  --dir DIR         where the databases are made (.switchboard in the repository)
  --entry FILE      another checkout's dist/cli/main.js
  --no-peers        leave the foreign peers out`

/** Throws an Error that says what is wrong with the flags. Returns null when help was asked for. */
export function readOptions(args: readonly string[], root: string): BenchOptions | null {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowNegative: true,
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      only: { type: 'string' },
      quick: { type: 'boolean', default: false },
      growth: { type: 'string' },
      messages: { type: 'string' },
      dir: { type: 'string' },
      entry: { type: 'string' },
      peers: { type: 'boolean', default: true },
      page: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return null
  const { quick } = values
  if (positionals.length > 0 && !values.page) throw new Error(`"${positionals[0]}" belongs to no flag`)
  return {
    json: values.json,
    quick,
    peers: values.peers,
    page: values.page ? positionals : null,
    rounds: count('--rounds', values.rounds, quick ? 3 : 9),
    growthTurns: count('--growth', values.growth, quick ? 50_000 : 1_000_000),
    messages: count('--messages', values.messages, quick ? 3_000 : 10_000),
    parts: new Set(values.only === undefined ? PARTS : values.only.split(',').map(part)),
    dir: resolve(values.dir ?? `${root}/.switchboard`),
    entry: resolve(values.entry ?? `${root}/dist/cli/main.js`),
  }
}

function count(flag: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise
  const value = Number(text.replaceAll('_', ''))
  if (!Number.isSafeInteger(value) || value < 1)
    throw new Error(`${flag}: "${text}" is not a whole number above 0`)
  return value
}

function part(name: string): Part {
  const known = PARTS.find((one) => one === name.trim())
  if (known === undefined) throw new Error(`--only: "${name}" is none of ${PARTS.join(', ')}`)
  return known
}
