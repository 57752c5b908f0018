// `switchboard schedules`: when each fires next and did last; start one now.
import { wordsIn } from '../../../words/index.ts'
import type { Run } from '../../context.ts'
import { usage } from '../../failure.ts'
import { printList } from '../../list.ts'
import { scheduleColumns } from '../../output/schedule-columns.ts'
import { oneLine } from '../../output/text.ts'

export const listSchedules: Run = (context) =>
  context.reading(async (api) => {
    const { schedules = [] } = await api.ask('GET /api/status')
    await printList(context, schedules, scheduleColumns(context), {
      empty: wordsIn().commandLine.empty.schedules,
    })
    return 0
  })

export const runSchedule: Run<{ readonly agent?: string }> = async (context, [id = ''], { agent }) => {
  const daemon = await context.daemon()
  const { schedules = [] } = await daemon.ask('GET /api/status')
  const found = schedules.filter((one) => one.id === id && (agent === undefined || one.agent === agent))
  const [one, other] = found
  if (one === undefined)
    throw usage(
      `there is no schedule "${oneLine(id)}"${agent === undefined ? '' : ` of ${oneLine(agent)}`}`,
      `schedules: ${schedules.map((each) => `${each.id} (${each.agent})`).join(', ') || 'none'}`,
    )
  if (other !== undefined)
    throw usage(
      `several agents have a schedule "${oneLine(id)}"`,
      wordsIn().commandLine.schedules.whichHint({ agent: one.agent }),
    )
  const done = await daemon.ask('POST /api/schedules/{agent}/{id}/run', {
    path: { agent: one.agent, id: one.id },
  })
  if (context.json) await context.printJson(done)
  else await context.print(wordsIn().commandLine.schedules.started(done))
  return 0
}
