// How PostgreSQL runs the statements of a message with many rows in the tables: by an index, never by a full scan. The
// statements are those that the store sends while messages go all the way.
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Store, sendLane } from '../../contract/index.ts'
import { item, mustTake, mustTakeSend, send } from '../../testing/store-suite/fixture.ts'
import { createPostgresFixture, type PostgresFixture } from './fixtures/postgres-fixture.ts'
import { sentWhile } from './fixtures/sent-statements.ts'
import { SESSION } from './writer.ts'

const MANY = 50_000

/** Grown tables: ended rows, a few open ones, and many conversations. */
const GROWN = [
  `INSERT INTO sessions (seq, id, session_key, agent, address, generation, created_at)
   SELECT nextval('sessions_position'), 's_old' || n, 'key' || n, 'main', 'old:c' || n, 1, 0
   FROM generate_series(1, ${MANY}) AS n`,
  `INSERT INTO turns (seq, integration, conversation, message_id, edit_version, platform, source, agent, session, lane,
     sender, state, received_at, updated_at)
   SELECT nextval('turns_position'), 'old', 'c' || (n % 5000), 'm' || n, 0, 'web', 'platform', 'main', 's_old' || n, n,
     'u', CASE n % 50 WHEN 0 THEN 'queued' WHEN 1 THEN 'handed' ELSE 'answered' END, 0, 0
   FROM generate_series(1, ${MANY}) AS n`,
  `INSERT INTO outbox (seq, lane, integration, platform, conversation, cause, op, state, due_at, created_at, updated_at,
     idem)
   SELECT nextval('outbox_position'), 'old:c' || (n % 5000), 'old', 'web', 'c' || (n % 5000), 'reply', '{}',
     CASE n % 50 WHEN 0 THEN 'queued' WHEN 1 THEN 'sending' ELSE 'sent' END, 0, 0, 0, 'k' || n
   FROM generate_series(1, ${MANY}) AS n`,
  `INSERT INTO ledger (seq, chain, n, at, kind, ref, integration, from_state, to_state, reason, count, digest, detail, mac)
   SELECT nextval('ledger_position'), 0, n, 0, 'note', '', '', '', '', '', 1, '', '', ''
   FROM generate_series(1, ${MANY}) AS n`,
  `INSERT INTO lanes (kind, lane, token, until) SELECT kind, 'old:c' || n, 1, 0
   FROM generate_series(1, ${MANY / 2}) AS n, (VALUES ('turns'), ('sends')) AS of(kind)`,
  `INSERT INTO takeovers (id, address, integration, conversation, platform, state, since, began_at)
   SELECT 'tk' || n, 'old:c' || n, 'old', 'c' || n, 'web', 'ended', 1, n FROM generate_series(1, ${MANY}) AS n`,
  `INSERT INTO claims (place, message_id, integration, conversation, thread, session, agent, label, state, send,
     created_at, expires_at)
   SELECT 'old:c' || n, 'm' || n, 'old', 'c' || n, '', 's', 'main', '', 'passed', n, 0, 1
   FROM generate_series(1, ${MANY}) AS n`,
  `INSERT INTO routes (place, thread, session, agent, label, message_id, since)
   SELECT 'old:c' || n, '', 's', 'main', '', 'm', 0 FROM generate_series(1, ${MANY}) AS n`,
  'ANALYZE',
]

/** Other tables have one row per node, or a handful. A scan costs no more than an index there. */
const GROWS = new Set(['sessions', 'turns', 'outbox', 'ledger', 'lanes', 'takeovers', 'claims', 'routes'])

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Cond'?: string
  readonly Plans?: readonly PlanNode[]
}

/**
 * Tables that are scanned, or read by an index from end to end. Reading only the first row of an index does not count.
 */
function scanned(node: PlanNode, isFirst = false): readonly string[] {
  const { 'Node Type': type, 'Relation Name': table, 'Index Cond': condition, Plans = [] } = node
  const below = Plans.flatMap((plan) => scanned(plan, isFirst || type === 'Limit'))
  const isWhole = type === 'Seq Scan' || (/^Index/.test(type) && condition === undefined && !isFirst)
  return isWhole && table !== undefined ? [table, ...below] : below
}

