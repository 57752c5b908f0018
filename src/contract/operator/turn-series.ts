// Turns over time: the data for charts of volume, time to answer and refusals.
import type { TurnState } from '../store/states.ts'

export interface SeriesQuery {
  readonly sinceMs: number
  /** The end of the last slot: now. */
  readonly untilMs: number
  readonly source?: string
  readonly agent?: string
  /** Up to this many turns are all read; of more, a sample. Default: 10,000. */
  readonly most?: number
}

/** Turns since then. Of many turns, an evenly spread sample. */
export interface TurnSample {
  /** The number of turns, before any filter. */
  readonly total: number
  /** The number of turns read. If less than `total`, each represents several. */
  readonly looked: number
  readonly rows: readonly {
    readonly at: number
    readonly updatedAt: number
    readonly state: TurnState
    readonly reason: string | null
    /** It was missed and found later, so its time of receipt says nothing about waiting time. */
    readonly late: boolean
  }[]
}

export interface TurnSeries {
  readonly from: string
  readonly to: string
  readonly slot_ms: number
  /** Slots in order, including empty ones. */
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
