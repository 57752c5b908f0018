// Turns over time: slots, quantiles, and that an estimate is told as one.
import { expect, it } from 'vitest'
import type { TurnSample } from '../../contract/index.ts'
import { turnSeries } from './turn-series.ts'

const HOUR = 3_600_000
const NOW = 1_700_000_000_000
const query = { sinceMs: NOW - 48 * HOUR, untilMs: NOW }
const row = (at: number, more: Partial<TurnSample['rows'][number]> = {}): TurnSample['rows'][number] => ({
  ...{ at, updatedAt: at + 100, state: 'answered', reason: null, late: false, ...more },
})

it('[I21.con-series] counts what came, what was refused and why, and how long answers took', () => {
  const first = query.sinceMs + 10
  const rows = [
    ...[10, 20, 30, 40, 1_000].map((ms) => row(first, { updatedAt: first + ms })),
    // Found late: when it was received says nothing of how long somebody waited.
    row(first, { updatedAt: first + 9_999_999, late: true }),
    row(NOW - 1, { state: 'refused', reason: 'pairing_required' }),
    row(NOW - 1, { state: 'refused', reason: 'pairing_required' }),
    row(NOW - 1, { state: 'refused', reason: 'flood' }),
    row(NOW + 5, { state: 'failed', reason: 'agent_failed' }),
  ]
  const series = turnSeries({ total: rows.length, looked: rows.length, rows }, query)
  expect([series.slots.length, series.slot_ms, series.estimated]).toEqual([48, HOUR, false])
  expect(series.slots[0]).toMatchObject({
    received: 6,
    answered: 6,
    refused: 0,
    median_ms: 30,
    p95_ms: 1_000,
  })
  expect(series.slots[1]).toMatchObject({ received: 0, median_ms: null, p95_ms: null })
  // One whose clock was ahead is in the last slot, not lost.
  expect(series.slots.at(-1)).toMatchObject({ received: 4, refused: 3, failed: 1 })
  expect(series.reasons).toEqual([
    { reason: 'pairing_required', count: 2 },
    { reason: 'flood', count: 1 },
  ])
})

it('[I21.con-series] each of a sample stands for several, and that is told', () => {
  const rows = [row(NOW - 1), row(NOW - 1, { state: 'refused', reason: 'flood' })]
  const series = turnSeries({ total: 1_000_000, looked: 4_000, rows }, query)
  expect(series).toMatchObject({ estimated: true, turns: 1_000_000, looked_at: 4_000 })
  expect(series.slots.at(-1)).toMatchObject({ received: 500, answered: 250, refused: 250 })
  expect(series.reasons).toEqual([{ reason: 'flood', count: 250 }])
})

it('nothing at all is nothing', () => {
  const series = turnSeries({ total: 0, looked: 0, rows: [] }, query)
  expect(series.slots.every((slot) => slot.received === 0)).toBe(true)
  expect(series.reasons).toEqual([])
})
