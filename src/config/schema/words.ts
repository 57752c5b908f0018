// The words that all parts of the configuration schema share: ids, references, durations, rate limits.
import { z } from 'zod'
import { text } from '../../kit/option-words.ts'

export { httpUrl, secret, text, textOrSecret } from '../../kit/option-words.ts'

const ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}
const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/

/** `10m`, `7d`, `1.5h` or milliseconds. Null when it is none of them. */
function durationMs(written: string | number): number | null {
  if (typeof written === 'number') return Number.isFinite(written) && written >= 0 ? written : null
  const match = DURATION.exec(written)
  if (!match) return null
  return Math.round(Number(match[1]) * (UNIT_MS[match[2] ?? ''] ?? Number.NaN))
}

export const id = (what: string) =>
  z
    .string()
    .regex(ID_PATTERN, {
      error: `${what} starts with a letter or digit and holds letters, digits, "_", "-" and "." (at most 64)`,
    })
    .describe(`${what}: letters, digits, "_", "-" and "."`)

const WRONG_DURATION = {
  error: 'expected a duration such as 30s, 10m, 12h or 7d, or a number of milliseconds',
}

export const duration = (description: string, defaultMs: number) =>
  z
    .union(
      [z.number().nonnegative(WRONG_DURATION), z.string().regex(DURATION, WRONG_DURATION)],
      WRONG_DURATION,
    )
    .transform((written) => durationMs(written) ?? defaultMs)
    .prefault(shortestDuration(defaultMs))
    .describe(description)

/** One whose default is another key's. */
export const optionalDuration = (description: string) =>
  z
    .union(
      [z.number().nonnegative(WRONG_DURATION), z.string().regex(DURATION, WRONG_DURATION)],
      WRONG_DURATION,
    )
    .transform((written) => durationMs(written) ?? 0)
    .optional()
    .describe(description)

/** The nicest way to write so many milliseconds. */
function shortestDuration(ms: number): string | number {
  if (ms === 0) return 0
  for (const unit of ['d', 'h', 'm', 's']) {
    const size = UNIT_MS[unit] ?? 1
    if (ms >= size && ms % size === 0) return `${ms / size}${unit}`
  }
  return `${ms}ms`
}

export const rateLimit = z
  .strictObject({
    rps: z.number().nonnegative().max(1000).describe('Messages a second, 0 to 1000.'),
    burst: z.int().nonnegative().describe('How many may come at once.'),
  })
  .describe('A token bucket. 0/0 means no limit.')

export const idList = (description: string) => z.array(text('An id, in quotes.')).describe(description)
