// What inputs of operations have in common: texts, pages, points in time.
import { z } from 'zod'
import { SwitchboardError } from '../contract/index.ts'
import { cutText } from './cut-text.ts'

export const text = z.string().min(1).max(1_000)
export const flag = z.enum(['true', 'false']).optional()

export function listOf<const States extends readonly [string, ...string[]]>(states: States) {
  return z
    .string()
    .describe(`One or more of ${states.join(', ')}; repeated or separated by commas.`)
    .transform((value) => value.split(',').filter((part) => part !== ''))
    .pipe(z.array(z.enum(states)).min(1))
}

export const limit = z.coerce
  .number<string | number>()
  .int()
  .min(1)
  .max(1_000)
  .default(100)
  .describe('At most this many items.')
export const before = text.optional().describe('The cursor `next` of the page before.')
export const moment = text.optional().describe('A time (ISO 8601), or how long ago: 30s, 15m, 2h, 1d.')
export const PageQuery = z.strictObject({ limit, before })

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

/** A point in time from ISO 8601 or `2h` (ago). Throws `input_invalid` naming the field. */
export function momentMs(field: string, value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined
  const ago = /^(\d{1,6})([smhdw])$/.exec(value)
  if (ago !== null) return now - Number(ago[1]) * (UNIT_MS[ago[2] ?? ''] ?? 0)
  const at = /^\d{4}-\d{2}-\d{2}/.test(value) ? Date.parse(value) : Number.NaN
  if (Number.isNaN(at)) {
    throw new SwitchboardError(
      'input_invalid',
      `${field}: "${value.slice(0, 40)}" is neither a time nor a duration`,
      {
        hint: 'write 2026-01-31, 2026-01-31T12:00:00Z, 30m, 2h or 1d',
      },
    )
  }
  return at
}

/** The position behind a cursor: a row's id, or the number itself. */
export function positionOf(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined
  const digits = /^[a-z]_.+_([0-9a-z]{1,11})$/.exec(cursor)?.[1]
  const position = digits === undefined ? plainNumber(cursor) : Number.parseInt(digits, 36)
  if (Number.isSafeInteger(position) && position >= 0) return position
  throw new SwitchboardError('input_invalid', 'before: is not a cursor of this list')
}

function plainNumber(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
}

/** A page, with the cursor of the next one. */
export function page<T extends { readonly id: string }>(items: readonly T[], limit: number, chars?: number) {
  const next = items.length === limit ? (items.at(-1)?.id ?? null) : null
  return { items: items.map((one) => cutText(one, chars)), next }
}

/** A list that has one page. */
export const all = <T>(items: readonly T[]) => ({ items, next: null })
