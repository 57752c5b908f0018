// Cron with time zones. Only this file uses croner.
import { Cron } from 'croner'
import type { NextRun } from '../core/schedules/scheduler.ts'

// Parsing an expression costs more than evaluating it, and a configuration has few.
const read = new Map<string, Cron>()

export const nextRun: NextRun = (cron, tz, afterMs) => {
  const key = `${tz} ${cron}`
  const known = read.get(key) ?? new Cron(cron, { timezone: tz, paused: true })
  read.set(key, known)
  return known.nextRun(new Date(afterMs))?.getTime() ?? null
}
