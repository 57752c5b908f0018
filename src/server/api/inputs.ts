// Schemas of what the API takes. A slip is answered with the name of the field.
import { z } from 'zod'
import { APPROVAL_STATES, SEND_STATES, SwitchboardError, TURN_STATES } from '../../contract/index.ts'
import { chars } from './cut-text.ts'

const text = z.string().min(1).max(1_000)
export const SHORT_TEXT = text

function listOf<const States extends readonly [string, ...string[]]>(states: States) {
  return z
    .string()
    .describe(`One or more of ${states.join(', ')}; repeated or separated by commas.`)
    .transform((value) => value.split(',').filter((part) => part !== ''))
    .pipe(z.array(z.enum(states)).min(1))
}

const limit = z.coerce.number().int().min(1).max(1_000).default(100).describe('At most this many items.')
const before = text.optional().describe('The cursor `next` of the page before.')
export const moment = text.optional().describe('A time (ISO 8601), or how long ago: 30s, 15m, 2h, 1d.')

export const TurnQuery = z.strictObject({
  state: listOf(TURN_STATES).optional(),
  agent: text.optional(),
  integration: text.optional(),
  session: text.optional(),
  source: text.optional(),
  sender: text.optional().describe('Who said it, by the id on its platform.'),
  since: moment,
  until: moment,
  limit,
  before,
  span: z.coerce
    .number()
    .int()
    .min(100)
    .max(1_000_000)
    .optional()
    .describe('Look at no more than so many turns: `next` may then stand beside a short page.'),
  chars,
})

export const SeriesInput = z.strictObject({
  since: text.default('24h').describe('A time (ISO 8601), or how long ago: 30s, 15m, 2h, 1d.'),
  agent: text.optional(),
  source: text.optional(),
})

export const SendQuery = z.strictObject({
  state: listOf(SEND_STATES).optional(),
  agent: text.optional(),
  integration: text.optional(),
  session: text.optional(),
  approval: text.optional(),
  since: moment,
  limit,
  before,
  chars,
})

export const ApprovalQuery = z.strictObject({
  state: listOf(APPROVAL_STATES).optional(),
  id: text.optional(),
  limit,
  before,
})
export const PageQuery = z.strictObject({ limit, before })
export const TokenQuery = z.strictObject({ all: z.enum(['true', 'false']).optional(), limit, before })

export const DecideBody = z.strictObject({ behavior: z.enum(['allow', 'deny']) })

export const AccessBody = z.strictObject({
  integration: text,
  sender: text,
  right: z.enum(['talk', 'approve']).default('talk'),
})

export const RevokeBody = AccessBody.extend({
  right: z
    .templateLiteral(['user:', z.string().min(1).max(100)])
    .or(z.enum(['talk', 'approve']))
    .default('talk'),
})

export const PairBody = z
  .strictObject({
    approver: z.boolean().optional().describe('They may also approve tool calls.'),
    me: z.boolean().optional().describe('This is me: an identity of the user who approves.'),
    user: text.optional().describe('They are this user of the configuration.'),
  })
  .refine(({ me, user }) => me !== true || user === undefined, { error: 'me and user exclude each other' })

export const SendBody = z.strictObject({
  to: text.describe('An address, or platform:target.'),
  text: z.string().min(1),
  thread: text.optional(),
  integration: text.optional(),
  template: z
    .strictObject({
      name: text,
      language: text,
      parameters: z.array(text).max(50).default([]),
    })
    .optional()
    .describe('Words that the platform has approved beforehand.'),
  idempotency_key: text.optional(),
  wait_ms: z.number().int().min(0).max(60_000).optional(),
})

export const NotifyBody = z.strictObject({
  message: z.string().min(1),
  channel: text.optional().describe('A type, or type:integration. Default: the default channel.'),
  urgency: z.enum(['low', 'normal', 'high']).optional(),
  user: text.optional(),
})

const scope = z.union([z.literal('all'), z.strictObject({ agents: z.array(text) })])

export const IntegrationBody = z.strictObject({
  definition: z.record(z.string(), z.unknown()).describe('One entry as under integrations: in the file.'),
  agent: text.optional().describe('The agent that takes its messages.'),
})

export const IntegrationGrantBody = z.strictObject({ scope })

export const HookTestBody = z.strictObject({
  recipe: text.optional().describe('Of which sender. Default: the recipe of the hook, else generic.'),
  event: text.optional().describe('Which of its events. Default: the first that makes a message.'),
})

export const DoctorQuery = z.strictObject({
  security: z.enum(['true', 'false']).optional().describe('Also what is open, and how bad that is.'),
  send_test: z
    .enum(['true', 'false'])
    .optional()
    .describe('With security: integrations also try on the real thing whether a forger would be believed.'),
})

export const VerifyQuery = z.strictObject({
  expect: text.optional().describe('A head that was kept elsewhere.'),
})

export const ExportQuery = z.strictObject({ format: z.enum(['ndjson', 'csv']).default('ndjson') })

export const TokenBody = z.strictObject({
  kind: text,
  scope: z.record(z.string(), z.string()).default({}),
  ttl_ms: z.number().int().positive().nullable().default(null),
})

export const ConsoleLinkBody = z.strictObject({
  user: text.optional().describe('A user of the configuration. Default: the first owner.'),
})

export const SecretBody = z.strictObject({ value: z.string().min(1) })

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
