// Turns: every message that came in, and what became of it.
import { z } from 'zod'
import { defined, TURN_STATES, type TurnState } from '../contract/index.ts'
import { type Operation, operation, whole } from '../server/api/operation.ts'
import { chars, cutText } from './cut-text.ts'
import { before, found, limit, listOf, moment, momentMs, page, positionOf, text } from './inputs.ts'
import { withoutToolTexts } from './masking.ts'
import { exportTurns } from './turn-export.ts'

const TurnQuery = z.strictObject({
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
const SeriesInput = z.strictObject({
  since: text.default('24h').describe('A time (ISO 8601), or how long ago: 30s, 15m, 2h, 1d.'),
  agent: text.optional(),
  source: text.optional(),
})
const ExportInput = TurnQuery.omit({ limit: true, before: true, span: true, chars: true }).extend({
  format: z.enum(['ndjson', 'csv']).default('ndjson'),
})

const turnVerb = (verb: 'retry' | 'cancel', summary: string) =>
  operation({
    method: 'POST',
    path: `/api/turns/{id}/${verb}`,
    summary,
    run: ({ desk, path, by }) => desk.operateTurn(path.id ?? '', verb, by),
  })

export const TURNS: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/api/series',
    summary:
      'Turns over time: volume, time to answer, refusals by reason; estimated where there are very many.',
    query: SeriesInput as z.ZodType<z.infer<typeof SeriesInput>>,
    run: ({ desk, query: { since, ...rest }, now }) =>
      desk.series({ sinceMs: momentMs('since', since, now) ?? now, untilMs: now, ...defined(rest) }),
  }),
  operation({
    method: 'GET',
    path: '/api/turns/export',
    summary: 'Turns that a filter lets through, newest first, streamed as NDJSON or CSV.',
    query: ExportInput as z.ZodType<z.infer<typeof ExportInput>>,
    run: async ({ desk, query: { format, state, since, until, ...rest }, now }) => {
      const filter = defined({
        ...rest,
        states: state as TurnState[] | undefined,
        sinceMs: momentMs('since', since, now),
        untilMs: momentMs('until', until, now),
      })
      return whole(exportTurns(desk, filter, format))
    },
  }),
  operation({
    method: 'GET',
    path: '/api/turns',
    summary: 'Turns, newest first.',
    query: TurnQuery as z.ZodType<z.infer<typeof TurnQuery>>,
    run: async ({ desk, query: { state, since, until, before, span, chars, ...rest }, now }) => {
      const filter = defined({
        ...rest,
        states: state,
        sinceMs: momentMs('since', since, now),
        untilMs: momentMs('until', until, now),
        beforeSeq: positionOf(before),
      })
      if (span !== undefined) {
        const { items, next } = await desk.turnPage({ ...filter, limit: rest.limit }, span)
        return { items: items.map((one) => cutText(one, chars)), next: next === null ? null : String(next) }
      }
      return page(await desk.turns({ ...filter, limit: rest.limit }), rest.limit, chars)
    },
  }),
  operation({
    method: 'GET',
    path: '/api/turns/{id}',
    summary: 'One turn.',
    run: async ({ desk, path, may }) => {
      const turn = found(await desk.turn(path.id ?? ''), 'turn')
      return may('approval.input') ? turn : withoutToolTexts(turn)
    },
  }),
  turnVerb('retry', 'Offers a failed or expired turn again.'),
  turnVerb('cancel', 'Ends an open turn.'),
  operation({
    method: 'POST',
    path: '/api/hooks/turns/{id}/replay',
    summary: "Takes the message of a hook's turn once more, as a new turn.",
    run: ({ desk, path, by }) => desk.replayTurn(path.id ?? '', by),
  }),
]
