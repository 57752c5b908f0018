// Positions as text: `1-5,8`. Pruning records in the ledger which rows it emptied, so a row emptied by hand is
// detected.

/** Converts ascending positions and joins neighbours. */
export function toRanges(positions: readonly number[]): string {
  const parts: [number, number][] = []
  for (const at of positions) {
    const last = parts.at(-1)
    if (last && at === last[1] + 1) last[1] = at
    else parts.push([at, at])
  }
  return parts.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(',')
}

export function* fromRanges(text: string): Generator<readonly [from: number, to: number]> {
  for (const part of text.split(',')) {
    const [from = Number.NaN, to = from] = part.split('-').map(Number)
    if (Number.isSafeInteger(from) && Number.isSafeInteger(to)) yield [from, to]
  }
}
