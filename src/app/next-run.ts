// Cron with time zones, by croner: the only place that knows it.
import { Cron } from 'croner'
import type { NextRun } from '../core/schedules/scheduler.ts'

export const nextRun: NextRun = (cron, tz, afterMs) =>
  new Cron(cron, { timezone: tz, paused: true }).nextRun(new Date(afterMs))?.getTime() ?? null
