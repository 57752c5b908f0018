// Faults specific to SQLite: one file that is locked, damaged, full, of another version, or read without a daemon.
import { spawnSync } from 'node:child_process'
import { chmodSync, closeSync, openSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { expectSound, item, queueOne } from '../../testing/store-suite/fixture.ts'
import { createSqliteFixture, type SqliteFixture } from './fixtures/sqlite-fixture.ts'

describe('SQLite faults', () => {
  let fixture: SqliteFixture
  beforeEach(async () => {
    fixture = await createSqliteFixture()
  })
  afterEach(() => fixture.dispose())

  it('[S12.sqlite-wal] runs in WAL mode with synchronous=FULL on the live connection', async () => {
    const store = await fixture.open()
    expect(await store.durability()).toEqual({ kind: 'sqlite', detail: 'journal_mode=wal synchronous=FULL' })
  })

  it('[I2.locked-db] a locked database: a clear error, nothing acknowledged, and it recovers by itself', async () => {
    const store = await fixture.openWith({ busyTimeoutMs: 20 })
    await queueOne(store)
    const other = new DatabaseSync(fixture.file)
    other.exec('BEGIN IMMEDIATE')
    const refused = await Promise.allSettled([store.receive([item()]), store.receive([item()])])
    for (const outcome of refused) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'store_unavailable' } })
      expect(outcome.status === 'rejected' && outcome.reason.hint).toContain('another process')
    }
    other.exec('ROLLBACK')
    other.close()
    await queueOne(store)
    expect(await store.turns({ limit: 10 })).toHaveLength(2)
    await expectSound(store)
  })

  it('a full disk: a clear error, nothing acknowledged, and it goes on when there is room', async () => {
    // A real refusal of the engine: its page limit simulates a full disk.
    const small = new DatabaseSync(':memory:')
    small.exec('PRAGMA max_page_count = 3; CREATE TABLE t (x)')
    let refusal: unknown
    try {
      small.prepare('INSERT INTO t VALUES (zeroblob(100000))').run()
    } catch (thrown) {
      refusal = thrown
    }
    let full = false
    const crashPoint = (name: string) => {
      if (full && name === 'store.before-commit') throw refusal
    }
    const store = await fixture.openWith({ crashPoint })
    await queueOne(store)
    full = true
    const refused = await Promise.allSettled([
      store.receive([item()]),
      queueOne(store, { conversation: 'c2' }),
    ])
    for (const outcome of refused) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'store_unavailable' } })
      expect(outcome.status === 'rejected' && outcome.reason.hint).toContain('free some space')
    }
    full = false
    await queueOne(store, { conversation: 'c2' })
    expect(await store.turns({ limit: 10 })).toHaveLength(2)
    await expectSound(store)
  })

  it('[I2.corrupt-db] a file that is no database is told as damaged, with a hint', async () => {
    writeFileSync(fixture.file, 'this is no database '.repeat(500))
    await expect(fixture.open()).rejects.toMatchObject({
      code: 'store_corrupt',
      hint: expect.stringContaining('backup'),
    })
  })

  it('[I2.corrupt-db] a damaged page is found when it is read, and never answered with half the truth', async () => {
    const store = await fixture.open()
    for (let at = 0; at < 200; at++) await queueOne(store, { text: 'x'.repeat(500), conversation: `c${at}` })
    await store.close()
    const size = statSync(fixture.file).size
    const handle = openSync(fixture.file, 'r+')
    for (let at = 4096 * 3; at < size; at += 4096) writeSync(handle, Buffer.alloc(2048, 0xa5), 0, 2048, at)
    closeSync(handle)
    const attempt = async () => {
      const damaged = await fixture.open()
      await damaged.turns({ limit: 500 })
      await queueOne(damaged)
    }
    await expect(attempt()).rejects.toMatchObject({ code: 'store_corrupt' })
  })

  it('a file cut short is told as damaged', async () => {
    const store = await fixture.open()
    for (let at = 0; at < 50; at++) await queueOne(store, { text: 'x'.repeat(500) })
    await store.close()
    truncateSync(fixture.file, 4096 * 4)
    const attempt = async () => {
      const cut = await fixture.open()
      await cut.turns({ limit: 500 })
    }
    await expect(attempt()).rejects.toMatchObject({ code: 'store_corrupt' })
  })

  it('[S12.migrations] a database of a newer version is refused, by writers and readers', async () => {
    await (await fixture.open()).close()
    await fixture.sql(`UPDATE meta SET value = '999' WHERE name = 'schema'`)
    const newer = { code: 'store_corrupt', hint: expect.stringContaining('newer version') }
    await expect(fixture.open()).rejects.toMatchObject(newer)
    await expect(fixture.openWith({ readOnly: true })).rejects.toMatchObject(newer)
  })

  it('reads without a daemon: no writes, no migration, and a clear word when there is nothing', async () => {
    await expect(fixture.openWith({ readOnly: true })).rejects.toMatchObject({ code: 'not_found' })
    writeFileSync(fixture.file, '')
    await expect(fixture.openWith({ readOnly: true })).rejects.toMatchObject({ code: 'store_unavailable' })
    const store = await fixture.open()
    const { id } = await queueOne(store)
    const reader = await fixture.openWith({ readOnly: true })
    expect(reader.tag).toBe(store.tag)
    expect(await reader.turn(id)).toMatchObject({ id, state: 'queued' })
    await expectSound(reader)
    await expect(reader.receive([item()])).rejects.toMatchObject({ code: 'daemon_absent' })
    await store.close()
    chmodSync(fixture.file, 0o444)
    expect(await (await fixture.openWith({ readOnly: true })).turn(id)).toMatchObject({ id })
  })

  it('passes its crash points around every commit', async () => {
    const passed: string[] = []
    const store = await fixture.openWith({ crashPoint: (name) => passed.push(name) })
    await Promise.all([queueOne(store), queueOne(store)])
    expect(passed).toEqual(['store.before-commit', 'store.after-commit'])
  })

  it('what was acknowledged is there after the process ended without a word', async () => {
    const script = `
      import { createSqliteStore } from ${JSON.stringify(new URL('./sqlite-store.ts', import.meta.url).href)}
      const store = await createSqliteStore({ file: ${JSON.stringify(fixture.file)}, node: 'n',
        clock: { now: () => 1, after: () => () => {} }, ledgerKey: Buffer.alloc(32, 7),
        random: { uuid: () => '', bytes: (n) => new Uint8Array(n).fill(3) } })
      const [result] = await store.receive([${JSON.stringify(item())}])
      process.stdout.write(result.id)
      process.kill(process.pid, 'SIGKILL')`
    const child = spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      encoding: 'utf8',
    })
    expect(child.signal, child.stderr).toBe('SIGKILL')
    const store = await fixture.open()
    expect(await store.turn(child.stdout)).toMatchObject({ state: 'queued' })
    await expectSound(store)
  })

  it('finds the turns of a conversation before and after their places were gathered', async () => {
    const store = await fixture.open()
    const some = (from: number, many: number) =>
      Array.from({ length: many }, (_, at) =>
        item({ conversation: `c${(from + at) % 1500}`, messageId: `m${from + at}` }),
      )
    const found = async () =>
      (await store.transcript('demo', { conversation: 'c7', direction: 'in', limit: 9 })).map(
        (entry) => entry.platformMessageId,
      )
    await store.receive(some(0, 1510))
    expect(await found()).toEqual(['m7', 'm1507'])
    await store.receive(some(1510, 2600))
    expect(await fixture.sql('SELECT count(*) AS many FROM turn_places')).toEqual([{ many: 4110 }])
    expect(await found()).toEqual(['m7', 'm1507', 'm3007'])
    await store.receive(some(4500, 10))
    expect(await found()).toEqual(['m7', 'm1507', 'm3007', 'm4507'])
    // Multi-row inserts still report which rows existed before.
    const again = await store.receive(some(4490, 30))
    expect(again.map((result) => result.duplicate)).toEqual(
      Array.from({ length: 30 }, (_, at) => at >= 10 && at < 20),
    )
    await expectSound(store)
  })

  it('closes once, and says so afterwards', async () => {
    const store = await fixture.open()
    const last = store.receive([item()])
    await store.close()
    await store.close()
    expect((await last)[0]?.state).toBe('queued')
    await expect(store.receive([item()])).rejects.toMatchObject({ code: 'store_unavailable' })
    await expect(store.turns({ limit: 1 })).rejects.toMatchObject({ code: 'store_unavailable' })
    await expect(store.verify()).rejects.toMatchObject({ code: 'store_unavailable' })
  })
})
