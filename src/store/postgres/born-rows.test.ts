// Rows that a commit both creates and takes are written once, in their final state.
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Store } from '../../contract/index.ts'
import { expectSound, item, LEASE_MS, queueOne, send } from '../../testing/store-suite/fixture.ts'
import { createPostgresFixture, type PostgresFixture } from './fixtures/postgres-fixture.ts'
import { sentWhile, tripsWhile } from './fixtures/sent-statements.ts'

const AT = { integration: 'demo', conversation: 'c1' }

/** Takes all hinted work within the same commit. */
function takeAlong(store: Store) {
  const turns: ReturnType<Store['takeTurns']>[] = []
  const sends: ReturnType<Store['takeSends']>[] = []
  store.onCommit((hints) => {
    for (const hint of hints) {
      if (hint.kind === 'turns') turns.push(store.takeTurns([{ lane: hint.lane }], LEASE_MS))
      if (hint.kind === 'sends' && !hint.settled) sends.push(store.takeSends([{ lane: hint.lane }], LEASE_MS))
    }
  })
  const lastOf = async <Taken>(takes: readonly Promise<readonly Taken[]>[]) => (await takes.at(-1))?.[0]
  return { turn: () => lastOf(turns), send: () => lastOf(sends) }
}

describe('rows that a commit brings and takes', () => {
  let fixture: PostgresFixture
  let store: Store
  beforeEach(async () => {
    fixture = await createPostgresFixture()
    store = await fixture.open('one')
    // The session, the lane and the ledger's chain exist.
    await store.receive([item({ state: 'consumed', reason: 'command' })])
  })
  afterEach(async () => {
    await expectSound(store)
    await fixture.dispose()
  })

  /** Received, taken and given back, so its lane exists. */
  const handOne = async (taken: ReturnType<typeof takeAlong>) => {
    const { id, lane } = await queueOne(store)
    const took = await taken.turn()
    if (took?.outcome !== 'taken') throw new Error('not taken')
    return { turn: id, lane, token: took.token }
  }

  it('[I23.pg-born] a turn that its commit hands over is written once, and not asked for', async () => {
    const taken = takeAlong(store)
    const first = await handOne(taken)
    await store.moveTurns([{ ...first, to: 'answered' }])
    await store.releaseLanes('turns', [first])
    let trips = 0
    const sent = await sentWhile(async () => {
      trips = await tripsWhile(() => store.receive([item({ text: 'second' })]))
    })
    expect(sent.filter((text) => /^INSERT INTO turns\b/.test(text))).toHaveLength(1)
    expect(sent.filter((text) => /^UPDATE turns\b/.test(text))).toEqual([])
    // Begin; the reads; the lane and its open rows; taking the lane; commit.
    expect(trips).toBe(5)
    const rows = await fixture.sql(
      `SELECT state, attempts, body FROM turns WHERE body LIKE '%second%' AND state = 'handed'`,
    )
    expect(rows).toMatchObject([{ state: 'handed', attempts: 1 }])
    expect(await taken.turn()).toMatchObject({
      handed: [{ state: 'handed', attempts: 1, body: { text: 'second' }, messageId: expect.any(String) }],
    })
  })

  it('[I23.pg-born] an answer that its commit sends is written once', async () => {
    const taken = takeAlong(store)
    const held = await handOne(taken)
    const sent = await sentWhile(() =>
      store.accept([send({ turn: held.turn, session: held.lane })], [{ ...held, to: 'answered' }]),
    )
    expect(sent.filter((text) => /^INSERT INTO outbox\b/.test(text))).toHaveLength(1)
    expect(sent.filter((text) => /^UPDATE outbox\b/.test(text))).toEqual([])
    const rows = await fixture.sql('SELECT state, attempts FROM outbox')
    expect(rows).toEqual([{ state: 'sending', attempts: 1 }])
    const took = await taken.send()
    expect(took).toMatchObject({ sending: { state: 'sending', attempts: 1, op: { text: 'answer' } } })
    // A later read returns the same row.
    const row = took?.outcome === 'taken' ? took.sending : null
    expect(await store.send(row?.id ?? '')).toEqual(row)
  })

  it('[I23.pg-born] what stood in the lane before goes first', async () => {
    const before = await queueOne(store, { text: 'before' })
    const taken = takeAlong(store)
    const after = await queueOne(store, { text: 'after' })
    expect(await taken.turn()).toMatchObject({ handed: [{ id: before.id }], more: true })
    expect((await store.turn(after.id))?.state).toBe('queued')
  })

  it('[I23.pg-born] the same message received by two at once is one turn, and the second hears of the first', async () => {
    const other = new pg.Client({ connectionString: fixture.url })
    await other.connect()
    try {
      const first = await store.receive([item({ messageId: 'first' })])
      // Another connection whose commit is pending, so its row is invisible.
      await other.query('BEGIN')
      await other.query(
        `INSERT INTO turns (seq, integration, conversation, message_id, edit_version, platform, source, agent, session,
           lane, sender, state, received_at, updated_at)
         SELECT nextval('turns_position'), integration, conversation, 'twice', edit_version, platform, source, agent,
           session, lane, sender, state, received_at, updated_at FROM turns WHERE message_id = 'first'`,
      )
      const second = store.receive([item({ messageId: 'twice' })])
      await waitsForIt(other)
      await other.query('COMMIT')
      expect(await second).toMatchObject([{ duplicate: true, state: 'queued' }])
      // The other connection wrote no ledger entry, so the audit would report the row.
      await other.query(`DELETE FROM turns WHERE message_id = 'twice'`)
      const race = [store, await fixture.open('two')].map((node) =>
        node.receive([item({ messageId: 'raced' })]),
      )
      const results = (await Promise.all(race)).flat()
      expect(results.map(({ duplicate }) => duplicate).sort()).toEqual([false, true])
      expect(new Set(results.map(({ id }) => id)).size).toBe(1)
      expect(first).toMatchObject([{ duplicate: false }])
    } finally {
      await other.end()
    }
  })

  it('[I23.pg-born] whoever is not such a take finds it in the database', async () => {
    const who = { platform: 'webhook', agent: 'kate', by: 'user:ann', name: 'ann', force: false }
    const [{ id }] = await Promise.all([queueOne(store), store.takeOver({ at: AT, ...who })])
    expect(await store.turn(id)).toMatchObject({ state: 'consumed', reason: 'held' })
  })

  it('[I23.pg-born] a place that was held once is told with the turn that its commit hands over', async () => {
    const who = { platform: 'webhook', agent: 'kate', by: 'user:ann', name: 'ann', force: false }
    await store.takeOver({ at: AT, ...who })
    await store.endTakeover({ at: AT, by: 'user:ann', how: 'given' })
    const taken = takeAlong(store)
    const { turn } = await handOne(taken)
    expect(await taken.turn()).toMatchObject({ afterTakeover: [turn] })
  })
})

/** Resolves when another connection waits for a lock. */
async function waitsForIt(on: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await on.query('SELECT 1 FROM pg_locks WHERE NOT granted')
    if (rows.length > 0) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
