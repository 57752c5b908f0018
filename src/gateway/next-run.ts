// Cron with time zones, by croner: the only place that knows it.
import { Cron } from 'croner'
import type { NextRun } from '../core/schedules/scheduler.ts'

// Reading an expression costs more than asking it; a configuration has few of them.
const read = new Map<string, Cron>()

export const nextRun: NextRun = (cron, tz, afterMs) => {
  const key = `${tz} ${cron}`
  const known = read.get(key) ?? new Cron(cron, { timezone: tz, paused: true })
  read.set(key, known)
  return known.nextRun(new Date(afterMs))?.getTime() ?? null
}
