// Reads foreign JSON field by field. A field of the wrong type counts as absent.

export type Fields = Readonly<Record<string, unknown>>

const NOTHING: Fields = {}
/** A limit for forged or broken bodies. WhatsApp itself sends a few. */
const MOST_ITEMS = 2_000

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : NOTHING
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, MOST_ITEMS) : []
}

/** U+0000 cannot be stored everywhere, so a visible mark replaces it. Ids may be numbers. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value)
  if (typeof value !== 'string' || value === '') return undefined
  return value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value
}

/** Returns milliseconds from seconds in a text or a number. */
export function timeOf(value: unknown, now: number): number {
  const seconds = Number(textOf(value))
  return Number.isFinite(seconds) && seconds > 0 && seconds < 1e11 ? Math.floor(seconds * 1_000) : now
}
