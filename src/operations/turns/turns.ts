// Turns: every message that came in, and what became of it.
import { z } from 'zod'
import { defined, TURN_STATES, type TurnFilter } from '../../contract/index.ts'
import { whole } from '../../server/api/operation.ts'
import { liveParts, type OperationContext } from '../context.ts'
import { chars, cutText } from '../cut-text.ts'
import { before, limit, listOf, moment, momentMs, page, positionOf, text } from '../inputs.ts'
import { REPLAY_TURN } from '../integrations/hooks.ts'
import { withoutToolTexts } from '../masking.ts'
import { operation } from '../operation.ts'
import { cannotMove, found } from '../refusals.ts'
import { boundedPage, exportTurns } from './turn-pages.ts'
import { turnSeries } from './turn-series.ts'
import { turnDetail, turnView, waitingTurnView } from './turn-view.ts'

const Filter = z.strictObject({
  state: listOf(TURN_STATES).optional(),
  agent: text.optional(),
  integration: text.optional(),
  session: text.optional(),
  source: text.optional(),
  sender: text.optional().describe('Who said it, by the id on its platform.'),
  since: moment,
  until: moment,
})
const TurnQuery = Filter.extend({
  limit,
  before,
  span: z.coerce
    .number<string | number>()
    .int()
    .min(100)
    .max(1_000_000)
    .optional()
    .describe('Look at no more than so many turns: `next` may then stand beside a short page.'),
  chars,
})
const SeriesQuery = z.strictObject({
  since: text.default('24h').describe('A time (ISO 8601), or how long ago: 30s, 15m, 2h, 1d.'),
  agent: text.optional(),
  source: text.optional(),
})
const ExportQuery = Filter.extend({ format: z.enum(['ndjson', 'csv']).default('ndjson') })

/** The query as a filter of the store. */
function filterOf(
  { state, since, until, ...rest }: z.output<typeof Filter>,
  now: number,
): Omit<TurnFilter, 'limit'> {
  return defined({
    ...rest,
    states: state,
    sinceMs: momentMs('since', since, now),
    untilMs: momentMs('until', until, now),
  })
}

/** Ends or offers a turn again, for an operator. Throws `not_found` and `conflict`. */
export async function operateTurn(
  context: Pick<OperationContext, 'store' | 'live'>,
  id: string,
  verb: 'retry' | 'cancel',
  by: string,
) {
  const { store } = context
  const { gateway } = liveParts(context)
  const row = await store.operateTurn(id, verb, by)
  if (!row) throw cannotMove(verb, id, (await store.turn(id))?.state)
  if (verb === 'cancel' && row.agent) {
    gateway.dispatcher.abandon(row.agent, [row.id])
    await gateway.approvals.withdraw(row.agent, [row.id])
  }
  return turnView(row)
}

const turnVerb = <Verb extends 'retry' | 'cancel'>(verb: Verb, summary: string) =>
  operation({
    route: `POST /api/turns/{id}/${verb}`,
    summary,
    run: (call) => operateTurn(call, call.path.id, verb, call.by),
  })

export const TURNS = [
  operation({
    route: 'GET /api/series',
    summary:
      'Turns over time: volume, time to answer, refusals by reason; estimated where there are very many.',
    query: SeriesQuery,
    run: async ({ store, query: { since, ...rest }, now }) => {
      const query = { sinceMs: momentMs('since', since, now) ?? now, untilMs: now, ...defined(rest) }
      return turnSeries(await store.sampleTurns(query), query)
    },
  }),
  operation({
    route: 'GET /api/turns/export',
    summary: 'Turns that a filter lets through, newest first, streamed as NDJSON or CSV.',
    query: ExportQuery,
    run: async ({ store, live, query: { format, ...query }, now }) => {
      return whole(exportTurns({ store, live }, filterOf(query, now), format))
    },
  }),
  operation({
    route: 'GET /api/turns',
    summary: 'Turns, newest first.',
    query: TurnQuery,
    run: async ({ store, live, query: { before, limit, span, chars, ...query }, now }) => {
      const filter = { ...filterOf(query, now), ...defined({ beforeSeq: positionOf(before) }), limit }
      if (span === undefined) {
        const rows = await store.turns(filter)
        return page(
          rows.map((row) => waitingTurnView(row, live)),
          limit,
          chars,
        )
      }
      const { items, next } = await boundedPage({ store, live }, filter, span)
      return { items: items.map((one) => cutText(one, chars)), next: next === null ? null : String(next) }
    },
  }),
  operation({
    route: 'GET /api/turns/{id}',
    summary: 'One turn.',
    run: async ({ store, live, path, may }) => {
      const turn = await turnDetail(found(await store.turn(path.id), 'turn'), { store, live })
      return may('approval.input') ? turn : withoutToolTexts(turn)
    },
  }),
  turnVerb('retry', 'Offers a failed or expired turn again.'),
  turnVerb('cancel', 'Ends an open turn.'),
  REPLAY_TURN,
]
