// Time as people write and read it: `1d` and ISO in, `3m ago` out.
import { SwitchboardError } from '../../contract/index.ts'
import { wordsIn } from '../../words/index.ts'

const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|[smhdw]))+$/
const PART = /(?<!\d)(\d+(?:\.\d+)?)(ms|[smhdw])/g

/** `90s`, `1d`, `1h30m` in milliseconds. Throws `input_invalid` that names the option. */
export function parseDuration(text: string, option: string): number {
  const trimmed = text.trim().toLowerCase()
  if (!DURATION.test(trimmed)) {
    throw new SwitchboardError('input_invalid', `${option}: "${text}" is not a duration`, {
      hint: 'write a number and a unit: 90s, 15m, 2h, 1d, 1w',
    })
  }
  let total = 0
  for (const [, amount, unit] of trimmed.matchAll(PART)) total += Number(amount) * (UNITS_MS[unit ?? ''] ?? 0)
  return Math.round(total)
}

// A date, or a date and a time, zone optional. `Date.parse` alone would take "1" for a year.
const ISO = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/i

/** A moment: a duration back from `nowMs`, or ISO 8601. Throws `input_invalid` that names the option. */
export function parseMoment(text: string, option: string, nowMs: number): number {
  const trimmed = text.trim()
  if (DURATION.test(trimmed.toLowerCase())) return nowMs - parseDuration(trimmed, option)
  const at = ISO.test(trimmed) ? Date.parse(trimmed.replace(' ', 'T')) : Number.NaN
  if (Number.isNaN(at)) {
    throw new SwitchboardError('input_invalid', `${option}: "${text}" is not a time`, {
      hint: 'write how long ago (90s, 15m, 2h, 1d) or ISO 8601 (2026-01-31T08:00:00Z)',
    })
  }
  return at
}

/** `now`, `12s ago`, `in 9m`: the one biggest unit, for tables. */
export function relativeTime(iso: string | null, nowMs: number): string {
  return relation(iso, nowMs, wordsIn().tables.ago)
}

/** `now`, `12s`, `in 9m`: for a column of ages. */
export function ageOf(iso: string, nowMs: number): string {
  return relation(iso, nowMs, ({ span }) => span)
}

/** A moment as it is, and how far it is from now. */
export function momentAndAge(at: string, nowMs: number): string {
  return wordsIn().tables.moment({ at, relative: relativeTime(at, nowMs) })
}

function relation(
  iso: string | null,
  nowMs: number,
  past: (given: { readonly span: string }) => string,
): string {
  if (iso === null) return '-'
  const words = wordsIn().tables
  const at = Date.parse(iso)
  if (Number.isNaN(at)) return iso
  const ageMs = nowMs - at
  if (Math.abs(ageMs) < 1_000) return words.now
  return ageMs > 0 ? past({ span: biggestUnit(ageMs) }) : words.ahead({ span: unitAhead(-ageMs) })
}

/** `3d 4h`, `12m 5s`, `40ms`: at most two units. */
export function spanOf(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))}ms`
  const parts: string[] = []
  let rest = ms
  for (const unit of ['d', 'h', 'm', 's']) {
    const size = UNITS_MS[unit] ?? 1
    const count = Math.floor(rest / size)
    rest -= count * size
    if (count > 0) parts.push(`${count}${unit}`)
    if (parts.length === 2) break
  }
  return parts.join(' ')
}

/** Ahead, the moments since it was set do not count: 8 h that were given a minute ago are 8 h. */
const JUST_NOW = 0.02

function unitAhead(ms: number): string {
  for (const unit of ['d', 'h', 'm']) {
    const count = Math.floor(ms / (UNITS_MS[unit] ?? 1) + JUST_NOW)
    if (count > 0) return `${count}${unit}`
  }
  return `${Math.ceil(ms / 1_000)}s`
}

function biggestUnit(ms: number): string {
  for (const unit of ['d', 'h', 'm']) {
    const size = UNITS_MS[unit] ?? 1
    if (ms >= size) return `${Math.floor(ms / size)}${unit}`
  }
  return `${Math.floor(ms / 1_000)}s`
}
