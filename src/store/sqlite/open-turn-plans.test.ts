// How SQLite finds open turns among many that ended or rest: each lookup uses the index of its kind.
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readQueuedTurns, readWaitingBehind } from '../reads/rest.ts'
import { readTurns } from '../reads/turns.ts'
import type { Steps } from '../statement.ts'
import { readOverdueTurns } from '../verbs/turns/operate-turns.ts'
import { openConnection } from './connection.ts'
import { createSqliteFixture, type SqliteFixture } from './fixtures/sqlite-fixture.ts'

let fixture: SqliteFixture
beforeEach(async () => {
  fixture = await createSqliteFixture()
  await (await fixture.open()).close()
})
afterEach(() => fixture.dispose())

const READS: readonly (readonly [string, () => Steps<unknown>, readonly string[]])[] = [
  ['overdue', () => readOverdueTurns('t', 1, 10), ['turns_one_way', 'turns_queued']],
  ['queued', () => readQueuedTurns(), ['turns_queued']],
  ['waiting behind', () => readWaitingBehind('t', 1), ['turns_flight', 'turns_queued']],
  [
    'all that an agent has',
    () => readTurns('t', { states: ['handed', 'seen'], limit: 5 }),
    ['turns_acknowledged', 'turns_flight', 'turns_one_way', 'turns_queued'],
  ],
  [
    'all that it works on',
    () => readTurns('t', { states: ['handed', 'seen'], resting: false, limit: 5 }),
    ['turns_flight', 'turns_queued'],
  ],
]

it.each(READS)('[I35.b11-indexes] %s: no turn is read that is not of its kind', (_, read, indexes) => {
  const step = read().next().value as { readonly sql: string; readonly params: readonly unknown[] }
  const connection = openConnection({
    ...{ file: fixture.file, readOnly: true, busyTimeoutMs: 0 },
    reserve: () => [],
  })
  const plan = connection.execute({
    form: 'rows',
    sql: `EXPLAIN QUERY PLAN ${step.sql}`,
    params: step.params as never,
  }) as readonly { readonly detail: string }[]
  connection.close()
  const details = plan.map(({ detail }) => detail)
  expect(details.filter((detail) => /^SCAN turns(?! USING)/.test(detail))).toEqual([])
  const used = details.flatMap((detail) => /INDEX (turns_\w+)/.exec(detail)?.[1] ?? [])
  expect([...new Set(used)].sort()).toEqual(indexes)
})
