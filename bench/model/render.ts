// The model's plans as the tables of docs/guide/scale.md.
import type { Costs, Habits, Limit, Plan, Table } from './model.ts'

const LIMITS: Readonly<Record<Limit, string>> = {
  none: 'none',
  rows: 'rows of a table',
  disk: 'disk',
  notify: 'NOTIFY',
  connections: 'connections',
  'database-cores': 'database cores',
  wal: 'log',
}

export function renderPlans(plans: readonly Plan[]): string {
  return table(
    [
      'conversations',
      'messages a day',
      'peak/s',
      'nodes',
      'memory of nodes',
      'database cores',
      'log at peak',
      'log a day',
      'connections',
      'notifying commits/s',
      'past one server',
    ],
    plans.map((one) => [
      power(one.conversations),
      many(one.messagesADay),
      many(one.peakPerSecond),
      many(one.nodes),
      bytes(one.nodes * one.nodeMb * 1e6),
      many(one.databaseCores),
      `${bytes(one.walMbPerSecond * 1e6)}/s`,
      bytes(one.walGbADay * 1e9),
      many(one.connections),
      many(one.notifyingCommits),
      one.limits.map((limit) => LIMITS[limit]).join(', '),
    ]),
  )
}

export function renderDisk(plans: readonly Plan[]): string {
  const tables: readonly Table[] = ['turns', 'outbox', 'ledger', 'lanes', 'sessions']
  return table(
    ['conversations', ...tables.map((name) => `rows of ${name}`), 'disk', 'of it in use all day'],
    plans.map((one) => [
      power(one.conversations),
      ...tables.map((name) => many(one.rows[name])),
      bytes(one.diskGb * 1e9),
      bytes(one.hotGb * 1e9),
    ]),
  )
}

export function renderInputs(costs: Costs, habits: Habits): string {
  return table(
    ['input', 'value'],
    [
      ['CPU of the nodes a message', `${costs.nodeCpuUs} µs`],
      ['CPU of PostgreSQL a message', `${costs.databaseCpuUs} µs`],
      ['log a message', bytes(costs.walBytes)],
      ...Object.entries(costs.rowBytes).map(([name, size]) => [
        `a row of ${name} with its indexes`,
        bytes(size),
      ]),
      ...Object.entries(costs.rowsAMessage).map(([name, rows]) => [
        `rows of ${name} a message`,
        String(rows),
      ]),
      ['memory of a node under load', `${costs.nodeMb} MB`],
      ['notifying commits a second, most', String(costs.notifyingCommitsPerSecond)],
      ['conversations active on a day', `${habits.activeShare * 100} %`],
      ['messages a day in an active one', String(habits.messagesADay)],
      ['peak over average', `${habits.peakFactor}×`],
      ['rows kept', `${habits.yearsKept} y`],
      ['bodies kept', `${habits.bodyDays} d`],
      ['bodies of a message and its answer', bytes(habits.bodyBytes)],
      ['planned use of a core at the peak', `${habits.utilisation * 100} %`],
      ['messages that share a commit at the peak', String(habits.messagesACommit)],
      ['commits in the life of a message', String(habits.commitsAMessage)],
    ],
  )
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}

function power(value: number): string {
  const exponent = Math.log10(value)
  return Number.isInteger(exponent) ? `10^${exponent}` : many(value)
}

/** Rounds to two significant figures, because the model is not more exact. */
export function many(value: number): string {
  if (value >= 1e9) return `${figures(value / 1e9)} bn`
  if (value >= 1e6) return `${figures(value / 1e6)} m`
  if (value >= 1e4) return `${figures(value / 1e3)} k`
  return figures(value)
}

export function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']
  let at = 0
  let left = value
  for (; left >= 1_000 && at < units.length - 1; at++) left /= 1_000
  return `${figures(left)} ${units[at]}`
}

function figures(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(2)))
}
