// Files to and from PostgreSQL: they run beside all other work, and a lost connection ends only the transfer.
import pg from 'pg'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createWire } from '../../../test/faults/cluster/tcp-proxy.ts'
import type { Store } from '../../contract/index.ts'
import { sharedPostgres } from '../../testing/postgres/server.ts'
import { queueOne } from '../../testing/store-suite/fixture.ts'
import { createPostgresFixture, type PostgresFixture } from './fixtures/postgres-fixture.ts'

describe('files beside the river', () => {
  let fixture: PostgresFixture
  let store: Store
  let held: pg.Client
  beforeEach(async () => {
    fixture = await createPostgresFixture()
    store = await fixture.open()
    held = new pg.Client({ connectionString: fixture.url })
    held.on('error', () => undefined)
    await held.connect()
  })
  afterEach(async () => {
    await held.end().catch(() => undefined)
    await fixture.dispose()
  })
  afterAll(async () => (await sharedPostgres()).stop())

  const keep = (name: string) =>
    store.keepFile({ integration: 'web', name, bytes: Buffer.alloc(2_000_000, name) })

  /** Blocks the tables until the returned function is called, as if a transfer were endless. */
  const hold = async (...tables: readonly string[]) => {
    await held.query('BEGIN')
    await held.query(`LOCK TABLE ${tables.join(', ')} IN ACCESS EXCLUSIVE MODE`)
    return () => held.query('ROLLBACK')
  }

  const waiting = async (count: number) => {
    const sql = `SELECT pid FROM pg_stat_activity WHERE datname = current_database()
      AND application_name LIKE 'switchboard-%' AND wait_event_type = 'Lock'`
    while ((await fixture.sql(sql)).length < count) await new Promise((resolve) => setTimeout(resolve, 5))
  }

  it('[I6.files-apart] while files are under way, messages are committed and read', async () => {
    const letGo = await hold('files')
    const kept = ['a', 'b', 'c', 'd', 'e', 'f'].map(keep)
    const asked = store.keptFile('web', 'nothing')
    await waiting(2)
    const { id } = await queueOne(store)
    expect(await store.turn(id)).toMatchObject({ state: 'queued' })
    await letGo()
    await Promise.all(kept)
    expect(await asked).toBeNull()
    for (const name of ['a', 'f']) {
      const bytes = await store.keptFile('web', name)
      expect(Buffer.compare(bytes ?? Buffer.of(), Buffer.alloc(2_000_000, name))).toBe(0)
    }
  })

  it('[I6.files-apart] [I6.files-truth] a connection that is cut: the file is refused, nothing of it is left, and the next one goes', async () => {
    const letGo = await hold('files')
    const outcome = Promise.allSettled([keep('a'), store.keptFile('web', 'a')])
    await waiting(2)
    await fixture.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'switchboard-files'`)
    for (const one of await outcome)
      expect(one).toMatchObject({ status: 'rejected', reason: { code: 'store_unavailable' } })
    await letGo()
    expect(await store.keptFile('web', 'a')).toBeNull()
    await keep('a')
    expect(await store.keptFile('web', 'a')).toHaveLength(2_000_000)
  })

  it('[I6.files-apart] the wire is cut under files and an audit: they are refused, and the process lives', async () => {
    const wire = await createWire(() => [Number(new URL(fixture.url).port)])
    const behind = new URL(fixture.url)
    behind.port = String(wire.port)
    const far = await fixture.openWith({ url: behind.href, node: 'far' })
    await far.keepFile({ integration: 'web', name: 'first', bytes: Buffer.of(1) })
    const letGo = await hold('files', 'ledger')
    const kept = far.keepFile({ integration: 'web', name: 'a', bytes: Buffer.of(1) })
    const outcome = Promise.allSettled([kept, far.keptFile('web', 'first'), far.verify()])
    await waiting(3)
    wire.cut()
    for (const one of await outcome)
      expect(one).toMatchObject({ status: 'rejected', reason: { code: 'store_unavailable' } })
    await letGo()
    wire.mend()
    expect(await far.keptFile('web', 'first')).toEqual(Buffer.of(1))
    expect((await far.verify()).ok).toBe(true)
    await far.close()
    await wire.close()
  })

  it('a store that is closed or open for reading only keeps nothing', async () => {
    await keep('a')
    const reader = await fixture.openWith({ readOnly: true })
    expect(await reader.keptFile('web', 'a')).toHaveLength(2_000_000)
    const file = { integration: 'web', name: 'b', bytes: new Uint8Array() }
    await expect(reader.keepFile(file)).rejects.toMatchObject({ code: 'daemon_absent' })
    await store.close()
    await expect(store.keepFile(file)).rejects.toMatchObject({ code: 'store_unavailable' })
    await expect(store.keptFile('web', 'a')).rejects.toMatchObject({ code: 'store_unavailable' })
  })
})
