// What the model takes as the cost of a message: measured, and how.
import type { BenchReport } from '../report.ts'
import type { Costs } from './model.ts'

/** Of docs/guide/scale.md, "What was measured". */
export const COSTS: Costs = {
  nodeCpuUs: 2_742,
  databaseCpuUs: 1_600,
  walBytes: 10_162,
  rowBytes: { turns: 2_953, outbox: 2_626, ledger: 196, lanes: 553, sessions: 778 },
  rowsAMessage: { turns: 1, outbox: 1, ledger: 6 },
  nodeMb: 115,
  notifyingCommitsPerSecond: 2_446,
}

/** The costs out of a report of `npm run bench -- --json --only cluster`. Throws when a figure is missing. */
export function costsOf(report: Pick<BenchReport, 'cluster'>): Costs {
  const { cluster } = report
  if (!cluster) throw new Error('the report holds no part `cluster`')
  const one = cluster.nodes.cases.postgres_1
  const [all, database] = [known('cpu_us', one.cpu_us), known('database_cpu_us', one.database_cpu_us)]
  const { row_bytes: size, rows_a_message: rows } = cluster.nodes
  const of = (from: Readonly<Record<string, number>>, name: string) => known(name, from[name])
  return {
    ...COSTS,
    nodeCpuUs: all - database,
    databaseCpuUs: database,
    walBytes: known('wal_bytes', one.wal_bytes),
    rowBytes: {
      turns: of(size, 'turns'),
      outbox: of(size, 'outbox'),
      ledger: of(size, 'ledger'),
      lanes: of(size, 'lanes'),
      sessions: of(size, 'sessions'),
    },
    rowsAMessage: { turns: of(rows, 'turns'), outbox: of(rows, 'outbox'), ledger: of(rows, 'ledger') },
    notifyingCommitsPerSecond: known('notify', cluster.notify.notifying_commits_per_second),
  }
}

function known(name: string, value: number | null | undefined): number {
  if (value === null || value === undefined) throw new Error(`the report does not say ${name}`)
  return value
}
