// `switchboard status`: what runs, what waits and the counts, from the daemon or (ready: false) from the store.
import type { ServerView, StatusReport } from '../../../contract/index.ts'
import type { Context, Run } from '../../context.ts'
import { paintState } from '../../output/colour.ts'
import { completeText } from '../../output/complete.ts'
import { renderNodes } from '../../output/nodes.ts'
import { scheduleColumns } from '../../output/schedule-columns.ts'
import { renderFields, renderTable } from '../../output/table.ts'
import { counted, oneLine, safeLines } from '../../output/text.ts'
import { relativeTime, spanOf } from '../../output/time.ts'

export const status: Run = (context) =>
  context.reading(async (api) => {
    const report = await api.ask('GET /api/status')
    const told = api.live ? report : { ...report, ready: false }
    if (context.json) await context.printJson(told)
    else await context.print(await describe(context, told, api.live))
    return 0
  })

/** Those that there are: eight states are more than a line takes. */
function listed(counts: StatusReport['counts'], states: readonly (keyof StatusReport['counts'])[]): string {
  const told = states.filter((state) => counts[state] > 0).map((state) => `${counts[state]} ${state}`)
  return told.length === 0 ? '' : `: ${told.join(', ')}`
}

async function describe(context: Context, report: StatusReport, live: boolean): Promise<string> {
  const { paint } = context
  const now = context.terminal.now()
  const width = context.terminal.columns
  const parts = [daemonFields(context, report, live)]
  if (report.integrations.length > 0) parts.push(integrationTable(context, report.integrations))
  if (report.servers !== undefined && report.servers.length > 0)
    parts.push(serverTable(context, report.servers))
  if (report.agents.length > 0) parts.push(agentTable(context, report.agents))
  if (report.schedules !== undefined && report.schedules.length > 0)
    parts.push(renderTable(report.schedules, scheduleColumns(context), { paint, width }))
  if (report.nodes !== undefined) parts.push(renderNodes(report.nodes, { paint, width, now }))
  if (report.store.problem !== undefined) {
    parts.push(`${paint.red('store problem:')} ${oneLine(report.store.problem)}`)
  }
  const problems = (report.problems ?? []).filter(({ severity }) => severity === 'problem')
  if (problems.length > 0)
    parts.push(
      [
        `${paint.red(counted(problems.length, 'problem'))} (switchboard doctor says what mends each):`,
        ...problems.map(({ word, text }) => `  ${paint.red(word)}: ${oneLine(text)}`),
      ].join('\n'),
    )
  if (report.config.problem !== null) {
    parts.push(`${paint.red('configuration problem:')}\n${safeLines(report.config.problem)}`)
  }
  for (const warning of report.config.warnings) parts.push(`${paint.yellow('warning:')} ${oneLine(warning)}`)
  return parts.join('\n\n')
}

function daemonFields(context: Context, report: StatusReport, live: boolean): string {
  const { paint } = context
  const state = live
    ? report.ready
      ? paint.green('ready')
      : paint.yellow('not ready')
    : paint.yellow('no daemon')
  const { counts, outbox } = report
  return renderFields(
    [
      ['daemon', live ? `${state}, up ${spanOf(report.uptime_ms)}` : `${state} (read from the store)`],
      ['node', oneLine(report.node)],
      ['data', oneLine(context.folder.path)],
      ['config', oneLine(report.config.file ?? 'the embedded default')],
      ['store', oneLine(`${report.store.kind}, ${report.store.durability}`)],
      [
        'turns',
        `${counts.received} received${listed(counts, [
          ...(['queued', 'handed', 'seen', 'answered'] as const),
          ...(['refused', 'consumed', 'failed', 'expired'] as const),
        ])}`,
      ],
      [
        'outbox',
        `${outbox.queued} queued, ${outbox.sent} sent, ${outbox.deduplicated} deduplicated, ` +
          `${outbox.failed} failed, ${outbox.unknown} unknown` +
          (outbox.outcome_open > 0 ? `, ${outbox.outcome_open} sending: outcome_open` : ''),
      ],
      ['approvals', `${report.approvals.pending} pending`],
    ],
    paint,
  )
}

function integrationTable(context: Context, rows: StatusReport['integrations']): string {
  const now = context.terminal.now()
  return renderTable(
    rows,
    [
      { title: 'INTEGRATION', value: (row) => row.id, givesWay: 1 },
      { title: 'PLATFORM', value: (row) => row.platform },
      { title: 'LINK', value: (row) => row.link, paint: (cell, row) => dyed(context, cell, row.link) },
      { title: 'LAST IN', value: (row) => relativeTime(row.last_in_at, now) },
      { title: 'LAST OUT', value: (row) => relativeTime(row.last_out_at, now) },
      { title: 'ALL IN', value: (row) => completeText(row.complete), givesWay: 3 },
      { title: 'DETAIL', value: (row) => row.detail ?? '', givesWay: 2 },
    ],
    { paint: context.paint, width: context.terminal.columns },
  )
}

function serverTable(context: Context, rows: readonly ServerView[]): string {
  return renderTable(
    rows,
    [
      { title: 'SERVER', value: (row) => row.name, givesWay: 1 },
      { title: 'TRANSPORT', value: (row) => row.transport },
      { title: 'LINK', value: (row) => row.state, paint: (cell, row) => dyed(context, cell, row.state) },
      { title: 'SPEAKS', value: (row) => (row.prefix === null ? '-' : `${row.prefix}/channel`) },
      { title: 'SOURCE', value: sourceOf },
      { title: 'RESTARTS', value: (row) => String(row.restarts), align: 'right' },
      { title: 'DETAIL', value: (row) => row.detail ?? '', givesWay: 2 },
    ],
    { paint: context.paint, width: context.terminal.columns },
  )
}

function agentTable(context: Context, rows: StatusReport['agents']): string {
  return renderTable(
    rows,
    [
      { title: 'AGENT', value: (row) => row.id, givesWay: 1 },
      { title: 'CONNECTOR', value: (row) => row.connector },
      {
        title: 'STATE',
        value: (row) => row.state,
        paint: (cell, row) => dyed(context, cell, row.state),
      },
      { title: 'QUEUED', value: (row) => String(row.queued), align: 'right' },
      { title: 'DETAIL', value: (row) => row.detail ?? '', givesWay: 2 },
    ],
    { paint: context.paint, width: context.terminal.columns },
  )
}

function sourceOf({ plugin_source, verified }: ServerView): string {
  if (plugin_source === null) return '-'
  return verified ? plugin_source : `${plugin_source} (unverified)`
}

function dyed(context: Context, cell: string, state: string): string {
  return cell === state ? paintState(context.paint, state) : cell
}
