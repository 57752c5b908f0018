// The recommendation of docs/guide/scale.md on the real schema: the store's whole suite on partitioned tables, and what
// PostgreSQL refuses.
import { readFileSync } from 'node:fs'
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import type { Clock, Store } from '../../src/contract/index.ts'
import { createPostgresStore } from '../../src/store/postgres/postgres-store.ts'
import { sharedPostgres } from '../../src/testing/postgres/server.ts'
import { item, queueOne } from '../../src/testing/store-suite/fixture.ts'
import { describeStore, type StoreFixture } from '../../src/testing/store-suite/index.ts'
import { createTestClock, createTestRandom } from '../../src/testing/test-clock.ts'
import { SCOPE } from '../../test/scenarios/deal.ts'

const SQL = readFileSync(new URL('partitions.sql', import.meta.url), 'utf8')
// The recommended number would take too long to create for every test. The rules are the same for two.
const FEW = SQL.replace('0..15', '0..1').replace('MODULUS 16', 'MODULUS 2')

let opened = 0

async function createPartitionedFixture(sql = FEW): Promise<StoreFixture & { readonly url: string }> {
  const server = await sharedPostgres()
  const lent = sql === FEW ? await server.lend('partitioned', (url) => partition(url, sql)) : null
  const url = lent?.url ?? (await server.freshDatabase())
  if (lent === null) await partition(url, sql)
  const clock = createTestClock()
  const stores: Store[] = []
  const query = (...texts: string[]) => queryAt(url, ...texts)
  return {
    clock,
    url,
    async open(node = 'node') {
      const store = await openAt(url, clock, node)
      stores.push(store)
      return store
    },
    sql: (text) => query(text),
    explain: async (text) =>
      wholeNames(
        JSON.stringify(await query('SET enable_seqscan = off', 'SET enable_sort = off', `EXPLAIN ${text}`)),
      ),
    async dispose() {
      for (const store of stores) await store.close()
      await lent?.giveBack()
    },
  }
}

function openAt(url: string, clock: Clock, node: string): Promise<Store> {
  const random = createTestRandom(`partitioned ${opened++}`)
  return createPostgresStore({ url, clock, random, node, ledgerKey: Buffer.alloc(32, 7) })
}

async function partition(url: string, sql: string): Promise<void> {
  await (await openAt(url, createTestClock(), 'node')).close()
  await queryAt(url, `BEGIN; ${sql}; COMMIT`)
}

async function queryAt(url: string, ...texts: string[]): Promise<Record<string, unknown>[]> {
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

/** The definition of each index of the two tables, by its name. */
async function indexesAt(url: string): Promise<Record<string, string>> {
  const rows = await queryAt(
    url,
    `SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename IN ('turns', 'ledger')`,
  )
  return Object.fromEntries(
    rows.map(({ indexname, indexdef }) => [
      String(indexname),
      String(indexdef).replace(/^CREATE (UNIQUE )?INDEX \S+ ON (ONLY )?\S+/, '$1INDEX'),
    ]),
  )
}

/** The suite asks for indexes by name. PostgreSQL names those of partitions itself, in the order of their creation. */
function wholeNames(plan: string): string {
  return plan
    .replace(/turns_\d+_source_seq_idx/g, 'turns_source')
    .replace(/turns_\d+_lane_seq_idx1/g, 'turns_flight')
    .replace(/turns_\d+_lane_seq_idx/g, 'turns_queued')
    .replace(/turns_\d+_state_seq_idx/g, 'turns_aside')
}

describe('[I6.scale-tried]', () => {
  afterAll(async () => (await sharedPostgres()).stop())

  // Only `npm run test:all` runs this. The suite on the schema without partitions runs every time.
  if (SCOPE === 'all')
    describeStore('PostgreSQL store, partitioned', () => createPartitionedFixture(), { propertyRuns: 2 })

  it('what was there before is there afterwards, in its partition, and a repeat of it is known', async () => {
    const server = await sharedPostgres()
    const url = await server.freshDatabase()
    const deps = { url, clock: createTestClock(), random: createTestRandom('before'), node: 'node' }
    const before = await createPostgresStore({ ...deps, ledgerKey: Buffer.alloc(32, 7) })
    const given = Array.from({ length: 20 }, (_, at) => item({ conversation: `c${at}` }))
    const first = await before.receive(given)
    await before.close()
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      await client.query(`BEGIN; ${SQL}; COMMIT`)
      const { rows } = await client.query('SELECT count(DISTINCT tableoid) AS parts FROM turns')
      expect(Number((rows[0] as { parts: string }).parts)).toBeGreaterThan(4)
    } finally {
      await client.end()
    }
    const after = await createPostgresStore({ ...deps, ledgerKey: Buffer.alloc(32, 7) })
    try {
      const again = await after.receive(given)
      expect(again.map(({ id, duplicate }) => ({ id, duplicate }))).toEqual(
        first.map(({ id }) => ({ id, duplicate: true })),
      )
      await queueOne(after)
      expect(await after.verify()).toMatchObject({ ok: true, conservation: { received: 21, ok: true } })
    } finally {
      await after.close()
    }
  })

  it('[I23.turns-indexed] every index that the whole tables have, with its condition, is there on the parts', async () => {
    const server = await sharedPostgres()
    const url = await server.freshDatabase()
    await (await openAt(url, createTestClock(), 'node')).close()
    const before = await indexesAt(url)
    await queryAt(url, `BEGIN; ${FEW}; COMMIT`)
    const after = await indexesAt(url)
    expect(Object.keys(before)).toEqual(expect.arrayContaining(['ledger_pkey', 'turns_aside', 'turns_pkey']))
    // A partitioned table cannot have this primary key. An index replaces it.
    const { turns_pkey, ...kept } = before
    expect(turns_pkey).toMatch(/UNIQUE .*\(seq\)$/)
    expect(after).toEqual({ ...kept, turns_seq: 'INDEX USING btree (seq)' })
  })

  it('PostgreSQL refuses what would break a promise: turns by time, and an outbox in parts', async () => {
    const fixture = await createPartitionedFixture()
    const refused = 'unique constraint on partitioned table must include all partitioning columns'
    await expect(
      fixture.sql(`CREATE TABLE by_time (LIKE turns) PARTITION BY RANGE (received_at);
        CREATE UNIQUE INDEX ON by_time (integration, conversation, message_id, edit_version)`),
    ).rejects.toThrow(refused)
    await expect(
      fixture.sql(`CREATE TABLE by_place (LIKE outbox) PARTITION BY HASH (integration, conversation);
        CREATE UNIQUE INDEX ON by_place (idem) WHERE idem IS NOT NULL`),
    ).rejects.toThrow(refused)
    await fixture.dispose()
  })
})
