// Dropped messages cause one warning a minute, with their count.
import { expect, it } from 'vitest'
import { createRecordingLog } from '../../testing/recording-log.ts'
import { createTestClock } from '../../testing/test-clock.ts'
import { createDropWarnings } from './drop-warnings.ts'

it('[I14.drop-warned] the first at once, those of the minute together, each integration and reason for itself', async () => {
  const clock = createTestClock()
  const log = createRecordingLog()
  const dropped = createDropWarnings({ clock, log })
  const flood = { integration: 'a', reason: 'flood', key: 'tunables.flood_limit' } as const
  for (let at = 0; at < 1_000; at += 1) dropped(flood)
  dropped({ integration: 'b', reason: 'rate_limited', key: undefined })
  const warnings = () =>
    log.lines.map((line) => {
      const { level, message, ...fields } = JSON.parse(line) as Record<string, unknown>
      expect([level, message]).toEqual(['warn', 'messages were dropped'])
      return fields
    })
  expect(warnings()).toEqual([
    { integration: 'a', reason: 'flood', dropped: 1, key: 'tunables.flood_limit' },
    { integration: 'b', reason: 'rate_limited', dropped: 1 },
  ])
  await clock.advance(60_000)
  expect(warnings().slice(2)).toEqual([
    { integration: 'a', reason: 'flood', dropped: 999, key: 'tunables.flood_limit' },
  ])
  await clock.advance(120_000)
  expect(warnings()).toHaveLength(3)
  dropped(flood)
  expect(warnings().at(-1)).toMatchObject({ dropped: 1 })
})
