// `switchboard doctor`: the live path, not just the file. Each gate with pass or the reason and the key to change.
import type { DoctorReport, GateView, ServerView } from '../../contract/index.ts'
import { CLAUDE_GATES, skippedChannels } from '../claude-gates.ts'
import type { Context, Run } from '../context.ts'
import { usage } from '../failure.ts'
import { paintState } from '../output/colour.ts'
import { completeText } from '../output/complete.ts'
import { renderNodes } from '../output/nodes.ts'
import { openDoors, problemsOf } from '../output/problems.ts'
import { renderTable } from '../output/table.ts'
import { counted, oneLine } from '../output/text.ts'
import { relativeTime } from '../output/time.ts'
import { scheduleColumns } from './schedules.ts'

export interface DoctorOptions {
  readonly security?: boolean
  readonly fix?: boolean
  readonly verbose?: boolean
}

export const doctor: Run<DoctorOptions> = async (context, args, options) => {
  if (options.security === true) {
    const { doctorSecurity } = await import('./doctor-security.ts')
    return doctorSecurity(context, args, options)
  }
  if (options.fix === true) throw usage('--fix mends what --security finds', 'add: --security')
  const daemon = await context.daemon()
  const report = await daemon.call<DoctorReport>('GET', '/api/doctor')
  const claude = claudeView(context, report)
  if (context.json) await context.printJson(claude === null ? report : { ...report, claude_code: claude })
  else {
    const lines = [...summary(context, report), ...claudeLines(context, claude)]
    if (options.verbose === true) lines.push('', describe(context, report))
    await context.print(lines.join('\n'))
  }
  return report.ok ? 0 : 1
}

/** What is wrong and what mends it, and what is open; all the rest is for --verbose. */
function summary(context: Context, report: DoctorReport): readonly string[] {
  const { paint } = context
  const hosted = report.agents.filter(isHosted).map(({ id }) => id)
  const problems = problemsOf(report, hosted)
  const lines = problems.flatMap(({ text, mend }, at) => [
    `${paint.red(`${at + 1}.`)} ${text}`,
    `   ${paint.cyan('→')} ${mend}`,
  ])
  const doors = openDoors(report).map((text) => `${paint.yellow('open')} ${text}`)
  const warnings = report.config.warnings.map((text) => `${paint.yellow('warning')} ${oneLine(text)}`)
  const counts = `${counted(report.integrations.length, 'integration')}, ${counted(report.agents.length, 'agent')}`
  const head =
    problems.length > 0
      ? paint.red(`${counted(problems.length, 'problem')}:`)
      : report.ok
        ? `${paint.green('All is well:')} ${counts}.`
        : paint.red('Something needs a hand: switchboard doctor --verbose')
  return [
    head,
    ...lines,
    ...doors,
    ...warnings,
    paint.dim('every gate, with what passes: switchboard doctor --verbose'),
  ]
}

