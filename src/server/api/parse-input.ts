// Reads the input of an operation. A slip is answered with the name of the field.
import type { z } from 'zod'
import { SwitchboardError } from '../../contract/index.ts'

/** The parsed input. Throws `input_invalid` whose message names the first wrong field. */
export function parseInput<Out>(schema: z.ZodType<Out>, input: unknown, what: 'query' | 'body'): Out {
  const parsed = schema.safeParse(input)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined
  const field = unknown ?? (issue?.path.join('.') || what)
  const problem =
    unknown === undefined ? (issue?.message ?? 'is malformed') : `is not a field of this ${what}`
  throw new SwitchboardError('input_invalid', `${field}: ${problem}`)
}
