// How often a sweep asks the database, however many integrations there are.
import { describe, expect, it } from 'vitest'
import type { Statement } from '../statement.ts'
import { laneWork } from './lanes.ts'

const NOBODY = { owner: 'one/1', former: 'one/' }

function sweep(scopes: readonly string[], open: readonly string[]) {
  const asked: Statement[] = []
  const steps = laneWork('sends', scopes, { now: 0, after: '', limit: 500, own: NOBODY })
  let step = steps.next(undefined)
  while (!step.done) {
    const statement = step.value as Extract<Statement, { form: 'rows' }>
    asked.push(statement)
    const [scope] = statement.params
    const answer =
      scope === undefined ? open.map((integration) => ({ integration })) : [{ lane: `${scope}:c` }]
    step = steps.next(answer)
  }
  return { asked: asked.length, work: step.value }
}

describe('a sweep for sends', () => {
  const thousand = Array.from({ length: 1_000 }, (_, at) => `hook-${at}`)

  it('[I23.sweep-asks-open] asks once where nothing is open', () => {
    expect(sweep(thousand, [])).toEqual({ asked: 1, work: [] })
  })

  it('[I23.sweep-asks-open] and once more for each integration that has something open and is asked for', () => {
    const { asked, work } = sweep(thousand, ['hook-7', 'elsewhere', 'hook-1'])
    expect(asked).toBe(3)
    expect(work).toEqual([
      { lane: 'hook-1:c', scope: 'hook-1' },
      { lane: 'hook-7:c', scope: 'hook-7' },
    ])
  })
})
