// What `switchboard doctor --verbose` prints below the findings: every part with its gates, also those that pass.
import type { DoctorReport, GateView, ServerView } from '../../contract/index.ts'
import { wordsIn } from '../../words/index.ts'
import type { Context } from '../context.ts'
import { paintState } from './colour.ts'
import { completeText } from './complete.ts'
import { renderNodes } from './nodes.ts'
import { scheduleColumns } from './schedule-columns.ts'
import { renderTable } from './table.ts'
import { oneLine } from './text.ts'
import { relativeTime } from './time.ts'

export function doctorReport(context: Context, report: DoctorReport): string {
  const { paint } = context
  const width = context.terminal.columns
  const lines = [
    ...groundLines(context, report),
    ...moduleLines(context, report.modules ?? []),
    ...report.integrations.flatMap((each) => integrationLines(context, each)),
    ...stuckLines(context, report),
    ...serverLines(context, report.servers ?? []),
    ...report.agents.flatMap((agent) => agentLines(context, agent)),
  ]
  if (report.schedules !== undefined)
    lines.push('', renderTable(report.schedules, scheduleColumns(context), { paint, width }))
  return lines.join('\n')
}

/** Configuration, store and the other nodes. */
function groundLines(context: Context, { config, store, cluster }: DoctorReport): string[] {
  const { fields } = wordsIn().tables
  const words = wordsIn().reports.doctor
  const { paint, terminal } = context
  const file = oneLine(config.file ?? wordsIn().reports.embeddedConfig)
  const nodes = { paint, width: terminal.columns, now: terminal.now() }
  return [
    labelled(fields.config, words.config({ file, digest: config.digest.slice(0, 12) })),
    labelled(fields.store, oneLine(`${store.kind}, ${store.durability}`)),
    ...(cluster === undefined ? [] : ['', renderNodes(cluster.nodes, nodes)]),
  ]
}

function integrationLines(context: Context, each: DoctorReport['integrations'][number]): string[] {
  const { fields } = wordsIn().tables
  const words = wordsIn().reports.doctor
  const { paint } = context
  const now = context.terminal.now()
  const drops = Object.entries(each.drops)
    .map(([reason, count]) => `${reason} ${count}`)
    .join(', ')
  const { late: count } = each.complete
  const late = count === 0 ? '' : `; ${words.foundLate({ count })}`
  return [
    '',
    `${paint.bold(words.integration({ id: oneLine(each.id) }))} (${oneLine(each.platform)})`,
    field(fields.link, withDetail(paintState(paint, oneLine(each.link)), each.detail)),
    field(
      fields.last,
      words.last({ received: relativeTime(each.last_in_at, now), sent: relativeTime(each.last_out_at, now) }),
    ),
    field(fields.allIn, `${oneLine(completeText(each.complete))}${late}`),
    field(fields.sends, words.sends({ waiting: each.sends_waiting, failed: each.sends_failed })),
    field(fields.drops, drops === '' ? words.noDrops : oneLine(drops)),
    ...refusalLines(context, each.refusals),
    ...gateLines(context, each.gates, '  '),
  ]
}

/** What lies somewhere and does not move: turns that nobody saw, hosts that were sent away, tools that were left out. */
function stuckLines(context: Context, report: DoctorReport): string[] {
  const words = wordsIn().reports.doctor
  const { paint } = context
  const now = context.terminal.now()
  const unseen = (report.unseen ?? []).map(({ turn, agent, host, since, why }) => {
    const where = host === null ? words.otherHost : oneLine(host)
    const text = words.unseen({
      turn: oneLine(turn),
      agent: oneLine(agent),
      where,
      at: relativeTime(since, now),
      why: oneLine(why),
    })
    return `${paint.red(words.problem)} ${text}`
  })
  const away = (report.turned_away ?? []).map(
    ({ reason, at }) =>
      `${paint.red(words.turnedAway)} ${words.awayHost({ at: relativeTime(at, now), reason: oneLine(reason) })}`,
  )
  const leftOut = (report.tools_left_out ?? []).map(({ session, server, problem, at }) => {
    const text = words.leftOutServer({
      server: oneLine(server),
      session: oneLine(session),
      at: relativeTime(at, now),
      problem: oneLine(problem),
    })
    return `${paint.red(words.leftOut)} ${text}`
  })
  return [...unseen, ...away, ...leftOut].flatMap((line) => ['', line])
}

