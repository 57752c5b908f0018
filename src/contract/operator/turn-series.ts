// Turns over time: what a chart of volume, of time to answer and of refusals is drawn from.
import type { TurnState } from '../store/states.ts'

export interface SeriesQuery {
  readonly sinceMs: number
  /** Where the last slot ends: now. */
  readonly untilMs: number
  readonly source?: string
  readonly agent?: string
  /** Up to so many are all looked at; of more, some. Default: 10,000. */
  readonly most?: number
}

/** Turns since then. Where there are many, some that are spread evenly over all of them. */
export interface TurnSample {
  /** So many there are, whatever they are narrowed to. */
  readonly total: number
  /** So many were looked at. Less than `total`: each of them stands for several. */
  readonly looked: number
  readonly rows: readonly {
    readonly at: number
    readonly updatedAt: number
    readonly state: TurnState
    readonly reason: string | null
    /** It was missed and found later: when it was received says nothing of how long somebody waited. */
    readonly late: boolean
  }[]
}

export interface TurnSeries {
  readonly from: string
  readonly to: string
  readonly slot_ms: number
  /** Slots in order, those without a turn as well. */
  readonly slots: readonly {
    readonly at: string
    readonly received: number
    readonly answered: number
    readonly refused: number
    /** Failed or expired. */
    readonly failed: number
    /** From received to answered; null: none was answered. */
    readonly median_ms: number | null
    readonly p95_ms: number | null
  }[]
  readonly reasons: readonly { readonly reason: string; readonly count: number }[]
  /** True: the figures are estimates from `looked_at` turns of `turns`. */
  readonly estimated: boolean
  readonly turns: number
  readonly looked_at: number
}
