// The suite's fixture for SQLite: a file in a fresh folder, opened as often as a test likes.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import type { Store } from '../../contract/index.ts'
import type { StoreFixture } from '../../testing/store-suite/index.ts'
import { createTestClock, createTestRandom } from '../../testing/test-clock.ts'
import { createSqliteStore, type SqliteStoreOptions } from './sqlite-store.ts'

export interface SqliteFixture extends StoreFixture {
  readonly file: string
  openWith(options: Partial<SqliteStoreOptions>): Promise<Store>
}

let opened = 0

export async function createSqliteFixture(): Promise<SqliteFixture> {
  const folder = mkdtempSync(join(tmpdir(), 'sb-sqlite-'))
  const file = join(folder, 'switchboard.db')
  const clock = createTestClock()
  const stores: Store[] = []
  const openWith = async (options: Partial<SqliteStoreOptions>): Promise<Store> => {
    const random = createTestRandom(`sqlite ${opened++}`)
    const ledgerKey = Buffer.alloc(32, 7)
    const store = await createSqliteStore({ file, clock, random, node: 'node', ledgerKey, ...options })
    stores.push(store)
    return store
  }
  const past = <Result>(work: (database: InstanceType<typeof DatabaseSync>) => Result): Result => {
    const database = new DatabaseSync(file)
    try {
      return work(database)
    } finally {
      database.close()
    }
  }
  return {
    clock,
    file,
    openWith,
    open: (node = 'node') => openWith({ node }),
    async sql(text) {
      return past((database) => {
        if (/^\s*SELECT/i.test(text)) return database.prepare(text).all() as Record<string, unknown>[]
        database.exec(text)
        return []
      })
    },
    async explain(query) {
      return past((database) => JSON.stringify(database.prepare(`EXPLAIN QUERY PLAN ${query}`).all()))
    },
    async dispose() {
      for (const store of stores) await store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
