// A walk through a table by position, slice by slice. What no index leads to is looked for this way: each slice is a
// statement of its own that takes some milliseconds, so whoever drives it lets other work through in between.
import type { Row, Steps } from '../statement.ts'

/** Most that is asked for is among the newest. */
const FIRST_SLICE = 2_000
const SLICE = 10_000

export interface Walk {
  readonly from: number
  readonly to: number
  readonly limit: number
  readonly oldestFirst: boolean
}

/** `read`: the rows of one slice, both ends in it, in the order of the walk, at most so many. */
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
