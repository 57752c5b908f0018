// Reads the header `Retry-After`, in seconds or as a date.

/** The longest pause. Longer ones are shortened to this. */
const MAX_RETRY_AFTER_MS = 3_600_000

/** Returns the requested pause. Null: there is none, or it cannot be read. */
export function retryAfterMs(value: string | null | undefined, now: number): number | null {
  if (value === undefined || value === null) return null
  const isSeconds = /^\d+(\.\d+)?$/.test(value)
  const delayMs = isSeconds ? Math.ceil(Number(value) * 1000) : Date.parse(value) - now
  return Number.isFinite(delayMs) && delayMs >= 0 ? Math.min(delayMs, MAX_RETRY_AFTER_MS) : null
}
