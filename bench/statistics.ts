// The few statistics of the benchmark. Ratios are made within a round, and the median is reported, because rounds
// differ.

/** The value below which the share `q` of the values lies (nearest rank). NaN for no values. */
export function quantile(values: Iterable<number>, q: number): number {
  const sorted = Float64Array.from(values).sort()
  const rank = Math.min(sorted.length - 1, Math.max(0, Math.ceil(q * sorted.length) - 1))
  return sorted[rank] ?? Number.NaN
}

export function median(values: readonly number[]): number {
  if (values.length === 0) return Number.NaN
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2
}

/** Null for no values, so that `--json` prints null and not NaN. */
export function medianOrNull(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : median(known)
}

export function rounded(value: number, digits: number): number
export function rounded(value: number | null, digits: number): number | null
export function rounded(value: number | null, digits: number): number | null {
  return value === null || !Number.isFinite(value) ? null : Number(value.toFixed(digits))
}
