// `switchboard status`: what runs, what waits and the counts, from the daemon or (ready: false) from the store.
import type { ServerView, StatusReport } from '../../../contract/index.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Context, Run } from '../../context.ts'
import { paintState } from '../../output/colour.ts'
import { completeText } from '../../output/complete.ts'
import { renderNodes } from '../../output/nodes.ts'
import { scheduleColumns } from '../../output/schedule-columns.ts'
import { renderFields, renderTable } from '../../output/table.ts'
import { oneLine, safeLines } from '../../output/text.ts'
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
  const words = wordsIn().reports
  const parts = [daemonFields(context, report, live)]
  if (report.integrations.length > 0) parts.push(integrationTable(context, report.integrations))
  if (report.servers !== undefined && report.servers.length > 0)
    parts.push(serverTable(context, report.servers))
  if (report.agents.length > 0) parts.push(agentTable(context, report.agents))
  if (report.schedules !== undefined && report.schedules.length > 0)
    parts.push(renderTable(report.schedules, scheduleColumns(context), { paint, width }))
  if (report.nodes !== undefined) parts.push(renderNodes(report.nodes, { paint, width, now }))
  if (report.store.problem !== undefined) {
    parts.push(`${paint.red(words.status.storeProblem)} ${oneLine(report.store.problem)}`)
  }
  const problems = (report.problems ?? []).filter(({ severity }) => severity === 'problem')
  if (problems.length > 0)
    parts.push(
      [
        `${paint.red(words.doctor.problems({ count: problems.length }))} ${words.status.doctorSays}`,
        ...problems.map(({ word, text }) => `  ${paint.red(word)}: ${oneLine(text)}`),
      ].join('\n'),
    )
  if (report.config.problem !== null) {
    parts.push(`${paint.red(words.status.configurationProblem)}\n${safeLines(report.config.problem)}`)
  }
  for (const warning of report.config.warnings)
    parts.push(`${paint.yellow(words.status.warning)} ${oneLine(warning)}`)
  return parts.join('\n\n')
}

function daemonFields(context: Context, report: StatusReport, live: boolean): string {
  const { paint } = context
  const { fields } = wordsIn().tables
  const { embeddedConfig, status: words } = wordsIn().reports
  const state = live
    ? report.ready
      ? paint.green(words.ready)
      : paint.yellow(words.notReady)
    : paint.yellow(words.noDaemon)
  const { counts, outbox } = report
  return renderFields(
    [
      [
        fields.daemon,
        live ? words.up({ state, span: spanOf(report.uptime_ms) }) : words.fromStore({ state }),
      ],
      [fields.node, oneLine(report.node)],
      [fields.data, oneLine(context.folder.path)],
      [fields.config, oneLine(report.config.file ?? embeddedConfig)],
      [fields.store, oneLine(`${report.store.kind}, ${report.store.durability}`)],
      [
        fields.turns,
        `${words.received({ count: counts.received })}${listed(counts, [
          ...(['queued', 'handed', 'seen', 'answered'] as const),
          ...(['refused', 'consumed', 'failed', 'expired'] as const),
        ])}`,
      ],
      [
        fields.outbox,
        words.outbox(outbox) +
          (outbox.outcome_open > 0 ? `, ${words.outcomeOpen({ count: outbox.outcome_open })}` : ''),
      ],
      [fields.approvals, words.pending({ count: report.approvals.pending })],
    ],
    paint,
  )
}

function integrationTable(context: Context, rows: StatusReport['integrations']): string {
  const { columns } = wordsIn().tables
  const now = context.terminal.now()
  return renderTable(
    rows,
    [
      { title: columns.integration, value: (row) => row.id, givesWay: 1 },
      { title: columns.platform, value: (row) => row.platform },
      { title: columns.link, value: (row) => row.link, paint: (cell, row) => dyed(context, cell, row.link) },
      { title: columns.lastIn, value: (row) => relativeTime(row.last_in_at, now) },
      { title: columns.lastOut, value: (row) => relativeTime(row.last_out_at, now) },
      { title: columns.allIn, value: (row) => completeText(row.complete), givesWay: 3 },
      { title: columns.detail, value: (row) => row.detail ?? '', givesWay: 2 },
    ],
    { paint: context.paint, width: context.terminal.columns },
  )
}

function serverTable(context: Context, rows: readonly ServerView[]): string {
  const { columns } = wordsIn().tables
  return renderTable(
    rows,
    [
      { title: columns.server, value: (row) => row.name, givesWay: 1 },
      { title: columns.transport, value: (row) => row.transport },
      {
        title: columns.link,
        value: (row) => row.state,
        paint: (cell, row) => dyed(context, cell, row.state),
      },
      { title: columns.speaks, value: (row) => (row.prefix === null ? '-' : `${row.prefix}/channel`) },
      { title: columns.source, value: sourceOf },
      { title: columns.restarts, value: (row) => String(row.restarts), align: 'right' },
      { title: columns.detail, value: (row) => row.detail ?? '', givesWay: 2 },
    ],
    { paint: context.paint, width: context.terminal.columns },
  )
}

function agentTable(context: Context, rows: StatusReport['agents']): string {
  const { columns } = wordsIn().tables
  return renderTable(
    rows,
    [
      { title: columns.agent, value: (row) => row.id, givesWay: 1 },
      { title: columns.connector, value: (row) => row.connector },
      {
        title: columns.state,
        value: (row) => row.state,
        paint: (cell, row) => dyed(context, cell, row.state),
      },
      { title: columns.queued, value: (row) => String(row.queued), align: 'right' },
      { title: columns.detail, value: (row) => row.detail ?? '', givesWay: 2 },
    ],
    { paint: context.paint, width: context.terminal.columns },
  )
}

function sourceOf({ plugin_source, verified }: ServerView): string {
  if (plugin_source === null) return '-'
  return verified ? plugin_source : wordsIn().reports.status.unverified({ source: plugin_source })
}

function dyed(context: Context, cell: string, state: string): string {
  return cell === state ? paintState(context.paint, state) : cell
}
