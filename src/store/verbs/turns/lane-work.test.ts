// How often a sweep queries the database, however many integrations exist, and how much per query.
import { describe, expect, it } from 'vitest'
import { findWork } from '../../find-work.ts'
import type { Statement } from '../../statement.ts'
import { LANES_A_SLICE, laneWork, type WorkSlice } from './lane-work.ts'

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
      scope === undefined ? open.map((integration) => ({ integration })) : [{ lane: `${scope}:c`, free: 1 }]
    step = steps.next(answer)
  }
  return { asked: asked.length, work: step.value.work }
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

describe('a sweep over many conversations that wait', () => {
  /** Simulates many lanes of which some are free, and returns how many each statement passed. */
  function walk(many: number, free: ReadonlySet<number>) {
    const passes: number[] = []
    const name = (n: number) => `s${String(n).padStart(6, '0')}`
    const slice = async (after: string, limit: number): Promise<WorkSlice> => {
      const steps = laneWork('turns', ['kate'], { now: 0, after, limit, own: NOBODY })
      const { params } = steps.next(undefined).value as Extract<Statement, { form: 'rows' }>
      const first = after === '' ? 0 : Number(after.slice(1)) + 1
      const most = Math.min(Number(params[3]), many - first)
      passes.push(most)
      const rows = Array.from({ length: most }, (_, at) => ({
        ...{ lane: name(first + at), scope: 'kate' },
        free: free.has(first + at) ? 1 : 0,
      }))
      const end = steps.next(rows)
      if (!end.done) throw new Error('one statement a slice')
      return end.value
    }
    return { passes, slice, name }
  }

  it('[I23.sweep-slices] passes few lanes a statement, whatever it finds, and lets others through in between', async () => {
    const { passes, slice, name } = walk(10_000, new Set([9_999]))
    let between = 0
    let over = false
    const others = (): void => {
      between += 1
      if (!over) setImmediate(others)
    }
    setImmediate(others)
    const found = await findWork({ limit: 500 }, slice)
    over = true
    expect(found).toEqual([{ lane: name(9_999), scope: 'kate' }])
    expect(Math.max(...passes)).toBe(LANES_A_SLICE)
    expect(passes).toHaveLength(10_000 / LANES_A_SLICE + 1)
    expect(between).toBeGreaterThanOrEqual(passes.length - 1)
  })

  it('[I23.sweep-slices] finds each once, page by page', async () => {
    const free = new Set(Array.from({ length: 700 }, (_, n) => 3 * n))
    const { slice, name } = walk(2_500, free)
    const found: string[] = []
    for (let after: string | undefined; ; ) {
      const page = await findWork({ limit: 100, ...(after === undefined ? {} : { after }) }, slice)
      found.push(...page.map(({ lane }) => lane))
      after = page.at(-1)?.lane
      if (page.length < 100) break
    }
    expect(found).toEqual([...free].map(name))
  })
})
