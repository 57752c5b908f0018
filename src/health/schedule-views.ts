// Schedules for `status`, `doctor` and `schedules list`: the next time by the expression, the last one by its row.
import { isoOrNull, type ScheduleView, type Settings, type Store } from '../contract/index.ts'
import { nextRun } from '../gateway/next-run.ts'

/** More than a person reads; the rest is in the file. */
const MOST = 200

/** Absent where there are none. */
export async function scheduleViews(
  settings: Settings,
  store: Pick<Store, 'firings'>,
  now: number,
): Promise<{ readonly schedules?: readonly ScheduleView[] }> {
  const all = settings.agents.flatMap((agent) =>
    agent.schedules.map((schedule) => ({ agent: agent.id, schedule })),
  )
  if (all.length === 0) return {}
  const schedules: ScheduleView[] = []
  for (const { agent, schedule } of all.slice(0, MOST)) {
    const { id, cron, tz, prompt } = schedule
    const rows = await store.firings({ agent, schedule: id, limit: 5 })
    // The scheduler's own marks are no runs.
    const last = rows.find(({ outcome }) => outcome === 'run' || outcome === 'skipped')
    schedules.push({
      ...{ id, agent, cron, tz, prompt },
      next_at: isoOrNull(nextRun(cron, tz, now)),
      last: last ? { at: new Date(last.fireAt).toISOString(), outcome: last.outcome, turn: last.turn } : null,
    })
  }
  return { schedules }
}