describe('the plans of what a message costs', () => {
  let fixture: PostgresFixture
  const sent = new Set<string>()

  beforeAll(async () => {
    fixture = await createPostgresFixture()
    for (const statement of GROWN) await fixture.sql(statement)
    const store = await fixture.open('one')
    for (const text of await sentWhile(() => allTheWay(store))) sent.add(text)
  }, 120_000)
  afterAll(() => fixture.dispose())

  it('[I23.pg-plans] reads no grown table whole, for any of the statements that it sends', async () => {
    const asked = [...sent].filter((text) => /^\s*(SELECT|WITH|INSERT|UPDATE|DELETE)\b/i.test(text))
    const hot = asked.filter((text) => /\b(turns|outbox|lanes|sessions|takeovers|claims)\b/.test(text))
    // The statements that receive, hand over, answer and send a message.
    expect(hot.length).toBeGreaterThan(15)
    const found: string[] = []
    for (const text of asked) {
      const [row] = await fixture.sql(`EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`)
      const [{ Plan: plan }] = (row as { 'QUERY PLAN': [{ Plan: PlanNode }] })['QUERY PLAN']
      const tables = scanned(plan).filter((table) => GROWS.has(table))
      if (tables.length > 0) found.push(`${tables.join(', ')}: ${text}`)
    }
    expect(found).toEqual([])
  }, 60_000)

  it('[I23.pg-plans] joins by an index, also as it is planned while the tables are empty', async () => {
    const empty = await createPostgresFixture()
    const client = new pg.Client({ connectionString: empty.url })
    try {
      await client.connect()
      await client.query(SESSION)
      const found: string[] = []
      for (const text of [...sent].filter((one) => /^\s*(SELECT|WITH|INSERT|UPDATE|DELETE)\b/i.test(one))) {
        const { rows } = await client.query(`EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`)
        if (/"(Hash|Merge) Join"|"Join Filter"/.test(JSON.stringify(rows))) found.push(text)
      }
      expect(sent.size).toBeGreaterThan(15)
      expect(found).toEqual([])
    } finally {
      await client.end()
      await empty.dispose()
    }
  }, 60_000)
})

/** Received, taken, answered and sent, and the lanes renewed. */
async function allTheWay(store: Store): Promise<void> {
  await store.receive([item({ messageId: 'm1' }), item({ messageId: 'm2', conversation: 'other' })])
  const [first] = await store.receive([item({ messageId: 'm1' })])
  const lane = first?.session ?? ''
  const taken = await mustTake(store, { lane })
  const turn = taken.handed[0]?.id ?? ''
  const held = { lane, token: taken.token }
  await store.heardOf(turn, 'kate')
  await store.moveTurns([{ ...held, turn, to: 'seen' }])
  const reply = send({ turn, session: lane, cause: 'reply', idempotencyKey: 'k' })
  await store.accept([reply], [{ ...held, turn, to: 'answered' }])
  await store.renewLanes('turns', [held], 15_000)
  await store.takeTurns([{ ...held, window: 4 }], 15_000)
  await store.releaseLanes('turns', [held])
  const sending = await mustTakeSend(store, { lane: sendLane(reply) })
  const at = { lane: sending.lane, token: sending.token, id: sending.sending?.id ?? '' }
  await store.moveSends([{ ...at, to: 'sent', platformIds: ['p1'] }])
  await store.releaseLanes('sends', [at])
  await store.findWork('turns', ['kate', 'main'], { limit: 100 })
  await store.findWork('sends', ['old'], { limit: 100 })
  await store.turn(turn)
  // The commit takes its own rows.
  store.onCommit((hints) => {
    for (const hint of hints) if (hint.kind === 'turns') void store.takeTurns([{ lane: hint.lane }], 15_000)
  })
  await store.receive([item({ messageId: 'm3' })])
}
