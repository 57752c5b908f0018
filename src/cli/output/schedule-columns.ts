// The table of schedules: when each fires next and did last.
import type { ScheduleView } from '../../contract/index.ts'
import { wordsIn } from '../../words/index.ts'
import type { Context } from '../context.ts'
import type { Column } from './table.ts'
import { relativeTime } from './time.ts'

export function scheduleColumns(context: Context): readonly Column<ScheduleView>[] {
  const now = context.terminal.now()
  const { columns } = wordsIn().tables
  return [
    { title: columns.schedule, value: (row) => row.id },
    { title: columns.agent, value: (row) => row.agent },
    { title: columns.cron, value: (row) => row.cron },
    { title: columns.zone, value: (row) => row.tz, givesWay: 2 },
    { title: columns.next, value: (row) => relativeTime(row.next_at, now) },
    {
      title: columns.last,
      value: (row) => (row.last === null ? '-' : `${relativeTime(row.last.at, now)} (${row.last.outcome})`),
    },
    { title: columns.prompt, value: (row) => row.prompt, givesWay: 1 },
  ]
}
