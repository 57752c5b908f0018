// `switchboard schedules`: when each fires next and did last; start one now.
import type { ScheduleView } from '../../../contract/index.ts'
import type { Run } from '../../context.ts'
import { usage } from '../../failure.ts'
import { printList } from '../../list.ts'
import { scheduleColumns } from '../../output/schedule-columns.ts'
import { oneLine } from '../../output/text.ts'

export const listSchedules: Run = (context) =>
  context.reading(async (reader) => {
    const { schedules = [] } = await reader.status()
    await printList(context, schedules, scheduleColumns(context), { empty: 'No schedules are configured.' })
    return 0
  })

export const runSchedule: Run<{ readonly agent?: string }> = async (context, [id = ''], { agent }) => {
  const daemon = await context.daemon()
  const { schedules = [] } = await daemon.call<{ readonly schedules?: readonly ScheduleView[] }>(
    'GET',
    '/api/status',
  )
  const found = schedules.filter((one) => one.id === id && (agent === undefined || one.agent === agent))
  const [one, other] = found
  if (one === undefined)
    throw usage(
      `there is no schedule "${oneLine(id)}"${agent === undefined ? '' : ` of ${oneLine(agent)}`}`,
      `schedules: ${schedules.map((each) => `${each.id} (${each.agent})`).join(', ') || 'none'}`,
    )
  if (other !== undefined)
    throw usage(`several agents have a schedule "${oneLine(id)}"`, `which one: --agent ${one.agent}`)
  const path = `/api/schedules/${encodeURIComponent(one.agent)}/${encodeURIComponent(one.id)}/run`
  const done = await daemon.call<{ readonly turn: string }>('POST', path, { body: {} })
  if (context.json) await context.printJson(done)
  else await context.print(`started as turn ${done.turn}; follow it: switchboard logs --turn ${done.turn}`)
  return 0
}
