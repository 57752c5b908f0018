// Which requests make a message: conditions on headers and fields, as data. All conditions of a map must hold, and one
// map of a list.
import { z } from 'zod'
import { text } from '../../kit/option-words.ts'
import { lookUp, pathSteps } from './structure.ts'
import type { Scope } from './template.ts'

const word = z.union([z.string(), z.number(), z.boolean(), z.null()])
const wanted = z.union([
  word,
  z.array(word).min(1),
  z.strictObject({
    not: z
      .union([word, z.array(word).min(1)])
      .optional()
      .describe('None of these.'),
    exists: z.boolean().optional().describe('Whether it is there at all.'),
    like: text('A text in which * stands for anything.').optional(),
  }),
])
const conditions = z.record(
  z
    .string()
    .refine((path) => pathSteps(path) !== null, { error: 'is no path such as action or headers.x-event' }),
  wanted,
)

export const whenOptions = z
  .union([conditions, z.array(conditions).min(1)], {
    error: 'expected a map such as { headers.x-event: [push], action: opened }, or a list of maps',
  })
  .optional()
  .describe(
    'Only what holds is taken; the rest is consumed: filtered. Paths to values, lists of them, or { not, exists, like }.',
  )

export type When = Exclude<z.output<typeof whenOptions>, undefined>
type Wanted = z.output<typeof wanted>
type Word = z.output<typeof word>

export function holds(when: When, scope: Scope): boolean {
  return [when]
    .flat()
    .some((map) => Object.entries(map).every(([path, one]) => fits(one, lookUp(scope, path))))
}

function fits(one: Wanted, value: unknown): boolean {
  if (typeof one !== 'object' || one === null || Array.isArray(one)) return isOneOf(one, value)
  if (one.exists !== undefined && one.exists !== (value !== undefined && value !== null)) return false
  if (one.not !== undefined && isOneOf(one.not, value)) return false
  return one.like === undefined || isLike(one.like, value)
}

/** Compares as text, because YAML reads `12` as a number and a header has "12". */
function isOneOf(words: Word | readonly Word[], value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return false
  return [words]
    .flat()
    .some((one) => one === (value ?? null) || (value !== undefined && String(one) === String(value)))
}

/** Linear for any pattern: each piece is searched once, from the end of the one before. */
function isLike(pattern: string, value: unknown): boolean {
  if (typeof value !== 'string' && typeof value !== 'number') return false
  const text = String(value)
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return text === pattern
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last))
    return false
  let at = first.length
  for (const piece of rest) {
    const found = text.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return at <= text.length - last.length
}