function describe(context: Context, report: DoctorReport): string {
  const { paint } = context
  const now = context.terminal.now()
  const lines = [
    `config  ${oneLine(report.config.file ?? 'the embedded default')} (digest ${report.config.digest.slice(0, 12)})`,
    `store   ${oneLine(`${report.store.kind}, ${report.store.durability}`)}`,
  ]
  if (report.config.problem !== null) {
    lines.push(
      `${paint.red('problem')} ${oneLine(report.config.problem)} (the configuration before it stays in force)`,
    )
  }
  if (report.store.problem !== undefined)
    lines.push(`${paint.red('problem')} ${oneLine(report.store.problem)}`)
  // A daemon of an older version tells nothing of it.
  const ledger = report.ledger?.problem ?? null
  if (ledger !== null) lines.push(`${paint.red('problem')} ${oneLine(ledger)}`)
  if (report.cluster !== undefined) {
    const width = context.terminal.columns
    lines.push('', renderNodes(report.cluster.nodes, { paint, width, now }))
    for (const warning of report.cluster.warnings)
      lines.push(`${paint.yellow('cluster')} ${oneLine(warning)}`)
  }
  for (const warning of report.config.warnings) lines.push(`${paint.yellow('warning')} ${oneLine(warning)}`)
  lines.push(...moduleLines(context, report.modules ?? []))
  for (const each of report.integrations) {
    const drops = Object.entries(each.drops)
      .map(([reason, count]) => `${reason} ${count}`)
      .join(', ')
    lines.push(
      '',
      `${paint.bold(`integration ${oneLine(each.id)}`)} (${oneLine(each.platform)})`,
      `  link    ${paintState(paint, oneLine(each.link))}${each.detail === undefined ? '' : `: ${oneLine(each.detail)}`}`,
      `  last    in ${relativeTime(each.last_in_at, now)}, out ${relativeTime(each.last_out_at, now)}`,
      `  all in  ${oneLine(completeText(each.complete))}${each.complete.late === 0 ? '' : `; ${each.complete.late} found late`}`,
      `  sends   ${each.sends_waiting} waiting, ${each.sends_failed} failed`,
      `  drops   ${drops === '' ? 'none' : oneLine(drops)}`,
      ...refusalLines(context, each.refusals),
      ...gateLines(context, each.gates, '  '),
    )
  }
  for (const { turn, agent, host, since, why } of report.unseen ?? []) {
    const where = host === null ? 'a host at another node' : oneLine(host)
    lines.push(
      '',
      `${paint.red('problem')} turn ${oneLine(turn)} of ${oneLine(agent)} lies at ${where} since ${relativeTime(since, now)}, and nothing shows that it was seen: ${oneLine(why)}`,
    )
  }
  for (const { reason, at } of report.turned_away ?? [])
    lines.push('', `${paint.red('turned away')} a host, ${relativeTime(at, now)}: ${oneLine(reason)}`)
  for (const { session, server, problem, at } of report.tools_left_out ?? [])
    lines.push(
      '',
      `${paint.red('tools left out')} of the service's server ${oneLine(server)} in session ${oneLine(session)}, ${relativeTime(at, now)}: ${oneLine(problem)}`,
    )
  lines.push(...serverLines(context, report.servers ?? []))
  for (const agent of report.agents) {
    const presence = paintState(paint, agent.attached ? 'attached' : 'absent')
    lines.push(
      '',
      `${paint.bold(`agent ${oneLine(agent.id)}`)} (${oneLine(agent.connector)})`,
      `  state   ${presence}${agent.detail === undefined ? '' : `: ${oneLine(agent.detail)}`}`,
      `  queue   ${agent.queued} waiting, ${agent.approvals_pending} approvals pending, last message ${relativeTime(agent.last_message_at, now)}`,
    )
    for (const one of agent.processes ?? [])
      lines.push(
        `  program ${oneLine(one.name)}, pid ${one.pid}, since ${relativeTime(one.since, now)}${one.memory_bytes === null ? '' : `, ${Math.round(one.memory_bytes / 1_048_576)} MiB`}`,
        ...one.stderr.slice(-3).map((line) => `    stderr  ${oneLine(line)}`),
      )
    if (agent.bindings.length === 0) {
      lines.push(`  ${paint.yellow('bound to nothing')}: nobody can reach it (inbound_bindings)`)
    }
    for (const binding of agent.bindings) {
      lines.push(`  from ${oneLine(binding.integration)} (${oneLine(binding.conversations)})`)
      lines.push(...gateLines(context, binding.gates, '    '))
    }
  }
  if (report.schedules !== undefined)
    lines.push(
      '',
      renderTable(report.schedules, scheduleColumns(context), { paint, width: context.terminal.columns }),
    )
  return lines.join('\n')
}

/** A person starts its host. */
function isHosted({ connector }: DoctorReport['agents'][number]): boolean {
  return connector === 'channel'
}

/** What Claude Code itself says, and its gates, where an agent of that kind waits for it. Null: there is none. */
function claudeView(context: Context, report: DoctorReport) {
  const unseen = new Set((report.unseen ?? []).map(({ agent }) => agent))
  const waiting = report.agents.filter(
    (agent) => isHosted(agent) && (!agent.attached || unseen.has(agent.id)),
  )
  if (waiting.length === 0) return null
  return {
    agents: waiting.map(({ id }) => id),
    skipped: skippedChannels(context.terminal.env),
    gates: CLAUDE_GATES.map(({ gate, todo }) => ({ gate, todo })),
  }
}

function claudeLines(context: Context, view: ReturnType<typeof claudeView>): string[] {
  if (view === null) return []
  const { paint } = context
  const said = view.skipped.map(
    ({ gate, reason, todo }) =>
      `  ${paint.red('stop')}  ${oneLine(gate)}: ${oneLine(reason)} → ${oneLine(todo)}`,
  )
  const all = view.gates.map(({ gate, todo }, at) => `  ${at + 1}. ${gate}: ${todo}`)
  return [
    '',
    paint.bold(`Claude Code's own gates (for ${view.agents.map(oneLine).join(', ')})`),
    ...(said.length > 0
      ? said
      : ['  it closes them without telling us; in its order, with what opens each:', ...all]),
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
