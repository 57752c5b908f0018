// The targets, and how far a run is from them. A missed target has its size and, if known, its cause.
import type { HostingFigures } from './measure/mcp.ts'
import { NOTES } from './notes.ts'
import type { Sections } from './report.ts'
import { GROWTH_TARGETS } from './targets-growth.ts'

export interface Target {
  readonly key: string
  readonly label: string
  readonly unit: string
  /** Without `atLeast` and `atMost` the value is only reported. */
  readonly atLeast?: number
  readonly atMost?: number
  readonly value: (report: Sections) => number | null
  /** For a ratio: the measured value, and below the value that it is compared with, in words. */
  readonly now?: (report: Sections) => string | null
  readonly against?: (report: Sections) => string | null
}

/** The two tables of the page: the whole way of a message, and growth. */
export type Table = 'way' | 'growth'

export interface Judgement {
  readonly key: string
  readonly table: Table
  readonly label: string
  readonly unit: string
  readonly value: number | null
  readonly now: string | null
  readonly against: string | null
  /** Null without a target. The value is then only reported. */
  readonly target: string | null
  /** Target over value, or value over target if more is better. The target is met at 1 and above. */
  readonly share: number | null
  readonly met: boolean | null
  /** How much is missing, in words. Null when the target is met. */
  readonly missing: string | null
  readonly why: string | null
}

const chorusOf = (report: Sections, conversations: number) =>
  report.chorus?.find((one) => one.conversations === conversations)
const hosted = (report: Sections, servers: number): HostingFigures | undefined =>
  report.mcp?.hosting.find((one) => one.servers === servers)

const WAYS: readonly Target[] = [
  {
    key: 'cluster.end_to_end',
    label: 'PostgreSQL, answered end to end, one node',
    unit: '×',
    atLeast: 0.6,
    value: (r) => r.cluster?.nodes.ratios.end_to_end_postgres_vs_sqlite ?? null,
    now: (r) => rate(r.cluster?.nodes.cases.postgres_1.end_to_end_per_second),
    against: (r) => rate(r.cluster?.nodes.cases.sqlite.end_to_end_per_second, 'SQLite'),
  },
  {
    key: 'cluster.received',
    label: 'PostgreSQL, received',
    unit: '×',
    atLeast: 0.8,
    value: (r) => r.cluster?.nodes.ratios.intake_postgres_vs_sqlite ?? null,
    now: (r) => rate(r.cluster?.nodes.cases.postgres_1.intake_per_second),
    against: (r) => rate(r.cluster?.nodes.cases.sqlite.intake_per_second, 'SQLite'),
  },
  {
    key: 'claims.vs_sqlite',
    label: 'PostgreSQL, claims of lanes',
    unit: '×',
    atLeast: 0.6,
    value: (r) => r.claims?.ratios.postgres_vs_sqlite ?? null,
    now: (r) => rate(r.claims?.per_second.postgres_1),
    against: (r) =>
      join(
        rate(r.claims?.per_second.sqlite, 'SQLite'),
        rate(r.claims?.bare_queue_per_second, 'plain SKIP LOCKED'),
      ),
  },
  {
    key: 'cluster.cpu_3_vs_1',
    label: 'CPU a message, three nodes over one',
    unit: '×',
    atMost: 1.15,
    value: (r) => r.cluster?.nodes.ratios.cpu_3_vs_1 ?? null,
    now: (r) => micros(r.cluster?.nodes.cases.postgres_3.cpu_us),
    against: (r) => micros(r.cluster?.nodes.cases.postgres_1.cpu_us, 'one node'),
  },
  {
    key: 'chorus.one',
    label: 'Chorus, one conversation',
    unit: '×',
    atMost: 5,
    value: (r) => chorusOf(r, 1)?.times_bare ?? null,
    now: (r) => millis(chorusOf(r, 1)?.p50_ms),
    against: (r) => millis(chorusOf(r, 1)?.bare_p50_ms, 'bare loop'),
  },
  {
    key: 'chorus.relay',
    label: 'the same, against a bare relay in a process of its own',
    unit: '×',
    value: (r) => chorusOf(r, 1)?.times_relay ?? null,
    now: (r) => millis(chorusOf(r, 1)?.p50_ms),
    against: (r) => millis(chorusOf(r, 1)?.bare_relay_p50_ms, 'bare relay'),
  },
  {
    key: 'chorus.durable_relay',
    label: 'the same, against a relay that only has both words on the disk before they go on',
    unit: '×',
    value: (r) => chorusOf(r, 1)?.times_durable_relay ?? null,
    now: (r) => millis(chorusOf(r, 1)?.p50_ms),
    against: (r) => millis(chorusOf(r, 1)?.durable_relay_p50_ms, 'durable relay'),
  },
  {
    key: 'chorus.floor',
    label: 'that relay itself, against the bare loop',
    unit: '×',
    value: (r) => chorusOf(r, 1)?.durable_relay_times_bare ?? null,
    now: (r) => millis(chorusOf(r, 1)?.durable_relay_p50_ms),
    against: (r) => millis(chorusOf(r, 1)?.bare_p50_ms, 'bare loop'),
  },
  {
    key: 'chorus.many',
    label: 'Chorus, 256 conversations',
    unit: '×',
    atLeast: 0.15,
    value: (r) => chorusOf(r, 256)?.rate_vs_bare ?? null,
    now: (r) => rate(chorusOf(r, 256)?.per_second),
    against: (r) => rate(chorusOf(r, 256)?.bare_per_second, 'bare loop'),
  },
  {
    key: 'channel.from_inbox',
    label: 'host over stdio, from the inbox',
    unit: '×',
    atLeast: 0.25,
    value: (r) => r.channel?.vs_bare.daemon_notifications ?? null,
    now: (r) => rate(r.channel?.notifications_per_second.daemon),
    against: (r) => rate(r.channel?.notifications_per_second.bare, 'bare SDK server'),
  },
  ...[1, 50].map(
    (servers): Target => ({
      key: `mcp.hosted_${servers}`,
      label: `${servers} hosted channel server${servers === 1 ? '' : 's'} into the inbox`,
      unit: '×',
      atLeast: 0.45,
      value: (r) => hosted(r, servers)?.vs_bare ?? null,
      now: (r) => rate(hosted(r, servers)?.per_second),
      against: (r) => rate(hosted(r, servers)?.bare_per_second, 'bare client'),
    }),
  ),
  {
    key: 'intake.vs_bare',
    label: 'intake, agent absent, of bare node:http',
    unit: '×',
    atLeast: 0.65,
    value: (r) => r.intake.vs_bare,
    now: (r) => rate(r.intake.servers.switchboard?.per_second),
    against: (r) => rate(r.intake.servers.bare?.per_second, 'bare'),
  },
  {
    key: 'intake.draining_vs_bare',
    label: 'intake, demo agent draining, of bare',
    unit: '×',
    atLeast: 0.4,
    value: (r) => r.intake.draining_vs_bare,
    now: (r) => rate(r.intake.servers.draining?.per_second),
    against: (r) => rate(r.intake.servers.bare?.per_second, 'bare'),
  },
  {
    key: 'intake.vs_insert',
    label: 'intake of one grouped FULL insert',
    unit: '×',
    atLeast: 0.65,
    value: (r) => r.intake.vs_insert,
    now: (r) => rate(r.intake.servers.switchboard?.per_second),
    against: (r) => rate(r.intake.servers.insert?.per_second, 'bare and one insert'),
  },
  {
    key: 'intake.vs_chat_sdk',
    label: 'intake over Vercel Chat SDK',
    unit: '×',
    atLeast: 6,
    value: (r) => r.intake.vs_chat_sdk,
    now: (r) => rate(r.intake.servers.switchboard?.per_second),
    against: (r) => rate(r.intake.servers.chat_sdk?.per_second, 'Chat SDK'),
  },
  {
    key: 'intake.vs_bolt',
    label: 'intake over Slack Bolt',
    unit: '×',
    value: (r) => r.intake.vs_bolt,
    now: (r) => rate(r.intake.servers.switchboard?.per_second),
    against: (r) => rate(r.intake.servers.bolt?.per_second, 'Bolt'),
  },
  {
    key: 'ready_ms',
    label: 'start to /readyz',
    unit: ' ms',
    atMost: 350,
    value: (r) => r.ready?.first_ms ?? null,
  },
  {
    key: 'status_ms',
    label: '`status` as a command',
    unit: ' ms',
    atMost: 150,
    value: (r) => r.ready?.status_ms ?? null,
  },
  { key: 'rss_mb', label: 'resident memory at rest', unit: ' MB', atMost: 120, value: (r) => r.rss_mb },
  {
    key: 'ledger_growth',
    label: 'intake latency, grown ledger over empty',
    unit: '×',
    atMost: 1.5,
    value: (r) => r.growth?.intake_p50 ?? null,
    now: (r) => millis(r.growth?.grown.p50_ms),
    against: (r) => millis(r.growth?.empty.p50_ms, 'empty'),
  },
]

