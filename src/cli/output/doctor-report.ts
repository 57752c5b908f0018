// What `switchboard doctor --verbose` prints below the findings: every part with its gates, also those that pass.
import type { DoctorReport, GateView, ServerView } from '../../contract/index.ts'
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
  const { paint, terminal } = context
  const nodes = { paint, width: terminal.columns, now: terminal.now() }
  return [
    `config  ${oneLine(config.file ?? 'the embedded default')} (digest ${config.digest.slice(0, 12)})`,
    `store   ${oneLine(`${store.kind}, ${store.durability}`)}`,
    ...(cluster === undefined ? [] : ['', renderNodes(cluster.nodes, nodes)]),
  ]
}

function integrationLines(context: Context, each: DoctorReport['integrations'][number]): string[] {
  const { paint } = context
  const now = context.terminal.now()
  const drops = Object.entries(each.drops)
    .map(([reason, count]) => `${reason} ${count}`)
    .join(', ')
  return [
    '',
    `${paint.bold(`integration ${oneLine(each.id)}`)} (${oneLine(each.platform)})`,
    `  link    ${paintState(paint, oneLine(each.link))}${each.detail === undefined ? '' : `: ${oneLine(each.detail)}`}`,
    `  last    in ${relativeTime(each.last_in_at, now)}, out ${relativeTime(each.last_out_at, now)}`,
    `  all in  ${oneLine(completeText(each.complete))}${each.complete.late === 0 ? '' : `; ${each.complete.late} found late`}`,
    `  sends   ${each.sends_waiting} waiting, ${each.sends_failed} failed`,
    `  drops   ${drops === '' ? 'none' : oneLine(drops)}`,
    ...refusalLines(context, each.refusals),
    ...gateLines(context, each.gates, '  '),
  ]
}

/** What lies somewhere and does not move: turns that nobody saw, hosts that were sent away, tools that were left out. */
function stuckLines(context: Context, report: DoctorReport): string[] {
  const { paint } = context
  const now = context.terminal.now()
  const unseen = (report.unseen ?? []).map(({ turn, agent, host, since, why }) => {
    const where = host === null ? 'a host at another node' : oneLine(host)
    return `${paint.red('problem')} turn ${oneLine(turn)} of ${oneLine(agent)} lies at ${where} since ${relativeTime(since, now)}, and nothing shows that it was seen: ${oneLine(why)}`
  })
  const away = (report.turned_away ?? []).map(
    ({ reason, at }) => `${paint.red('turned away')} a host, ${relativeTime(at, now)}: ${oneLine(reason)}`,
  )
  const leftOut = (report.tools_left_out ?? []).map(
    ({ session, server, problem, at }) =>
      `${paint.red('tools left out')} of the service's server ${oneLine(server)} in session ${oneLine(session)}, ${relativeTime(at, now)}: ${oneLine(problem)}`,
  )
  return [...unseen, ...away, ...leftOut].flatMap((line) => ['', line])
}

function agentLines(context: Context, agent: DoctorReport['agents'][number]): string[] {
  const { paint } = context
  const now = context.terminal.now()
  const presence = paintState(paint, agent.state)
  const programs = (agent.processes ?? []).flatMap((one) => [
    `  program ${oneLine(one.name)}, pid ${one.pid}, since ${relativeTime(one.since, now)}${one.memory_bytes === null ? '' : `, ${Math.round(one.memory_bytes / 1_048_576)} MiB`}`,
    ...one.stderr.slice(-3).map((line) => `    stderr  ${oneLine(line)}`),
  ])
  const bindings = agent.bindings.flatMap((binding) => [
    `  from ${oneLine(binding.integration)} (${oneLine(binding.conversations)})`,
    ...gateLines(context, binding.gates, '    '),
  ])
  return [
    '',
    `${paint.bold(`agent ${oneLine(agent.id)}`)} (${oneLine(agent.connector)})`,
    `  state   ${presence}${agent.detail === undefined ? '' : `: ${oneLine(agent.detail)}`}`,
    `  queue   ${agent.queued} waiting, ${agent.approvals_pending} approvals pending, last message ${relativeTime(agent.last_message_at, now)}`,
    ...programs,
    ...(bindings.length > 0
      ? bindings
      : [`  ${paint.yellow('bound to nothing')}: nobody can reach it (inbound_bindings)`]),
  ]
}

function serverLines(context: Context, servers: readonly ServerView[]): string[] {
  const { paint } = context
  return servers.flatMap((each) => {
    const stamp = each.verified ? '' : ' (unverified: written by hand)'
    const source = each.plugin_source === null ? 'no plugin source' : `${each.plugin_source}${stamp}`
    const speaks = each.prefix === null ? 'declares no channel' : `speaks ${each.prefix}/channel`
    const relay = each.permission_relay ? ', relays permissions' : ''
    return [
      '',
      `${paint.bold(`server ${oneLine(each.name)}`)} (${oneLine(each.transport)})`,
      `  link    ${paintState(paint, oneLine(each.state))}${each.detail === undefined ? '' : `: ${oneLine(each.detail)}`}`,
      `  is      ${oneLine(each.program ?? 'unknown yet')}, ${speaks}${relay}; ${oneLine(source)}`,
      `  since   ${relativeTime(each.connected_at, context.terminal.now())}, started again ${each.restarts} times, ${each.noise} lines of noise`,
    ]
  })
}

function moduleLines(context: Context, modules: NonNullable<DoctorReport['modules']>): string[] {
  const { paint } = context
  return modules.flatMap(({ from, file, version, platforms, connectors, problem, changed, gone }) => {
    const brings = [...platforms, ...connectors].map(oneLine).join(', ')
    return [
      '',
      `${paint.bold(`module ${oneLine(from)}`)} ${oneLine(version ?? '')}`.trimEnd(),
      ...(file === null ? [] : [`  file    ${oneLine(file)}`]),
      problem === null ? `  brings  ${brings}` : `  ${paint.red('failed')}  ${oneLine(problem)}`,
      ...(gone
        ? [`  ${paint.yellow('gone')}    no such file: what was loaded runs until the next start`]
        : []),
      ...(changed && !gone
        ? [`  ${paint.yellow('changed')} since it was loaded: restart the daemon to use it`]
        : []),
    ]
  })
}

function refusalLines(
  context: Context,
  refusals: DoctorReport['integrations'][number]['refusals'] | undefined,
): string[] {
  return (refusals ?? []).map(({ reason, count, text, key }) => {
    const where = key === '' ? '' : context.paint.dim(` [${oneLine(key)}]`)
    return `  refused ${count} × ${oneLine(reason)}: ${oneLine(text)}${where}`
  })
}

function gateLines(context: Context, gates: readonly GateView[], indent: string): string[] {
  const { paint } = context
  return gates.map((gate) => {
    const mark =
      gate.flagged === true ? paint.yellow('open') : gate.pass ? paint.green('pass') : paint.red('stop')
    const key = gate.key === '' ? '' : paint.dim(` [${oneLine(gate.key)}]`)
    return `${indent}${mark}  ${oneLine(gate.gate)}: ${oneLine(gate.reason)}${key}`
  })
}
