// The report of a run: one object for scripts, a table for people.
import Table from 'cli-table3'
import type { Machine } from './machine.ts'
import type { ChannelReport } from './measure/channel.ts'
import type { ChorusFigures } from './measure/chorus.ts'
import type { ClaimsReport } from './measure/claims.ts'
import type { GrowthReport } from './measure/growth.ts'
import type { IntakeReport, ServerName } from './measure/intake.ts'
import { type McpReport, mcpLines } from './measure/mcp.ts'
import type { MicroReport } from './measure/micro.ts'
import type { ReadyReport } from './measure/ready.ts'
import { type ScaleFigures, scaleLines } from './measure/scale.ts'
import { type SizeFigures, sizeLine } from './measure/sizes.ts'
import type { SlackFigures } from './measure/slack.ts'
import type { AgentFigures } from './measure/through-agent.ts'
import {
  type ClusterParts,
  channelLines,
  claimLines,
  clusterLines,
  clusterTable,
  weatherLines,
} from './report-cluster.ts'
import type { PartRun } from './rounds.ts'
import { type Judgement, judge } from './targets.ts'
import type { RoundWeather } from './weather.ts'

/** The results of the parts. Null or empty for a part that was not measured. */
export interface Sections {
  readonly intake: IntakeReport
  readonly ready: ReadyReport | null
  readonly rss_mb: number | null
  readonly growth: GrowthReport | null
  readonly sizes: readonly SizeFigures[] | null
  readonly scale: ScaleFigures | null
  readonly micro: MicroReport | null
  readonly chorus: readonly ChorusFigures[] | null
  readonly slack: SlackFigures | null
  readonly http: readonly AgentFigures[] | null
  readonly llm: readonly AgentFigures[] | null
  readonly claudeCode: readonly AgentFigures[] | null
  readonly channel: ChannelReport | null
  readonly mcp: McpReport | null
  readonly claims: ClaimsReport | null
  readonly cluster: ClusterParts | null
}

export interface BenchReport extends Sections {
  readonly ready_ms: number | null
  readonly ledger_growth: number | null
  readonly cpu_us: Readonly<Record<ServerName, number | null>>
  readonly fdatasync_p50_ms: number
  /** The start of the run. */
  readonly at: string
  readonly parts: readonly PartRun[]
  readonly machine: Machine
  /** The other load of the machine, round by round. */
  readonly weather: readonly RoundWeather[]
  readonly quick: boolean
  readonly warnings: readonly string[]
}

/** The section of a run without the part `intake`. */
export const NO_INTAKE: IntakeReport = {
  vs_bare: null,
  draining_vs_bare: null,
  vs_insert: null,
  vs_chat_sdk: null,
  vs_bolt: null,
  p99_ms: null,
  cpu_vs_bare: null,
  draining_cpu_vs_bare: null,
  rss_loaded_mb: null,
  servers: { bare: null, insert: null, chat_sdk: null, bolt: null, switchboard: null, draining: null },
  quiet: null,
  rounds: [],
}

export const NO_SECTIONS: Sections = {
  intake: NO_INTAKE,
  ready: null,
  rss_mb: null,
  growth: null,
  sizes: null,
  scale: null,
  micro: null,
  chorus: null,
  slack: null,
  http: null,
  llm: null,
  claudeCode: null,
  channel: null,
  mcp: null,
  claims: null,
  cluster: null,
}

export const SERVERS: readonly (readonly [ServerName, string])[] = [
  ['bare', '(a) bare node:http, stores nothing'],
  ['insert', '(b) the same, one grouped FULL insert'],
  ['chat_sdk', '(c) Vercel Chat SDK, in memory'],
  ['bolt', '(c) Slack Bolt, in memory'],
  ['switchboard', '(d) Switchboard, agent absent'],
  ['draining', '(d) Switchboard, demo agent draining'],
]

export function asJson(report: BenchReport): string {
  return JSON.stringify({ ...report, targets: judge(report) })
}

export function asTables(report: BenchReport): string {
  const parts = [machineLine(report)]
  if (report.intake.rounds.length > 0) parts.push(serverTable(report), `${spread(report)}\n`)
  const judged = judge(report).filter((one) => one.value !== null)
  if (judged.length > 0) parts.push(targetTable(judged))
  const others = otherLines(report)
  if (others.length > 0) parts.push(others.join('\n'))
  if (report.channel !== null) parts.push(...channelLines(report.channel))
  if (report.mcp !== null) parts.push(...mcpLines(report.mcp))
  if (report.scale !== null) parts.push(...scaleLines(report.scale))
  if (report.claims !== null) parts.push(...claimLines(report.claims))
  if (report.cluster !== null) parts.push(clusterTable(report.cluster), ...clusterLines(report.cluster))
  parts.push(...report.parts.flatMap(partLine), ...weatherLines(report.weather))
  parts.push(...judge(report).flatMap(missLine))
  parts.push(...report.warnings.map((warning) => `warning: ${warning}`))
  return parts.join('\n')
}

function machineLine({ machine, fdatasync_p50_ms, quick }: BenchReport): string {
  const pinned = machine.pinned ? 'server on core 0, load on core 1' : 'not pinned'
  const short = quick ? ' · QUICK RUN, no proof' : ''
  return (
    `${machine.cores} cores (${machine.cpu}), Node ${machine.node}, ${machine.filesystem}, ` +
    `fdatasync p50 ${fdatasync_p50_ms} ms, load ${machine.load_1m} before the run, ${pinned}${short}`
  )
}

