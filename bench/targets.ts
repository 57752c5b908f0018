// The targets, and how far a run is from them. A miss is told with its size and, where it is known, its cause.
import { NOTES } from './notes.ts'
import type { BenchReport } from './report.ts'

interface Target {
  readonly key: string
  readonly label: string
  readonly unit: string
  readonly atLeast?: number
  readonly atMost?: number
  readonly value: (report: BenchReport) => number | null
}

export interface Judgement {
  readonly key: string
  readonly label: string
  readonly unit: string
  readonly value: number | null
  readonly target: string
  readonly met: boolean | null
  /** How much is missing, in words; null when nothing is. */
  readonly missing: string | null
  readonly why: string | null
}

const TARGETS: readonly Target[] = [
  {
    key: 'intake.vs_bare',
    label: 'intake, agent absent, of bare node:http',
    unit: '×',
    atLeast: 0.6,
    value: (r) => r.intake.vs_bare,
  },
  {
    key: 'intake.draining_vs_bare',
    label: 'intake, demo agent draining, of bare',
    unit: '×',
    atLeast: 0.35,
    value: (r) => r.intake.draining_vs_bare,
  },
  {
    key: 'intake.vs_insert',
    label: 'intake of one grouped FULL insert',
    unit: '×',
    atLeast: 0.65,
    value: (r) => r.intake.vs_insert,
  },
  {
    key: 'intake.vs_chat_sdk',
    label: 'intake over Vercel Chat SDK',
    unit: '×',
    atLeast: 6,
    value: (r) => r.intake.vs_chat_sdk,
  },
  { key: 'ready_ms', label: 'start to /readyz', unit: ' ms', atMost: 500, value: (r) => r.ready_ms },
  { key: 'rss_mb', label: 'resident memory at rest', unit: ' MB', atMost: 120, value: (r) => r.rss_mb },
  {
    key: 'ledger_growth',
    label: 'intake latency, grown ledger over empty',
    unit: '×',
    atMost: 1.5,
    value: (r) => r.ledger_growth,
  },
]

export function judge(report: BenchReport, targets: readonly Target[] = TARGETS): readonly Judgement[] {
  return targets.map((target) => {
    const { key, label, unit, atLeast, atMost } = target
    const value = target.value(report)
    const limit = atLeast ?? atMost ?? 0
    const met = value === null ? null : atLeast === undefined ? value <= limit : value >= limit
    return {
      key,
      label,
      unit,
      value,
      target: `${atLeast === undefined ? '≤' : '≥'} ${limit}${unit}`,
      met,
      missing: met === false && value !== null ? missing(value, limit, unit) : null,
      why: met === false ? (NOTES[key] ?? null) : null,
    }
  })
}

function missing(value: number, limit: number, unit: string): string {
  const share = Math.abs(value - limit) / limit
  const by = Number(Math.abs(value - limit).toFixed(3))
  return `${by}${unit} ${value < limit ? 'short' : 'over'} (${Math.round(share * 100)} %)`
}
