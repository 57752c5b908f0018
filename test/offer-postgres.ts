// Runs before all tests. It offers one PostgreSQL to every test process of the run, and stops it after the last.
import { offerPostgres } from '../src/testing/postgres/for-all.ts'
import { initialisePostgres, startPostgres } from '../src/testing/postgres/server.ts'

let offers = 0

/** Vitest calls this once for each project. One offer is enough. */
export async function setup(): Promise<() => Promise<void>> {
  if (offers++ > 0) return async () => undefined
  const offered = await offerPostgres({ start: startPostgres, initialise: initialisePostgres })
  return offered.stop
}
