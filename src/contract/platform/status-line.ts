// The line that tells, beside a turn, what its agent is doing: one for each turn, changed and taken away, never the answer.

/** A line that stands in a chat, or is about to. Kept so that a crash leaves none behind, and two nodes make one. */
export interface StatusLineRow {
  readonly turn: string
  /** The address string. */
  readonly to: string
  /** What the platform calls it; empty: it is being made. */
  readonly line: string
  /** Who made it: `<node>/<boot>`. */
  readonly owner: string
  readonly at: number
}
