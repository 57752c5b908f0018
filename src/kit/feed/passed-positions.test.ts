// Passed positions: each is visited once when it is ready, and never before an earlier one.
import { expect, it } from 'vitest'
import { visitPassed } from './passed-positions.ts'

const SENT = { at: 'sent' }

it('[I14.stream-order] a row that becomes ready while pages are looked at is not met before the one ahead of it', async () => {
  const ready = new Set<number>()
  const met: number[] = []
  let reads = 0
  const look = () =>
    visitPassed(
      [1, 40, 5, 41].filter((seq) => !met.includes(seq)),
      10,
      {
        read: async (after, before) => {
          const rows = [1, 5, 40, 41].filter((seq) => seq > after && seq < before)
          const found = rows.map((seq) => ({ seq, ready: ready.has(seq) }))
          // Rows become sent in order, one after each read.
          for (const seq of [1, 5, 40, 41].slice(reads, reads + 1)) ready.add(seq)
          reads += 1
          return found
        },
        isReady: (row) => row?.ready ?? true,
        visit: async (seq) => met.push(seq) > 0,
      },
    )
  for (let round = 0; round < 9 && met.length < 4; round++) await look()
  expect([...met].sort((a, b) => a - b)).toEqual(met)
  expect(new Set(met)).toEqual(new Set([1, 5, 40, 41]))
})

it('near positions are one read, and a row that is gone is told as gone', async () => {
  const reads: string[] = []
  const met: unknown[] = []
  await visitPassed([107, 100, 103], 10, {
    read: async (after, before) => {
      reads.push(`${after}-${before}`)
      return [{ seq: 103, ...SENT }]
    },
    isReady: () => true,
    visit: async (seq, row) => met.push([seq, row?.at]) < 2,
  })
  expect(reads).toEqual(['99-108'])
  expect(met).toEqual([
    [100, undefined],
    [103, 'sent'],
  ])
})
