// The model's costs of a message, from the last results of the benchmark.
import { RESULTS, readResults, sectionsOf } from '../page/results.ts'
import type { Sections } from '../report.ts'
import type { Costs } from './model.ts'

/** Reads the results in bench/results. */
export function keptCosts(): Costs {
  return costsOf(sectionsOf(readResults(RESULTS)))
}

/**
 * Reads the costs from a report of `npm run bench -- --json --only cluster`. The memory of a node comes from the
 * report's part `intake`, or from the kept results. Throws when a figure is missing.
 */
export function costsOf({
  cluster,
  intake,
}: Pick<Sections, 'cluster'> & Partial<Pick<Sections, 'intake'>>): Costs {
  if (!cluster) throw new Error('the report holds no part `cluster`')
  const one = cluster.nodes.cases.postgres_1
  const [all, database] = [known('cpu_us', one.cpu_us), known('database_cpu_us', one.database_cpu_us)]
  const { row_bytes: size, rows_a_message: rows } = cluster.nodes
  const of = (from: Readonly<Record<string, number>>, name: string) => known(name, from[name])
  const nodeMb = intake?.rss_loaded_mb ?? sectionsOf(readResults(RESULTS)).intake.rss_loaded_mb
  return {
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
    nodeMb: known('rss_loaded_mb', nodeMb),
    notifyingCommitsPerSecond: known('notify', cluster.notify.notifying_commits_per_second),
  }
}

function known(name: string, value: number | null | undefined): number {
  if (value === null || value === undefined) throw new Error(`the report does not say ${name}`)
  return value
}
