// The head of the ledger is found by a lookup, however long the ledger is.
import { expect, it } from 'vitest'
import type { Row, Statement } from '../statement.ts'
import { readHead } from './verify.ts'

it('[I23.head-at-once] nothing is counted or walked through: the last entry, the checkpoint and the chains', () => {
  const asked: string[] = []
  const steps = readHead()
  let step = steps.next(undefined)
  while (!step.done) {
    const { sql } = step.value as Extract<Statement, { form: 'rows' }>
    asked.push(sql)
    const answer: Row = sql.includes('FROM ledger_chains')
      ? { n: 5_000_000 }
      : sql.includes('FROM ledger')
        ? { mac: 'head' }
        : { value: JSON.stringify({ entries: 1_000_000 }) }
    step = steps.next([answer])
  }
  expect(step.value).toEqual({ head: 'head', entries: 4_000_000 })
  expect(asked).toHaveLength(3)
  for (const sql of asked.filter((one) => /FROM ledger\b(?!_)/.test(one))) {
    expect(sql).toMatch(/ORDER BY seq DESC LIMIT 1$/)
    expect(sql).not.toMatch(/count\(/)
  }
})
