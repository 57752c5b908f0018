// The store suite on SQLite.
import { describeStore } from '../../testing/store-suite/index.ts'
import { createSqliteFixture } from './fixtures/sqlite-fixture.ts'

describeStore('SQLite store', createSqliteFixture, { propertyRuns: 150 })
