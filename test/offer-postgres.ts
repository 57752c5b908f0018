// Before all tests: one PostgreSQL is offered to every test process of the run, and ended behind the last.
import { offerPostgres } from '../src/testing/postgres/for-all.ts'
import { initialisePostgres, startPostgres } from '../src/testing/postgres/server.ts'

let offers = 0

/** Vitest calls it once for each project; one offer is enough. */
export async function setup(): Promise<() => Promise<void>> {
  if (offers++ > 0) return async () => undefined
  const offered = await offerPostgres({ start: startPostgres, initialise: initialisePostgres })
  return offered.stop
}
