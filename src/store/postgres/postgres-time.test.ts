// PostgreSQL with machines whose clocks differ, and readers that continue from the last row they saw.
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Clock, Store } from '../../contract/index.ts'
import { mustTake, queueOne, takeTurn } from '../../testing/store-suite/fixture.ts'
import { createPostgresFixture, type PostgresFixture } from './fixtures/postgres-fixture.ts'
import { reserveText } from './horizon.ts'

let fixture: PostgresFixture
beforeEach(async () => {
  fixture = await createPostgresFixture()
})
afterEach(() => fixture.dispose())

/** A machine whose clock is off, and the differences its store reported. */
async function machine(node: string, offByMs: number): Promise<{ store: Store; skews: number[] }> {
  const clock: Clock = {
    now: () => Date.now() + offByMs,
    after: (delayMs, run) => {
      const timer = setTimeout(run, delayMs)
      return () => clearTimeout(timer)
    },
  }
  const skews: number[] = []
  const onDatabaseTime = (now: number, askedAt: number, answeredAt: number) =>
    void skews.push((askedAt + answeredAt) / 2 - now)
  return { store: await fixture.openWith({ node, clock, onDatabaseTime }), skews }
}

const MINUTES = 60_000

describe('[I6.clock-skew] the database’s time decides', () => {
  it('a lane held by a node in the past is not free for one in the future, nor the other way round', async () => {
    const slow = await machine('slow', -10 * MINUTES)
    const fast = await machine('fast', 10 * MINUTES)
    for (const [holder, other] of [
      [slow, fast],
      [fast, slow],
    ] as const) {
      const { lane } = await queueOne(holder.store, { conversation: holder === slow ? 'a' : 'b' })
      await mustTake(holder.store, { lane })
      expect(await takeTurn(other.store, { lane })).toMatchObject({ outcome: 'busy' })
      expect(await holder.store.lease(`link:${lane}`, 60_000)).not.toBeNull()
      expect(await other.store.lease(`link:${lane}`, 60_000)).toBeNull()
    }
  })

  it('what is delayed by one is due for all at the same time, and rows carry one time', async () => {
    const slow = await machine('slow', -10 * MINUTES)
    const fast = await machine('fast', 10 * MINUTES)
    const { id, lane } = await queueOne(slow.store)
    const { token } = await mustTake(slow.store, { lane })
    await slow.store.moveTurns([{ lane, token, turn: id, to: 'queued', notBeforeMs: 2 * MINUTES }])
    await slow.store.releaseLanes('turns', [{ lane, token }])
    expect(await takeTurn(fast.store, { lane })).toMatchObject({ outcome: 'later' })
    const row = await fast.store.turn(id)
    expect(Math.abs((row?.receivedAt ?? 0) - Date.now())).toBeLessThan(MINUTES)
  })

  it('tells how far off this machine is', async () => {
    const { store, skews } = await machine('fast', 10 * MINUTES)
    await queueOne(store)
    expect(skews.length).toBeGreaterThan(1)
    for (const skew of skews) expect(Math.abs(skew - 10 * MINUTES)).toBeLessThan(MINUTES)
  })
})

describe('[I6.late-rows] a reader that goes on from the last row misses none', () => {
  it('rows behind a commit that is still under way are held back until it ended', async () => {
    const store = await fixture.open('one')
    const first = await queueOne(store)
    const slow = new pg.Client({ connectionString: fixture.url })
    await slow.connect()
    try {
      await slow.query('BEGIN')
      await slow.query(reserveText('turns'), [1])
      await slow.query(reserveText('ledger'), [1])
      await queueOne(store)
      const seen = await store.turns({ afterSeq: 0, oldestFirst: true, limit: 10 })
      expect(seen.map((row) => row.id)).toEqual([first.id])
      const query = { direction: 'in', afterSeq: 0, limit: 10 } as const
      expect(await store.transcript('demo', query)).toHaveLength(1)
      expect(await store.ledger({ afterSeq: 0, limit: 10 })).toHaveLength(1)
      await slow.query('COMMIT')
      expect(await store.turns({ afterSeq: 0, oldestFirst: true, limit: 10 })).toHaveLength(2)
      expect(await store.transcript('demo', query)).toHaveLength(2)
      expect(await store.ledger({ afterSeq: 0, limit: 10 })).toHaveLength(2)
    } finally {
      await slow.end()
    }
  })

  it('a reader beside two writers sees every row once, in order', async () => {
    const [one, two, reader] = [
      await fixture.open('one'),
      await fixture.open('two'),
      await fixture.open('three'),
    ]
    const each = 60
    const seen: number[] = []
    let writing = true
    const follow = async () => {
      for (;;) {
        const last = !writing
        const rows = await reader.turns({ afterSeq: seen.at(-1) ?? 0, oldestFirst: true, limit: 50 })
        seen.push(...rows.map((row) => row.seq))
        if (last && rows.length === 0) return
      }
    }
    const write = async (store: Store, name: string) => {
      for (let at = 0; at < each; at++) await queueOne(store, { conversation: `${name}${at % 7}` })
    }
    const following = follow()
    await Promise.all([write(one, 'a'), write(two, 'b')])
    writing = false
    await following
    expect(seen).toHaveLength(2 * each)
    expect(seen).toEqual([...seen].sort((a, b) => a - b))
  })
})

describe('[I6.ledger-key] one key signs for all nodes', () => {
  it('a node with another key is told so, and writes nothing', async () => {
    await fixture.open('one')
    const other = fixture.openWith({ node: 'two', ledgerKey: Buffer.alloc(32, 9) })
    await expect(other).rejects.toMatchObject({
      code: 'config_invalid',
      hint: expect.stringContaining('SWITCHBOARD_KEY'),
    })
  })
})
