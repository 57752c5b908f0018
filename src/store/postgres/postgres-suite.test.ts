// The store suite on a real PostgreSQL that this test process starts: one half. postgres-suite-rest.test.ts has the
// other.
import { afterAll, describe } from 'vitest'
import { sharedPostgres } from '../../testing/postgres/server.ts'
import { describeStore } from '../../testing/store-suite/index.ts'
import { createPostgresFixture } from './fixtures/postgres-fixture.ts'

describe('[I2.postgres-real] [S13.same-suite]', () => {
  afterAll(async () => (await sharedPostgres()).stop())
  describeStore('PostgreSQL store', createPostgresFixture, { propertyRuns: 15, share: { nth: 1, of: 2 } })
})
