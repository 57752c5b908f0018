// The suite's fixture for PostgreSQL: a fresh database on the test process's own server.
import pg from 'pg'
import type { Store } from '../../contract/index.ts'
import { sharedPostgres } from '../../testing/postgres-server.ts'
import type { StoreFixture } from '../../testing/store-suite/index.ts'
import { createTestClock, createTestRandom } from '../../testing/test-clock.ts'
import { createPostgresStore, type PostgresStoreOptions } from './postgres-store.ts'

export interface PostgresFixture extends StoreFixture {
  readonly url: string
  openWith(options: Partial<PostgresStoreOptions>): Promise<Store>
}

let opened = 0

export async function createPostgresFixture(): Promise<PostgresFixture> {
  const server = await sharedPostgres()
  const url = await server.freshDatabase()
  const clock = createTestClock()
  const stores: Store[] = []
  const openWith = async (options: Partial<PostgresStoreOptions>): Promise<Store> => {
    const random = createTestRandom(`postgres ${opened++}`)
    const ledgerKey = Buffer.alloc(32, 7)
    const store = await createPostgresStore({ url, clock, random, node: 'node', ledgerKey, ...options })
    stores.push(store)
    return store
  }
  const query = async (...texts: string[]): Promise<readonly Record<string, unknown>[]> => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      let rows: Record<string, unknown>[] = []
      for (const text of texts) rows = (await client.query(text)).rows as Record<string, unknown>[]
      return rows
    } finally {
      await client.end()
    }
  }
  return {
    clock,
    url,
    openWith,
    open: (node = 'node') => openWith({ node }),
    sql: (text) => query(text),
    // An empty table is always scanned: what counts is whether an index could serve.
    explain: async (text) =>
      JSON.stringify(await query('SET enable_seqscan = off', 'SET enable_sort = off', `EXPLAIN ${text}`)),
    async dispose() {
      for (const store of stores) await store.close()
    },
  }
}
