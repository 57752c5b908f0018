// The peer of the claims: PostgreSQL with a queue of one table and nothing else. A row is taken with SKIP LOCKED and
// settled. As many rows at once as the drain takes lanes. Each step is a commit that is on the disk.
import pg from 'pg'
import type { BenchPostgres } from '../servers/cluster.ts'

const AT_ONCE = 32

/** Rows per second on one connection, until all are settled. */
export async function bareClaims(postgres: BenchPostgres, rows: number): Promise<number> {
  const database = await postgres.fresh()
  const client = new pg.Client({ connectionString: database.url })
  try {
    await client.connect()
    await client.query(
      'CREATE TABLE queue (id BIGSERIAL PRIMARY KEY, state TEXT NOT NULL, body TEXT NOT NULL)',
    )
    await client.query(`CREATE INDEX queue_open ON queue (id) WHERE state = 'queued'`)
    const body = 'Is the deploy through? '.repeat(9)
    await client.query(`INSERT INTO queue (state, body) SELECT 'queued', $1 FROM generate_series(1, $2)`, [
      body,
      rows + AT_ONCE,
    ])
    // Not measured, so that both statements are planned.
    await takeAndSettle(client)
    const began = performance.now()
    let done = 0
    for (let taken = 1; taken > 0; done += taken) taken = await takeAndSettle(client)
    if (done !== rows) throw new Error(`${rows} rows were queued, ${done} were taken`)
    return (done * 1000) / (performance.now() - began)
  } finally {
    await client.end().catch(() => undefined)
    await database.close()
  }
}

async function takeAndSettle(client: pg.Client): Promise<number> {
  const { rows } = await client.query({
    name: 'take',
    text: `UPDATE queue SET state = 'taken' WHERE id IN (SELECT id FROM queue WHERE state = 'queued' ORDER BY id
      LIMIT ${AT_ONCE} FOR UPDATE SKIP LOCKED) RETURNING id, body`,
  })
  if (rows.length === 0) return 0
  const ids = rows.map((row: { readonly id: string }) => row.id)
  await client.query({
    name: 'settle',
    text: `UPDATE queue SET state = 'done' WHERE id = ANY($1)`,
    values: [ids],
  })
  return rows.length
}
