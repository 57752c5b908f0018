// The part of the table that the console brought: many sends at once, the configuration, users, charts, exports, a try.
import { z } from 'zod'
import { defined, type TurnState } from '../../contract/index.ts'
import { momentMs, SeriesInput, TurnQuery } from './inputs.ts'
import { type Route, route, whole } from './route.ts'
import { exportTurns } from './turn-export.ts'

const OperateBody = z.strictObject({
  verb: z.enum(['retry', 'bury']),
  ids: z.array(z.string().min(1).max(200)).min(1).max(1_000),
})
const CheckBody = z.strictObject({ text: z.string().max(1_000_000) })
const TryBody = z.strictObject({
  text: z.string().min(1).max(64_000),
  idempotency_key: z.string().min(1).max(200).optional(),
})
const ExportInput = TurnQuery.omit({ limit: true, before: true, span: true, chars: true }).extend({
  format: z.enum(['ndjson', 'csv']).default('ndjson'),
})

export const CONSOLE_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/series',
    summary:
      'Turns over time: volume, time to answer, refusals by reason; estimated where there are very many.',
    query: SeriesInput as z.ZodType<z.infer<typeof SeriesInput>>,
    run: ({ desk, query: { since, ...rest }, now }) =>
      desk.series({ sinceMs: momentMs('since', since, now) ?? now, untilMs: now, ...defined(rest) }),
  }),
  route({
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
  route({
    method: 'POST',
    path: '/api/outbox/operate',
    summary: 'Sends several failed or unknown messages again, or gives them up; each is told by itself.',
    body: OperateBody,
    run: async ({ desk, body, by }) => ({ items: await desk.operateSends(body.ids, body.verb, by) }),
  }),
  route({
    method: 'GET',
    path: '/api/config',
    summary: 'The configuration in force, masked; and the file that was refused, with its problems.',
    run: ({ desk }) => desk.config(),
  }),
  route({
    method: 'POST',
    path: '/api/config/check',
    summary: 'Checks a text of a configuration that is not written yet; it changes nothing.',
    body: CheckBody,
    run: ({ desk, body }) => desk.checkConfig(body.text),
  }),
  route({
    method: 'GET',
    path: '/api/users',
    summary: 'The users in force, with their roles and identities.',
    run: async ({ desk }) => ({ items: await desk.users(), next: null }),
  }),
  route({
    method: 'POST',
    path: '/api/agents/{id}/try',
    summary: 'Says something to an agent as whoever asks, in a chat of its own.',
    action: 'message.send',
    body: TryBody,
    // The first time it makes an integration of its own.
    gives: () => true,
    run: ({ desk, path, body, by }) =>
      desk.tryAgent(
        path.id ?? '',
        { text: body.text, ...defined({ idempotency_key: body.idempotency_key }) },
        by,
      ),
  }),
]