function agentLines(context: Context, agent: DoctorReport['agents'][number]): string[] {
  const { fields } = wordsIn().tables
  const words = wordsIn().reports.doctor
  const { paint } = context
  const now = context.terminal.now()
  const at = relativeTime(agent.last_message_at, now)
  const programs = (agent.processes ?? []).flatMap((one) => [
    `  ${words.program({
      name: oneLine(one.name),
      pid: one.pid,
      at: relativeTime(one.since, now),
      mebibytes: one.memory_bytes === null ? null : Math.round(one.memory_bytes / 1_048_576),
    })}`,
    ...one.stderr.slice(-3).map((line) => `    ${labelled(words.stderr, oneLine(line))}`),
  ])
  const bindings = agent.bindings.flatMap((binding) => [
    `  ${words.binding({
      integration: oneLine(binding.integration),
      conversations: oneLine(binding.conversations),
    })}`,
    ...gateLines(context, binding.gates, '    '),
  ])
  return [
    '',
    `${paint.bold(words.agent({ id: oneLine(agent.id) }))} (${oneLine(agent.connector)})`,
    field(fields.state, withDetail(paintState(paint, agent.state), agent.detail)),
    field(fields.queue, words.queue({ queued: agent.queued, approvals: agent.approvals_pending, at })),
    ...programs,
    ...(bindings.length > 0 ? bindings : [`  ${paint.yellow(words.unbound)}: ${words.unboundWhy}`]),
  ]
}

function serverLines(context: Context, servers: readonly ServerView[]): string[] {
  const { fields } = wordsIn().tables
  const words = wordsIn().reports.doctor
  const { paint } = context
  return servers.flatMap((each) => {
    const { plugin_source: named, restarts, noise } = each
    const source = named === null ? words.noSource : each.verified ? named : words.byHand({ source: named })
    const speaks = each.prefix === null ? words.noChannel : words.speaks({ prefix: each.prefix })
    const relay = each.permission_relay ? `, ${words.relays}` : ''
    const at = relativeTime(each.connected_at, context.terminal.now())
    return [
      '',
      `${paint.bold(words.server({ id: oneLine(each.name) }))} (${oneLine(each.transport)})`,
      field(fields.link, withDetail(paintState(paint, oneLine(each.state)), each.detail)),
      field(
        fields.is,
        `${oneLine(each.program ?? words.unknownProgram)}, ${speaks}${relay}; ${oneLine(source)}`,
      ),
      field(fields.since, words.serverSince({ at, restarts, noise })),
    ]
  })
}

function moduleLines(context: Context, modules: NonNullable<DoctorReport['modules']>): string[] {
  const { fields } = wordsIn().tables
  const words = wordsIn().reports.doctor
  const { paint } = context
  return modules.flatMap(({ from, file, version, platforms, connectors, problem, changed, gone }) => {
    const brings = [...platforms, ...connectors].map(oneLine).join(', ')
    return [
      '',
      `${paint.bold(words.moduleHead({ id: oneLine(from) }))} ${oneLine(version ?? '')}`.trimEnd(),
      ...(file === null ? [] : [field(fields.file, oneLine(file))]),
      problem === null ? field(fields.brings, brings) : field(fields.failed, oneLine(problem), paint.red),
      ...(gone ? [field(fields.gone, words.moduleGone, paint.yellow)] : []),
      ...(changed && !gone ? [field(fields.changed, words.moduleChanged, paint.yellow)] : []),
    ]
  })
}

function refusalLines(
  context: Context,
  refusals: DoctorReport['integrations'][number]['refusals'] | undefined,
): string[] {
  return (refusals ?? []).map(({ reason, count, text, key }) => {
    const where = key === '' ? '' : context.paint.dim(` [${oneLine(key)}]`)
    const refused = { count, reason: oneLine(reason), text: oneLine(text) }
    return `  ${wordsIn().reports.doctor.refused(refused)}${where}`
  })
}

function gateLines(context: Context, gates: readonly GateView[], indent: string): string[] {
  const words = wordsIn().reports.doctor
  const { paint } = context
  return gates.map((gate) => {
    const mark =
      gate.flagged === true
        ? paint.yellow(words.open)
        : gate.pass
          ? paint.green(words.pass)
          : paint.red(words.stop)
    const key = gate.key === '' ? '' : paint.dim(` [${oneLine(gate.key)}]`)
    return `${indent}${mark}  ${oneLine(gate.gate)}: ${oneLine(gate.reason)}${key}`
  })
}

/** The texts behind the labels of a report begin in the same column. */
const LABEL_WIDTH = 8

function labelled(label: string, text: string, paint = (shown: string) => shown): string {
  return `${paint(label)}${' '.repeat(Math.max(1, LABEL_WIDTH - label.length))}${text}`
}

/** A labelled line of a part. */
function field(label: string, text: string, paint?: (shown: string) => string): string {
  return `  ${labelled(label, text, paint)}`
}

function withDetail(state: string, detail: string | undefined): string {
  return detail === undefined ? state : `${state}: ${oneLine(detail)}`
}
