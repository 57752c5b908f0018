// Hints are sent after a commit, not within it. If some were lost, the other nodes are informed.
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Hint } from '../../contract/index.ts'
import { queueOne } from '../../testing/store-suite/fixture.ts'
import { createPostgresFixture, type PostgresFixture } from './fixtures/postgres-fixture.ts'
import { sentWhile } from './fixtures/sent-statements.ts'
import { createNotifier } from './notifier.ts'

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 60_000
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error('it never came')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

describe('the notifier', () => {
  let fixture: PostgresFixture
  beforeEach(async () => {
    fixture = await createPostgresFixture()
  })
  afterEach(() => fixture.dispose())

  it('[I23.pg-notify] a commit notifies nobody, and the others hear of it all the same', async () => {
    const one = await fixture.open('one')
    const two = await fixture.open('two')
    const heard: Hint[] = []
    two.onHint((hint) => heard.push(hint))
    const lanes: string[] = []
    const sent = await sentWhile(async () => {
      lanes.push((await queueOne(one)).lane)
      await until(() => heard.length > 0)
    })
    expect(heard).toEqual(lanes.map((lane) => ({ kind: 'turns', lane, scope: 'kate' })))
    const writes = sent.filter((text) => /^(BEGIN|COMMIT|INSERT|WITH|UPDATE)/.test(text.trim()))
    expect(writes.at(-1)).toBe('COMMIT')
    // The connection of the commits sent no notification: its last statement is the commit.
    const [notified] = await fixture.sql(`SELECT count(*) AS many FROM pg_stat_activity
      WHERE datname = current_database() AND query LIKE '%pg_notify(%' AND pid <> pg_backend_pid()`)
    expect(Number(notified?.many)).toBe(1)
    const [committed] = await fixture.sql(`SELECT count(*) AS many FROM pg_stat_activity
      WHERE datname = current_database() AND query = 'COMMIT' AND pid <> pg_backend_pid()`)
    expect(Number(committed?.many)).toBe(1)
  })

  it('[I23.pg-notify] a node that is alone tells no hint to anybody', async () => {
    const ear = new pg.Client({ connectionString: fixture.url })
    await ear.connect()
    try {
      const heard: string[] = []
      ear.on('notification', ({ payload }) => heard.push(payload ?? ''))
      await ear.query('LISTEN switchboard_hint')
      const one = await fixture.open('one')
      await fixture.clock.advance(1_000)
      await queueOne(one)
      // Pending hints are sent before a store closes.
      await one.close()
      await ear.query(`NOTIFY switchboard_hint, 'the end'`)
      await until(() => heard.includes('the end'))
      expect(heard).toEqual([expect.stringContaining('"hints":[],"hello":true'), 'the end'])
    } finally {
      await ear.end()
    }
  })

  it('[I23.pg-notify] nodes that come later, one after the other, are told', async () => {
    const one = await fixture.open('one')
    await fixture.clock.advance(1_000)
    for (const name of ['two', 'three']) {
      const heard: Hint[] = []
      const other = await fixture.open(name)
      other.onHint((hint) => heard.push(hint))
      // A hint sent before the hello is heard reaches no node.
      await until(async () => {
        await queueOne(one)
        return heard.length > 0
      })
      expect(heard[0]).toMatchObject({ kind: 'turns', scope: 'kate' })
    }
  })

  it('[I23.pg-notify] where hints were lost with the connection, the others are told that they missed some', async () => {
    const two = await fixture.open('two')
    const heard: Hint[] = []
    two.onHint((hint) => heard.push(hint))
    const notifier = createNotifier({
      ...{ url: fixture.url, clock: fixture.clock, self: 'one/1' },
      hasOthers: () => true,
    })
    const turn = (id: string) => new Map<string, Hint>([[id, { kind: 'turn', id }]])
    notifier.tell(turn('first'))
    await until(() => heard.length === 1)
    const database = new URL(fixture.url).pathname.slice(1)
    const admin = new pg.Client({ connectionString: fixture.url.replace(database, 'postgres') })
    await admin.connect()
    try {
      await admin.query(`ALTER DATABASE ${database} ALLOW_CONNECTIONS false`)
      await admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = '${database}' AND query LIKE '%pg_notify%'`)
      const timers = fixture.clock.pending()
      notifier.tell(turn('lost'))
      await until(() => fixture.clock.pending() > timers)
      notifier.tell(turn('waits'))
    } finally {
      await admin.query(`ALTER DATABASE ${database} ALLOW_CONNECTIONS true`)
      await admin.end()
    }
    await fixture.clock.advance(500)
    await until(() => heard.length === 3)
    expect(heard).toEqual([{ kind: 'turn', id: 'first' }, { kind: 'missed' }, { kind: 'turn', id: 'waits' }])
    await notifier.stop()
  })
})
