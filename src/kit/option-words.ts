// The option schemas that adapters and the configuration share: texts, URLs, durations, references to secrets.
import { z } from 'zod'
import { SECRET_HINT, SECRET_REFERENCE } from '../contract/secret-reference.ts'

export const text = (description: string) =>
  z.string().min(1, { error: 'must not be empty' }).describe(description)

/** The marker tells excerpts what to mask, and the reference page what to say. */
export const secret = (description: string) =>
  z
    .string()
    .regex(SECRET_REFERENCE, { error: `a secret is never written here; ${SECRET_HINT}` })
    .meta({
      description: `${description} A reference: env:NAME, file:path or secret:NAME.`,
      'x-secret': true,
    })

/** Any text, or a reference. For environment and header values, which may be secret or not. */
export const textOrSecret = z.string().meta({
  description: 'A plain value, or a reference: env:NAME, file:path or secret:NAME.',
  'x-secret': 'or-text',
})

export const httpUrl = (description: string) =>
  z
    .string()
    .refine(isHttpUrl, { error: 'expected a URL that starts with http:// or https://' })
    .describe(description)

function isHttpUrl(written: string): boolean {
  try {
    const url = new URL(written)
    return (url.protocol === 'http:' || url.protocol === 'https:') && url.hostname !== ''
  } catch {
    return false
  }
}

/** An http or https URL, or a reference to one, because the URL itself may be a secret. */
export const urlOrSecret = (description: string) =>
  z
    .string()
    .refine((written) => SECRET_REFERENCE.test(written) || isHttpUrl(written), {
      error: 'expected a URL that starts with http:// or https://, or env:NAME, file:path or secret:NAME',
    })
    .meta({ description: `${description} A URL, or a reference to one.`, 'x-secret': 'or-text' })

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}
const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/

/** Reads `10m`, `7d`, `1.5h` or milliseconds. Returns null for other texts. */
function durationMs(written: string | number): number | null {
  if (typeof written === 'number') return Number.isFinite(written) && written >= 0 ? written : null
  const match = DURATION.exec(written)
  if (!match) return null
  return Math.round(Number(match[1]) * (UNIT_MS[match[2] ?? ''] ?? Number.NaN))
}

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

/** A duration whose default is another key's value. */
export const optionalDuration = (description: string) =>
  z
    .union(
      [z.number().nonnegative(WRONG_DURATION), z.string().regex(DURATION, WRONG_DURATION)],
      WRONG_DURATION,
    )
    .transform((written) => durationMs(written) ?? 0)
    .optional()
    .describe(description)

/** Returns the shortest way to write a duration. */
function shortestDuration(ms: number): string | number {
  if (ms === 0) return 0
  for (const unit of ['d', 'h', 'm', 's']) {
    const size = UNIT_MS[unit] ?? 1
    if (ms >= size && ms % size === 0) return `${ms / size}${unit}`
  }
  return `${ms}ms`
}

/** Returns the problem of an adapter's options, with the key and never the value. Null: they are valid. */
export function optionsProblem(parsed: { readonly error?: z.ZodError | undefined }): string | null {
  const issue = parsed.error?.issues[0]
  if (issue === undefined) return null
  const at = issue.path.join('.')
  return at === '' ? issue.message : `${at}: ${issue.message}`
}
