// The line that shows what an agent is doing on a turn. There is one per turn. It is changed and removed, and never
// contains the answer.

/**
 * A line that is shown in a chat, or about to be. Stored so that a crash leaves none behind, and two nodes create only
 * one.
 */
export interface StatusLineRow {
  readonly turn: string
  /** The address string. */
  readonly to: string
  /** The platform's id of it; empty: it is being created. */
  readonly line: string
  /** Its creator: `<node>/<boot>`. */
  readonly owner: string
  readonly at: number
}
