// The table of schedules: when each fires next and did last.
import type { ScheduleView } from '../../contract/index.ts'
import type { Context } from '../context.ts'
import type { Column } from './table.ts'
import { relativeTime } from './time.ts'

export function scheduleColumns(context: Context): readonly Column<ScheduleView>[] {
  const now = context.terminal.now()
  return [
    { title: 'SCHEDULE', value: (row) => row.id },
    { title: 'AGENT', value: (row) => row.agent },
    { title: 'CRON', value: (row) => row.cron },
    { title: 'ZONE', value: (row) => row.tz, givesWay: 2 },
    { title: 'NEXT', value: (row) => relativeTime(row.next_at, now) },
    {
      title: 'LAST',
      value: (row) => (row.last === null ? '-' : `${relativeTime(row.last.at, now)} (${row.last.outcome})`),
    },
    { title: 'PROMPT', value: (row) => row.prompt, givesWay: 1 },
  ]
}
