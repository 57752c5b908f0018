// Walks through a table by position, slice by slice, for searches that no index serves. Each slice is a separate
// statement of some milliseconds, so other work can run in between.
import type { Row, Steps } from '../statement.ts'

/** Most searched rows are among the newest. */
const FIRST_SLICE = 2_000
const SLICE = 10_000

export interface Walk {
  readonly from: number
  readonly to: number
  readonly limit: number
  readonly oldestFirst: boolean
}

/** `read` returns at most `most` rows of one slice, including both ends, in the order of the walk. */
export function* walkSlices(
  { from, to, limit, oldestFirst }: Walk,
  read: (first: number, last: number, most: number) => Steps<readonly Row[]>,
): Steps<readonly Row[]> {
  const found: Row[] = []
  let size = FIRST_SLICE
  for (let low = from, high = to; low <= high && found.length < limit; size = SLICE) {
    const [first, last] = oldestFirst
      ? [low, Math.min(high, low + size - 1)]
      : [Math.max(low, high - size + 1), high]
    for (const row of yield* read(first, last, limit - found.length)) found.push(row)
    if (oldestFirst) low = last + 1
    else high = first - 1
  }
  return found
}
