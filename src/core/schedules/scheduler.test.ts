// Schedules over days, time zones and gaps, on a driven clock and with croner as the daemon uses it.
import { describe, expect, it } from 'vitest'
import type { Firing, FiringRow, ScheduleSettings } from '../../contract/index.ts'
import { nextRun } from '../../gateway/next-run.ts'
import { createRecordingLog } from '../../testing/recording-log.ts'
import { createTestClock } from '../../testing/test-clock.ts'
import { testAgent, testSettings } from '../../testing/test-settings.ts'
import { createScheduler } from './scheduler.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

function shared() {
  const rows: FiringRow[] = []
  let away = 0
  return {
    rows,
    goAway: (times: number) => {
      away = times
    },
    store: {
      async fireSchedule(firing: Firing) {
        if (away-- > 0) throw new Error('away')
        const { agent, schedule, fireAt } = firing
        if (rows.some((row) => row.agent === agent && row.schedule === schedule && row.fireAt === fireAt))
          return { won: false, received: null }
        rows.push({ ...firing, node: 'n', turn: null, at: 0 })
        return { won: true, received: null }
      },
      firings: async () => rows.toSorted((a, b) => b.fireAt - a.fireAt).slice(0, 1),
    },
  }
}

function open(schedule: Partial<ScheduleSettings>, start: string, world = shared()) {
  const clock = createTestClock(Date.parse(start))
  const one: ScheduleSettings = {
    id: 's',
    cron: '0 9 * * *',
    tz: 'UTC',
    prompt: 'go',
    missed: 'run',
    ...schedule,
  }
  const settings = testSettings({ agents: [testAgent('demo', [], { schedules: [one] })] })
  const deps = { store: world.store, clock, log: createRecordingLog(), settings: () => settings, nextRun }
  const scheduler = createScheduler(deps)
  scheduler.start()
  const fired = (outcome = 'run') =>
    world.rows
      .filter((row) => row.outcome === outcome)
      .map((row) => new Date(row.fireAt).toISOString().slice(0, 16))
  return { clock, world, scheduler, fired, deps }
}

describe('schedules', () => {
  it('keep to their time zone over the change to summer time', async () => {
    const { clock, fired } = open({ tz: 'Europe/Oslo' }, '2024-03-29T20:00:00Z')
    await clock.advance(3 * DAY)
    expect(fired()).toEqual(['2024-03-30T08:00', '2024-03-31T07:00', '2024-04-01T07:00'])
  })

  it('fire on weekdays only where they say so', async () => {
    const { clock, fired } = open({ cron: '0 9 * * 1-5' }, '2024-03-29T20:00:00Z')
    await clock.advance(4 * DAY)
    expect(fired()).toEqual(['2024-04-01T09:00', '2024-04-02T09:00'])
  })

  it('fire once though two nodes keep the time', async () => {
    const first = open({}, '2024-03-29T20:00:00Z')
    createScheduler(first.deps).start()
    await first.clock.advance(2 * DAY)
    expect(first.fired()).toEqual(['2024-03-30T09:00', '2024-03-31T09:00'])
  })

  it('lose no time to a store that is away', async () => {
    const { clock, world, fired } = open({}, '2024-03-29T08:59:00Z')
    await clock.advance(30_000)
    world.goAway(2)
    await clock.advance(60_000)
    expect(fired()).toEqual(['2024-03-29T09:00'])
  })

  it('record at most a hundred of a long gap, and run the newest', async () => {
    const world = shared()
    const before = open({ cron: '* * * * *' }, '2024-01-01T00:00:30Z', world)
    await before.clock.advance(1)
    before.scheduler.stop()
    const after = open({ cron: '* * * * *' }, '2024-02-01T00:00:30Z', world)
    await after.clock.advance(1)
    expect(after.fired()).toEqual(['2024-02-01T00:00'])
    expect(after.fired('skipped')).toHaveLength(99)
  })

  it('stop', async () => {
    const { clock, scheduler, fired } = open({}, '2024-03-29T08:59:00Z')
    scheduler.stop()
    await clock.advance(DAY)
    expect(fired()).toEqual([])
  })
})
