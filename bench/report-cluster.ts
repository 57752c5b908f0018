// Tables for people: several nodes, the channel over stdio, and how quiet the machine was.
import Table from 'cli-table3'
import type { AcrossReport } from './measure/across.ts'
import type { ChannelReport } from './measure/channel.ts'
import type { ClaimsReport } from './measure/claims.ts'
import { CASES, type ClusterCase, type ClusterReport } from './measure/cluster.ts'
import type { NotifyReport } from './measure/notify.ts'
import type { RoundWeather } from './weather.ts'

export interface ClusterParts {
  readonly nodes: ClusterReport
  readonly across: AcrossReport
  readonly notify: NotifyReport
}

const LABELS: Readonly<Record<ClusterCase, string>> = {
  sqlite: '1 node, SQLite',
  postgres_1: '1 node, PostgreSQL',
  postgres_2: '2 nodes, PostgreSQL',
  postgres_3: '3 nodes, PostgreSQL',
}

export function clusterTable({ nodes }: ClusterParts): string {
  const head = ['same cores for all', 'intake/s', 'p99 ms', 'through/s', 'CPU µs in', 'CPU µs through']
  const table = new Table({
    head: [...head, 'of it database', 'WAL B'],
    style: { head: [], border: [] },
  })
  for (const name of CASES) {
    const one = nodes.cases[name]
    const cells = [
      one.intake_per_second,
      one.p99_ms,
      one.end_to_end_per_second,
      one.intake_cpu_us,
      one.cpu_us,
      name === 'sqlite' ? null : one.database_cpu_us,
      one.wal_bytes,
    ]
    table.push([LABELS[name], ...cells.map(shown)])
  }
  return table.toString()
}

export function clusterLines({ nodes, across, notify }: ClusterParts): string[] {
  const { ratios } = nodes
  return [
    `${nodes.rounds} rounds of ${nodes.messages} messages; medians of the rounds' ratios: PostgreSQL over SQLite ` +
      `${shown(ratios.intake_postgres_vs_sqlite ?? null)}× intake, ${shown(ratios.end_to_end_postgres_vs_sqlite ?? null)}× through, ` +
      `${shown(ratios.cpu_postgres_vs_sqlite ?? null)}× CPU; 3 nodes over 1: ${shown(ratios.intake_3_vs_1 ?? null)}× intake, ` +
      `${shown(ratios.end_to_end_3_vs_1 ?? null)}× through, ${shown(ratios.cpu_3_vs_1 ?? null)}× CPU`,
    `POST → notification on a host: p50 ${across.same_node_p50_ms} ms, p99 ${across.same_node_p99_ms} ms on its own node; ` +
      `p50 ${across.other_node_p50_ms} ms, p99 ${across.other_node_p99_ms} ms through another: ${across.added_ms} ms added`,
    `commits of ${notify.connections} connections: ${shown(notify.plain_commits_per_second)}/s, with a NOTIFY in each ` +
      `${shown(notify.notifying_commits_per_second)}/s (${shown(notify.notifying_vs_plain)}×)`,
  ]
}

export function claimLines(claims: ClaimsReport): string[] {
  const { wake, per_second: rate, ratios } = claims
  return [
    `claims a second, ${claims.rounds} rounds: ${CASES.map((name) => `${LABELS[name]} ${shown(rate[name])}`).join('; ')}; ` +
      `a bare queue with SKIP LOCKED ${shown(claims.bare_queue_per_second)}`,
    `PostgreSQL over SQLite ${shown(ratios.postgres_vs_sqlite)}×, over the bare queue ${shown(claims.vs_bare_queue)}×; ` +
      `2 nodes ${shown(ratios['2_vs_1'])}×, 3 nodes ${shown(ratios['3_vs_1'])}× of one; ` +
      `${shown(claims.asked_per_claim.postgres_3)} asked for one won`,
    `16 partitions of turns over whole tables: ${shown(claims.partitioned.receive_cpu)}× CPU to receive, ` +
      `${shown(claims.partitioned.claim_cpu)}× to claim`,
    `wake-up of another node: p50 ${shown(wake.after_commit_p50_ms)} ms, p99 ${shown(wake.after_commit_p99_ms)} ms after the ` +
      `commit is known, p50 ${shown(wake.whole_p50_ms)} ms, p99 ${shown(wake.whole_p99_ms)} ms from the call; ` +
      `${wake.heard} of ${wake.written} heard`,
  ]
}

export function channelLines(channel: ChannelReport): string[] {
  const { notifications_per_second: rate, start_ms: start, rss_mb: rss, vs_bare: ratio } = channel
  return [
    `channel over stdio: ${shown(rate.bare)} notifications/s from a bare SDK server, ${shown(rate.shim)} through the shim ` +
      `(${shown(ratio.shim_notifications)}×), ${shown(rate.daemon)} out of the inbox (${shown(ratio.daemon_notifications)}×)`,
    `shim start to initialize ${shown(start.shim)} ms (bare ${shown(start.bare)} ms, ${shown(ratio.start)}×), ` +
      `memory ${shown(rss.shim)} MB (bare ${shown(rss.bare)} MB, ${shown(ratio.rss)}×)`,
  ]
}

export function weatherLines(rounds: readonly RoundWeather[]): string[] {
  if (rounds.length === 0) return []
  const disturbed = rounds.filter((one) => one.disturbed)
  const most = Math.max(...rounds.map((one) => one.foreign_cores ?? 0))
  if (disturbed.length === 0) return [`${rounds.length} rounds, none disturbed by others`]
  const named = [...new Set(disturbed.map((one) => one.part))].map((part) => {
    const numbers = disturbed.filter((one) => one.part === part).map((one) => one.round)
    return `${part} ${numbers.join(', ')}`
  })
  return [
    `${disturbed.length} of ${rounds.length} rounds were disturbed by others (up to ${most} cores): ${named.join('; ')}`,
  ]
}

function shown(value: number | null): string {
  return value === null ? '–' : String(value)
}
