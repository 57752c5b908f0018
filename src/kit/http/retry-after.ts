// How an HTTP peer says "not now": the header `Retry-After`, in seconds or as a date.

/** A peer that asks for more is asked again after this. */
const MAX_RETRY_AFTER_MS = 3_600_000

/** The pause that it asks for; null: it asks for none, or for none that can be read. */
export function retryAfterMs(value: string | null | undefined, now: number): number | null {
  if (value === undefined || value === null) return null
  const delayMs = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now
  return Number.isFinite(delayMs) && delayMs >= 0 ? Math.min(delayMs, MAX_RETRY_AFTER_MS) : null
}