function serverTable(report: BenchReport): string {
  const table = new Table({
    head: ['32 connections', 'msg/s', 'p50 ms', 'p99 ms', 'CPU µs/msg', 'disk B/msg', 'answered/s'],
    style: { head: [], border: [] },
  })
  for (const [name, label] of SERVERS) {
    const one = report.intake.servers[name]
    const cells = one && [
      one.per_second,
      one.p50_ms,
      one.p99_ms,
      one.cpu_us,
      one.disk_bytes,
      one.end_to_end_per_second,
    ]
    table.push([label, ...(cells ?? Array.from({ length: 6 }, () => null)).map(shown)])
  }
  return table.toString()
}

function spread({ intake }: BenchReport): string {
  const all = intake.rounds.flatMap((round) => (typeof round.vs_bare === 'number' ? [round.vs_bare] : []))
  const calm =
    intake.quiet === null ? '' : `; in its ${intake.quiet.rounds} quiet rounds ${shown(intake.quiet.vs_bare)}`
  return `${intake.rounds.length} rounds; vs bare from ${Math.min(...all)} to ${Math.max(...all)}, CPU alone ${shown(intake.cpu_vs_bare)}, draining ${shown(intake.draining_cpu_vs_bare)}${calm}`
}

function targetTable(judgements: readonly Judgement[]): string {
  const table = new Table({ head: ['figure', 'measured', 'target', ''], style: { head: [], border: [] } })
  for (const one of judgements) {
    const verdict = one.met === null ? '' : one.met ? 'met' : 'MISSED'
    table.push([one.label, `${one.value}${one.unit}`, one.target ?? '–', verdict])
  }
  return table.toString()
}

function otherLines(report: BenchReport): string[] {
  const { intake, ready, growth, micro, chorus, http, slack, llm, claudeCode } = report
  const lines: string[] = []
  if (intake.rss_loaded_mb !== null)
    lines.push(`resident memory under load: ${intake.rss_loaded_mb} MB (highest)`)
  if (ready !== null) lines.push(`start in a used folder: ${ready.again_ms} ms`)
  if (growth !== null) {
    const { empty, grown } = growth
    lines.push(
      `ledger of ${growth.turns.toLocaleString('en')} turns (${growth.database_mb} MB, filled in ${growth.fill_seconds} s): ` +
        `intake p50 ${empty.p50_ms} → ${grown.p50_ms} ms, p99 ${empty.p99_ms} → ${grown.p99_ms} ms, ` +
        `status ${empty.status_ms} → ${grown.status_ms} ms, ready after ${growth.ready_ms} ms`,
      `console, grown over empty: Now ${growth.console_now} (${empty.now_ms} → ${grown.now_ms} ms), ` +
        `Conversations ${growth.console_conversations} (${empty.conversations_ms} → ${grown.conversations_ms} ms)`,
    )
  }
  lines.push(...(report.sizes ?? []).map(sizeLine))
  if (micro !== null) lines.push(`gate ${micro.gate_us} µs, wrap ${micro.wrap_us} µs a message`)
  for (const one of chorus ?? []) {
    lines.push(
      `message → Chorus agent → callback → visible, ${one.conversations} conversations: p50 ${one.p50_ms} ms, ` +
        `p99 ${one.p99_ms} ms; the agent alone ${one.bare_p50_ms} and ${one.bare_p99_ms} ms: ` +
        `${one.times_bare}×, ${one.overhead_ms} ms added; a bare relay ${one.bare_relay_p50_ms} ms: ${one.times_relay}×, a durable one ${one.durable_relay_p50_ms} ms: ${one.times_durable_relay}×; ${one.per_second} messages/s, alone ${one.bare_per_second}: ${one.rate_vs_bare}×`,
    )
  }
  for (const one of http ?? []) {
    lines.push(
      `message → http agent → answer visible, ${one.conversations} conversations: p50 ${one.p50_ms} ms, ` +
        `a bare fetch ${one.bare_p50_ms} ms: ${one.ratio}×, ${one.overhead_ms} ms added a turn`,
    )
  }
  if (slack !== null) {
    const { per_second, vs_webhook, cpu_vs_webhook } = slack
    lines.push(
      `intake from Slack: Socket Mode ${shown(per_second.socket)}/s, Events API ${shown(per_second.events)}/s, ` +
        `the webhook ${shown(per_second.webhook)}/s: ${shown(vs_webhook.socket)}× and ${shown(vs_webhook.events)}× of it ` +
        `(CPU a message ${shown(cpu_vs_webhook.socket)}× and ${shown(cpu_vs_webhook.events)}×)`,
    )
  }
  for (const one of llm ?? []) {
    lines.push(
      `message → model → tool → model → answer visible, ${one.conversations} conversations: p50 ${one.p50_ms} ms, ` +
        `a bare SDK loop ${one.bare_p50_ms} ms: ${one.ratio}×, ${one.overhead_ms} ms added a turn`,
    )
  }
  for (const one of claudeCode ?? []) {
    lines.push(
      `message → Claude Code (its double) → answer visible, ${one.conversations} conversations: p50 ${one.p50_ms} ms, ` +
        `a bare driver ${one.bare_p50_ms} ms: ${one.ratio}×, ${one.overhead_ms} ms added a turn`,
    )
  }
  return lines
}

function partLine({ part, seconds, rounds, wanted }: PartRun): string[] {
  const cut = rounds !== null && wanted !== null && rounds < wanted ? `, ${rounds} of ${wanted} rounds` : ''
  return [`${part}: ${seconds} s${cut}`]
}

function missLine(one: Judgement): string[] {
  if (one.missing === null) return []
  return [`missed ${one.key}: ${one.missing}${one.why === null ? '' : ` — ${one.why}`}`]
}

function shown(value: number | null): string {
  return value === null ? '–' : String(value)
}
