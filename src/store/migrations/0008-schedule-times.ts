// Migration 8: the cron expression and time zone under which a schedule fired. Another one since then begins anew.
import type { Migration } from './migration.ts'

export const scheduleTimes: Migration = {
  number: 8,
  name: 'schedule-times',
  statements: ['ALTER TABLE schedules_fired ADD COLUMN times TEXT'],
}
