// Searches without an index run in slices: no slice is long, and the event loop is free between them.
import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, it } from 'vitest'
import type { TurnFilter } from '../../contract/index.ts'
import { item } from '../../testing/store-suite/fixture.ts'
import { createSqliteFixture } from '../sqlite/fixtures/sqlite-fixture.ts'
import type { Row, Statement } from '../statement.ts'
import { isLongWalk, readTurns } from './turns.ts'

const MILLION = 1_000_000

/** Runs the read over a table of a million rows without a match, and returns the slices it read. */
function slicesOf(filter: TurnFilter, answer: (first: number, last: number) => readonly Row[] = () => []) {
  const slices: (readonly [number, number])[] = []
  const steps = readTurns('x', filter)
  let step = steps.next(undefined)
  while (!step.done) {
    const { sql, params } = step.value as Extract<Statement, { form: 'rows' }>
    if (sql.includes('min(seq)')) step = steps.next([{ first: 1, last: MILLION }])
    else {
      const [first, last] = params.slice(-3) as [number, number]
      slices.push([first, last])
      step = steps.next(answer(first, last))
    }
  }
  return slices
}

const FILTERS: readonly Omit<TurnFilter, 'limit'>[] = [
  { agent: 'idle' },
  { agent: { not: ['kate'] } },
  { sender: 'nobody' },
  { integration: 'quiet' },
  { states: ['answered'] },
  { states: ['failed', 'expired'] },
  { states: ['answered'], agent: 'idle' },
]

describe('a walk in slices', () => {
  it.each(FILTERS)(
    '[I23.turns-indexed] %j: no statement covers more than ten thousand positions',
    (filter) => {
      expect(isLongWalk({ ...filter, limit: 50 })).toBe(true)
      const slices = slicesOf({ ...filter, limit: 50 })
      expect(slices[0]).toEqual([MILLION - 1_999, MILLION])
      for (const [first, last] of slices) expect(last - first).toBeLessThan(10_000)
      // The whole table, once, without a gap.
      expect(slices.reduce((sum, [first, last]) => sum + last - first + 1, 0)).toBe(MILLION)
      expect(slices.at(-1)?.[0]).toBe(1)
      const oldest = slicesOf({ ...filter, limit: 50, oldestFirst: true, beforeSeq: 5_001 })
      expect(oldest).toEqual([
        [1, 2_000],
        [2_001, 5_000],
      ])
    },
  )

  it('[I23.turns-indexed] ends where enough is found', () => {
    const some = (first: number, last: number) =>
      Array.from({ length: Math.min(30, last - first + 1) }, (_, at) => ({ seq: last - at }))
    expect(slicesOf({ agent: 'busy', limit: 50 }, some)).toHaveLength(2)
  })

  it('[I23.turns-indexed] what an index leads to is one statement', () => {
    const led: readonly Omit<TurnFilter, 'limit'>[] = [
      ...[{ states: ['failed' as const] }, { states: ['queued' as const] }, { source: 'web:web' }],
      ...[{ integration: 'demo', conversation: 'c1' }, { session: 's_1' }, {}],
    ]
    for (const filter of led) expect(isLongWalk({ ...filter, limit: 50 }), JSON.stringify(filter)).toBe(false)
  })

  it('[I23.turns-indexed] other work goes on while many are looked through', async () => {
    const fixture = await createSqliteFixture()
    const store = await fixture.open()
    await store.receive([item({ text: 'first' })])
    const database = new DatabaseSync(fixture.file)
    const columns = database
      .prepare('PRAGMA table_info(turns)')
      .all()
      .map((row) => String((row as { name: unknown }).name))
    const copied = columns.map((name) =>
      name === 'seq' ? 'n' : name === 'message_id' ? "'copy-' || n" : name,
    )
    database.exec(
      `WITH RECURSIVE count(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM count WHERE n < 40000)
       INSERT INTO turns (${columns.join(', ')}) SELECT ${copied.join(', ')} FROM count, turns WHERE seq = 1`,
    )
    database.close()
    let others = 0
    let done = false
    const beside = () => {
      others += 1
      if (!done) setImmediate(beside)
    }
    setImmediate(beside)
    expect(await store.turns({ agent: 'nobody', limit: 10 })).toEqual([])
    done = true
    expect(others).toBeGreaterThanOrEqual(4)
    await fixture.dispose()
  })
})
