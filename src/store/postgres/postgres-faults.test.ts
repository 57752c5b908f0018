// Faults specific to PostgreSQL: a server that goes away and returns, nodes that hear each other, and hostile settings.
import pg from 'pg'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Hint, Store } from '../../contract/index.ts'
import { sharedPostgres, startPostgres } from '../../testing/postgres/server.ts'
import {
  expectSound,
  item,
  mustTake,
  mustTakeSend,
  queueOne,
  send,
} from '../../testing/store-suite/fixture.ts'
import { createTestClock, createTestRandom } from '../../testing/test-clock.ts'
import { createPostgresFixture, type PostgresFixture } from './fixtures/postgres-fixture.ts'
import { createPostgresStore } from './postgres-store.ts'

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 60_000
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error('it never came')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

describe('a database that is empty', () => {
  let fixture: PostgresFixture
  beforeEach(async () => {
    fixture = await createPostgresFixture({ empty: true })
  })
  afterEach(() => fixture.dispose())

  it('[S12.migrations] nodes that start at once migrate once; a newer database is refused', async () => {
    const stores = await Promise.all([fixture.open('a'), fixture.open('b'), fixture.open('c')])
    expect(new Set(stores.map((store) => store.tag)).size).toBe(1)
    await fixture.sql(`UPDATE meta SET value = '999' WHERE name = 'schema'`)
    await expect(fixture.open()).rejects.toMatchObject({ code: 'store_corrupt' })
    await expect(fixture.openWith({ readOnly: true })).rejects.toMatchObject({ code: 'store_corrupt' })
  })

  it('reads without a daemon: no writes, no migration', async () => {
    await expect(fixture.openWith({ readOnly: true })).rejects.toMatchObject({ code: 'store_unavailable' })
    const store = await fixture.open()
    const { id } = await queueOne(store)
    const reader = await fixture.openWith({ readOnly: true })
    expect(await reader.turn(id)).toMatchObject({ state: 'queued' })
    await expectSound(reader)
    await expect(reader.receive([item()])).rejects.toMatchObject({ code: 'daemon_absent' })
  })
})

