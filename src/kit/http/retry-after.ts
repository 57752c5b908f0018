// How an HTTP peer says "not now": the header `Retry-After`, in seconds or as a date.

/** Longer pauses are shortened to this. */
const MAX_RETRY_AFTER_MS = 3_600_000

/** The pause that the peer asks for. Null: it asks for none, or the header cannot be read. */
export function retryAfterMs(value: string | null | undefined, now: number): number | null {
  if (value === undefined || value === null) return null
  const isSeconds = /^\d+(\.\d+)?$/.test(value)
  const delayMs = isSeconds ? Math.ceil(Number(value) * 1000) : Date.parse(value) - now
  return Number.isFinite(delayMs) && delayMs >= 0 ? Math.min(delayMs, MAX_RETRY_AFTER_MS) : null
}
