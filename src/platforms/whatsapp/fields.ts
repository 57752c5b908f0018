// Foreign JSON, looked at field by field: what is not what it should be is absent, and never an error of ours.

export type Fields = Readonly<Record<string, unknown>>

const NOTHING: Fields = {}
/** WhatsApp itself takes a few; this only bounds what a forged or broken body can make us do. */
const MOST_ITEMS = 2_000

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : NOTHING
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, MOST_ITEMS) : []
}

/** U+0000 cannot be stored everywhere; the mark in its place shows that something was there. Ids may come as numbers. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value)
  if (typeof value !== 'string' || value === '') return undefined
  return value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value
}

/** Seconds as a text or a number, in milliseconds. */
export function timeOf(value: unknown, now: number): number {
  const seconds = Number(textOf(value))
  return Number.isFinite(seconds) && seconds > 0 && seconds < 1e11 ? Math.floor(seconds * 1_000) : now
}