describe('PostgreSQL faults', () => {
  let fixture: PostgresFixture
  beforeEach(async () => {
    fixture = await createPostgresFixture()
  })
  afterEach(() => fixture.dispose())
  afterAll(async () => (await sharedPostgres()).stop())

  const endConnections = async (): Promise<void> => {
    const others = `FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`
    const ended = await fixture.sql(`SELECT pid, pg_terminate_backend(pid) ${others}`)
    // This sends a signal. Until the backend handles it, its connection still accepts writes.
    const pids = ended.map(({ pid }) => Number(pid)).join()
    if (pids === '') return
    await until(async () => (await fixture.sql(`SELECT 1 ${others} AND pid IN (${pids})`)).length === 0)
    await fixture.clock.settle()
  }

  it('[S13.wake-up] nodes hear of each other’s work, and of their own once', async () => {
    const one = await fixture.open('one')
    const two = await fixture.open('two')
    const heard: Record<string, Hint[]> = { one: [], two: [] }
    one.onHint((hint) => heard.one?.push(hint))
    two.onHint((hint) => heard.two?.push(hint))
    const lanes = new Set<string>()
    for (let at = 0; at < 3; at++) lanes.add((await queueOne(one, { conversation: `c${at}` })).lane)
    await until(() => heard.two?.length === 3)
    const told = [...lanes].map((lane) => ({ kind: 'turns', lane, scope: 'kate' }))
    expect(heard.two).toEqual(told)
    expect(heard.one).toEqual(told)
  })

  it('tells many hints of one commit in as many notifications as they need', async () => {
    const one = await fixture.open('one')
    const two = await fixture.open('two')
    const heard = new Set<string>()
    two.onHint((hint) => 'lane' in hint && heard.add(hint.lane))
    await Promise.all(Array.from({ length: 300 }, (_, at) => queueOne(one, { conversation: `c${at}` })))
    await until(() => heard.size >= 300)
    expect(heard.size).toBe(300)
  })

  it('connections that are cut: what was in flight is refused or held, never both; then it goes on', async () => {
    const store = await fixture.open()
    await queueOne(store)
    const inFlight = Promise.allSettled(Array.from({ length: 20 }, () => store.receive([item()])))
    await endConnections()
    const outcomes = await inFlight
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
    for (const outcome of refused) expect(outcome.reason).toMatchObject({ code: 'store_unavailable' })
    await fixture.clock.advance(10_000)
    await queueOne(store)
    expect((await store.turns({ limit: 50 })).length).toBeGreaterThanOrEqual(
      2 + outcomes.length - refused.length,
    )
    await expectSound(store)
  })

  it('listens again after its connection was cut', async () => {
    const one = await fixture.open('one')
    const two = await fixture.open('two')
    let heard = 0
    two.onHint(() => {
      heard += 1
    })
    await endConnections()
    await fixture.clock.settle(20)
    await until(() => fixture.clock.pending() > 0)
    await fixture.clock.advance(10_000)
    await one.receive([item()]).catch(() => undefined)
    await fixture.clock.advance(10_000)
    const deadline = Date.now() + 60_000
    while (heard === 0 && Date.now() < deadline) {
      await queueOne(one)
      await fixture.clock.advance(1_000)
    }
    expect(heard).toBeGreaterThan(0)
  })

  it('a server that is away: a clear error, nothing acknowledged; when it is back, so is the store', async () => {
    const server = await startPostgres()
    const clock = createTestClock()
    let store: Store | undefined
    try {
      const url = await server.freshDatabase()
      store = await createPostgresStore({
        url,
        clock,
        random: createTestRandom(),
        node: 'n',
        ledgerKey: Buffer.alloc(32),
      })
      const before = await queueOne(store)
      await server.crash()
      await expect(store.receive([item()])).rejects.toMatchObject({ code: 'store_unavailable' })
      await expect(store.receive([item()])).rejects.toMatchObject({ code: 'store_unavailable' })
      await expect(store.turns({ limit: 1 })).rejects.toMatchObject({ code: 'store_unavailable' })
      await server.start()
      await clock.advance(10_000)
      expect((await queueOne(store)).lane).toBe(before.lane)
      expect(await store.turns({ limit: 10 })).toHaveLength(2)
      await expectSound(store)
    } finally {
      await store?.close()
      await server.stop()
    }
  })

  it('commits durably even where the server’s default is not to', async () => {
    const name = new URL(fixture.url).pathname.slice(1)
    await fixture.sql(`ALTER DATABASE ${name} SET synchronous_commit = off`)
    const store = await fixture.open()
    expect((await store.durability()).detail).toContain('synchronous_commit=on')
  })

  it('two nodes that lock in opposite order do not fail each other', async () => {
    const one = await fixture.open('one')
    const two = await fixture.open('two')
    const chats = Array.from({ length: 8 }, (_, at) => `c${at}`)
    const rounds = Array.from({ length: 6 }, (_, round) => round)
    for (const round of rounds) {
      const batch = (names: readonly string[]) =>
        names.map((conversation) => item({ conversation, messageId: `m${round}` }))
      const [mine, theirs] = await Promise.all([
        one.receive(batch(chats)),
        two.receive(batch(chats.toReversed())),
      ])
      const fresh = [...mine, ...theirs].filter((result) => !result.duplicate)
      expect(fresh).toHaveLength(chats.length)
    }
    await expectSound(one)
  })

  it('nodes that enqueue the same keys at once, each in its own order, do not end each other by deadlock', async () => {
    // The database counts deadlocks for as long as it exists.
    const deadlocks = async () => {
      const [row] = await fixture.sql(
        'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
      )
      return Number(row?.deadlocks)
    }
    const before = await deadlocks()
    const one = await fixture.open('one')
    const two = await fixture.open('two')
    for (let round = 0; round < 5; round++) {
      const notices = Array.from({ length: 200 }, (_, at) =>
        send({ to: { integration: 'demo', conversation: `c${at}` }, idempotencyKey: `away ${round} ${at}` }),
      )
      const [mine, theirs] = await Promise.all([one.enqueue(notices), two.enqueue(notices.toReversed())])
      const fresh = [...mine, ...theirs].filter((result) => !result.repeated)
      expect(fresh).toHaveLength(notices.length)
      expect(mine.map(({ id }) => id)).toEqual(theirs.toReversed().map(({ id }) => id))
    }
    await expectSound(one)
    // A connection writes its counts when it ends.
    await one.close()
    await two.close()
    expect(await deadlocks()).toBe(before)
  })

  it('[I6.no-waiting] a take waits for no other node: what is in hand elsewhere is busy, and asked for again soon', async () => {
    const store = await fixture.open('one')
    const { lane: known } = await queueOne(store, { conversation: 'known' })
    const [first] = await store.takeTurns([{ lane: known }], 10_000)
    if (first?.outcome !== 'taken') throw new Error('the lane is not free')
    await store.releaseLanes('turns', [{ lane: known, token: first.token }])
    const { lane: born } = await queueOne(store, { conversation: 'born' })
    const other = new pg.Client({ connectionString: fixture.url })
    await other.connect()
    try {
      await other.query('BEGIN')
      await other.query('SELECT 1 FROM lanes WHERE lane = $1 FOR UPDATE', [known])
      await other.query(`SELECT pg_advisory_xact_lock(hashtextextended('turns' || $1, 0))`, [born])
      // A waiting take would fail with the lock's timeout.
      const taken = await store.takeTurns([{ lane: known }, { lane: born }], 10_000)
      expect(taken.map(({ outcome }) => outcome)).toEqual(['busy', 'busy'])
      for (const one of taken) {
        if (one.outcome === 'taken') continue
        expect(one.retryAt - fixture.clock.now()).toBeLessThanOrEqual(1_000)
      }
      await other.query('COMMIT')
      const again = await store.takeTurns([{ lane: known }, { lane: born }], 10_000)
      expect(again.map(({ outcome }) => outcome)).toEqual(['taken', 'taken'])
    } finally {
      await other.end()
    }
  })

  it('[I6.no-waiting] a lane that another node holds is not even locked: its holder settles without waiting', async () => {
    const one = await fixture.open('one')
    const two = await fixture.open('two')
    const { id, lane } = await queueOne(one)
    const [held] = await one.takeTurns([{ lane }], 10_000)
    if (held?.outcome !== 'taken') throw new Error('the lane is not free')
    const watcher = new pg.Client({ connectionString: fixture.url })
    await watcher.connect()
    try {
      await watcher.query('BEGIN')
      const [busy] = await two.takeTurns([{ lane }], 10_000)
      expect(busy).toMatchObject({ outcome: 'busy', retryAt: fixture.clock.now() + 10_000 })
      await watcher.query('SELECT 1 FROM lanes WHERE lane = $1 FOR UPDATE NOWAIT', [lane])
      await watcher.query('ROLLBACK')
    } finally {
      await watcher.end()
    }
    const settled = await one.moveTurns([{ lane, token: held.token, turn: id, to: 'answered' }])
    expect(settled).toEqual(['moved'])
  })

  it('[I6.no-waiting] a turn is settled for another node as soon as its lane’s row is free, and meanwhile holds up nobody', async () => {
    const one = await fixture.open('one')
    const two = await fixture.open('two')
    const { id, lane } = await queueOne(one)
    await one.takeTurns([{ lane }], 10_000)
    const other = new pg.Client({ connectionString: fixture.url })
    await other.connect()
    try {
      await other.query('BEGIN')
      await other.query('SELECT 1 FROM lanes WHERE lane = $1 FOR UPDATE', [lane])
      let settled = false
      const settling = two.acceptFor([], { turn: id, to: 'answered' }).then((result) => {
        settled = true
        return result
      })
      // Other writes of the node continue.
      await queueOne(two, { conversation: 'another' })
      await queueOne(two, { conversation: 'another' })
      expect(settled).toBe(false)
      await other.query('COMMIT')
      expect(await settling).toEqual({ outcome: 'accepted', sends: [] })
    } finally {
      await other.end()
    }
  })

  /** Changes rows in a transaction that commits only when a caller waits for one of them. */
  const changeUnderLook = async (text: string, meanwhile: () => Promise<unknown>): Promise<unknown> => {
    const other = new pg.Client({ connectionString: fixture.url })
    await other.connect()
    try {
      await other.query('BEGIN')
      await other.query(text)
      const doing = meanwhile()
      for (let waiting = 0; waiting === 0; )
        waiting = (
          await fixture.sql(
            `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
          )
        ).length
      await other.query('COMMIT')
      return await doing
    } finally {
      await other.end()
    }
  }

  it('[I6.over-is-over] a turn that ends between the look and the take is not handed over, nor a buried row sent', async () => {
    const store = await fixture.open()
    const { lane } = await queueOne(store)
    const second = await queueOne(store)
    const taken = await changeUnderLook(
      `UPDATE turns SET state = 'failed', reason = 'cancelled' WHERE seq = (SELECT min(seq) FROM turns)`,
      () => mustTake(store, { lane, window: 5 }),
    )
    expect(taken).toMatchObject({ handed: [{ id: second.id }] })
    await store.enqueue([send({ text: 'one' }), send({ text: 'two' })])
    const request = { lane: 'demo:c1' }
    const sending = await changeUnderLook(
      `UPDATE outbox SET state = 'failed', reason = 'buried' WHERE seq = (SELECT min(seq) FROM outbox)`,
      () => mustTakeSend(store, request),
    )
    expect(sending).toMatchObject({ sending: null, nextDueAt: fixture.clock.now() })
    expect(await mustTakeSend(store, request)).toMatchObject({ sending: { op: { text: 'two' } } })
  })

  it('leaves no transaction open behind a commit', async () => {
    const store = await fixture.open()
    await queueOne(store)
    const settings = new pg.Client({ connectionString: fixture.url })
    await settings.connect()
    try {
      const { rows } = await settings.query(
        `SELECT count(*) AS idle FROM pg_stat_activity WHERE datname = current_database()
         AND state LIKE 'idle in transaction%'`,
      )
      expect(Number((rows[0] as { idle: string }).idle)).toBe(0)
    } finally {
      await settings.end()
    }
  })
})
