// `switchboard doctor`: the live path, not just the file. Each gate with pass or the reason and the key to change.
import type { DoctorReport, ModuleStanding } from '../../../contract/index.ts'
import { wordsIn } from '../../../words/index.ts'
import { CLAUDE_GATES, skippedChannels } from '../../claude-gates.ts'
import type { Context, Run } from '../../context.ts'
import { usage } from '../../failure.ts'
import { doctorReport } from '../../output/doctor-report.ts'
import { oneLine } from '../../output/text.ts'

export interface DoctorOptions {
  readonly security?: boolean
  readonly fix?: boolean
  readonly sendTest?: boolean
  readonly verbose?: boolean
}

export const doctor: Run<DoctorOptions> = async (context, args, options) => {
  if (options.security === true) {
    const { doctorSecurity } = await import('./doctor-security.ts')
    return doctorSecurity(context, args, options)
  }
  if (options.sendTest === true) throw usage('--send-test tries what --security judges', 'add: --security')
  if (options.fix === true) throw usage('--fix mends what --security finds', 'add: --security')
  const daemon = await context.daemon()
  const report = await daemon.ask('GET /api/doctor')
  const claude = claudeView(context, report)
  if (context.json) await context.printJson(claude === null ? report : { ...report, claude_code: claude })
  else {
    const lines = [...summary(context, report), ...claudeLines(context, claude)]
    if (options.verbose === true) lines.push('', doctorReport(context, report))
    await context.print(lines.join('\n'))
  }
  return report.ok ? 0 : 1
}

/** What is wrong and what mends it, what is open, and whose code runs here; all the rest is for --verbose. */
function summary(context: Context, report: DoctorReport): readonly string[] {
  const { paint } = context
  const words = wordsIn().reports.doctor
  const problems = report.problems.filter(({ severity }) => severity === 'problem')
  const cautions = report.problems.filter(({ severity }) => severity === 'warning')
  const lines = problems.flatMap(({ text, remedy }, at) => [
    `${paint.red(`${at + 1}.`)} ${oneLine(text)}`,
    `   ${paint.cyan('→')} ${oneLine(remedy)}`,
  ])
  const doors = openGates(report).map((text) => `${paint.yellow(words.open)} ${text}`)
  const warning = (text: string) => `${paint.yellow(words.warning)} ${oneLine(text)}`
  const warnings = [
    ...report.config.warnings.map(warning),
    ...cautions.flatMap(({ text, remedy }) => [warning(text), `   ${paint.cyan('→')} ${oneLine(remedy)}`]),
  ]
  const { integrations, agents } = report
  const counts = words.counts({ integrations: integrations.length, agents: agents.length })
  const head =
    problems.length > 0
      ? paint.red(words.problemsFollow({ count: problems.length }))
      : cautions.length > 0
        ? `${paint.yellow(words.onlyWarnings({ count: cautions.length }))} ${counts}.`
        : `${paint.green(words.allWell)} ${counts}.`
  return [
    head,
    ...lines,
    ...doors,
    ...warnings,
    ...(report.modules ?? []).map(moduleLine),
    paint.dim(words.verboseHint),
  ]
}

/** What is open wider than most would want: no problem, and not to be overlooked. */
function openGates({ integrations, agents }: DoctorReport): readonly string[] {
  const paths = [
    ...integrations,
    ...agents.flatMap(({ bindings }) =>
      bindings.map(({ integration, gates }) => ({ id: integration, gates })),
    ),
  ]
  const open = paths.flatMap(({ id, gates }) =>
    gates
      .filter(({ flagged }) => flagged === true)
      .map(({ gate, reason, key }) => oneLine(`${id}: ${gate}: ${reason}${key === '' ? '' : ` [${key}]`}`)),
  )
  return [...new Set(open)]
}

function moduleLine({ from, version, platforms, connectors, problem }: ModuleStanding): string {
  const words = wordsIn().reports.doctor
  const brings = problem === null ? [...platforms, ...connectors].map(oneLine).join(', ') : words.notUsed
  return words.module({
    from: oneLine(from),
    version: version === null ? null : oneLine(version),
    brings,
  })
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
  const words = wordsIn().reports.doctor
  const said = view.skipped.map(
    ({ gate, reason, todo }) =>
      `  ${paint.red(words.stop)}  ${oneLine(gate)}: ${oneLine(reason)} → ${oneLine(todo)}`,
  )
  const all = view.gates.map(({ gate, todo }, at) => `  ${at + 1}. ${gate}: ${todo}`)
  return [
    '',
    paint.bold(words.claudeGates({ agents: view.agents.map(oneLine).join(', ') })),
    ...(said.length > 0 ? said : [`  ${words.claudeSilent}`, ...all]),
  ]
}