export function judge(report: Sections): readonly Judgement[] {
  return [
    ...WAYS.map((target) => judgeOne(report, target, 'way')),
    ...GROWTH_TARGETS.map((target) => judgeOne(report, target, 'growth')),
  ]
}

function judgeOne(report: Sections, target: Target, table: Table): Judgement {
  const { key, label, unit, atLeast, atMost } = target
  const value = target.value(report)
  const limit = atLeast ?? atMost ?? null
  const more = atLeast !== undefined
  const known = value !== null && limit !== null
  const met = !known ? null : more ? value >= limit : value <= limit
  const share = !known ? null : more ? value / limit : limit / Math.max(value, 1e-9)
  return {
    key,
    table,
    label,
    unit,
    value,
    now: target.now?.(report) ?? null,
    against: target.against?.(report) ?? null,
    target: limit === null ? null : `${more ? '≥' : '≤'} ${limit.toLocaleString('en')}${unit}`,
    share: share === null ? null : Number(share.toFixed(3)),
    met,
    missing: known && met === false ? missing(value, limit, unit) : null,
    why: met === false ? (NOTES[key] ?? null) : null,
  }
}

function missing(value: number, limit: number, unit: string): string {
  const share = Math.abs(value - limit) / limit
  const by = Number(Math.abs(value - limit).toFixed(3))
  return `${by}${unit} ${value < limit ? 'short' : 'over'} (${Math.round(share * 100)} %)`
}

type Known = number | null | undefined

function withUnit(value: Known, unit: string, of: string): string | null {
  if (value === null || value === undefined) return null
  return `${of === '' ? '' : `${of} `}${value.toLocaleString('en')}${unit}`
}

const rate = (value: Known, of = '') => withUnit(value, '/s', of)
const millis = (value: Known, of = '') => withUnit(value, ' ms', of)
const micros = (value: Known, of = '') => withUnit(value, ' µs', of)

function join(...parts: readonly (string | null)[]): string | null {
  const known = parts.filter((part) => part !== null)
  return known.length === 0 ? null : known.join('; ')
}
