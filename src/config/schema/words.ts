// The words that all parts of the configuration schema share: ids, references, rate limits.
import { z } from 'zod'
import { text } from '../../kit/option-words.ts'

export { duration, httpUrl, optionalDuration, secret, text, textOrSecret } from '../../kit/option-words.ts'

const ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/

export const id = (what: string) =>
  z
    .string()
    .regex(ID_PATTERN, {
      error: `${what} starts with a letter or digit and holds letters, digits, "_", "-" and "." (at most 64)`,
    })
    .describe(`${what}: letters, digits, "_", "-" and "."`)

export const rateLimit = z
  .strictObject({
    rps: z.number().nonnegative().max(1000).describe('Messages a second, 0 to 1000.'),
    burst: z.int().nonnegative().describe('How many may come at once.'),
  })
  .describe('A token bucket. 0/0 means no limit.')

export const idList = (description: string) => z.array(text('An id, in quotes.')).describe(description)
