// Work in slices: a bounded amount at once, however fast each part completes.
import { expect, it } from 'vitest'
import { createTestClock } from '../testing/test-clock.ts'
import { inSlices } from './in-slices.ts'
import { everyRow } from './store/every-row.ts'

it('[I14.start-slices] does one slice, then waits until the process had its turn', async () => {
  const clock = createTestClock()
  const done: number[] = []
  const items = Array.from({ length: 50 }, (_, at) => at)
  const work = inSlices(items, clock, async (at) => done.push(at), { slice: 20 })
  for (let turn = 0; turn < 1_000; turn++) await Promise.resolve()
  expect(done).toHaveLength(20)
  await clock.advance(0)
  await work
  expect(done).toEqual(items)
})

it('ends when it was stopped, and with the error of a part', async () => {
  const clock = createTestClock()
  const done: number[] = []
  await inSlices([1, 2, 3], clock, (at) => done.push(at), { stopped: () => done.length === 2 })
  expect(done).toEqual([1, 2])
  await expect(inSlices([1], clock, () => Promise.reject(new Error('away')))).rejects.toThrow('away')
})

it('[I14.list-pages] every row is met once, over as many pages as there are', async () => {
  const rows = Array.from({ length: 25 }, (_, at) => ({ seq: 25 - at }))
  const asked: number[] = []
  const met: number[] = []
  const read = async ({ limit, beforeSeq = 99 }: { limit: number; beforeSeq?: number }) => {
    asked.push(beforeSeq)
    return rows.filter(({ seq }) => seq < beforeSeq).slice(0, limit)
  }
  for await (const { seq } of everyRow(read, 10)) met.push(seq)
  expect(met).toEqual(rows.map(({ seq }) => seq))
  expect(asked).toEqual([99, 16, 6])
})
