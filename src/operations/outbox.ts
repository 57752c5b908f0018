// The outbox: every message that goes out, and what became of it.
import { z } from 'zod'
import { defined, SEND_STATES } from '../contract/index.ts'
import { type Operation, operation } from '../server/api/operation.ts'
import { chars } from './cut-text.ts'
import { before, found, limit, listOf, moment, momentMs, page, positionOf, text } from './inputs.ts'
import { withoutPrompt } from './masking.ts'

const SendQuery = z.strictObject({
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
const OperateBody = z.strictObject({
  verb: z.enum(['retry', 'bury']),
  ids: z.array(z.string().min(1).max(200)).min(1).max(1_000),
})

const sendVerb = (verb: 'retry' | 'bury', summary: string) =>
  operation({
    method: 'POST',
    path: `/api/outbox/{id}/${verb}`,
    summary,
    run: ({ desk, path, by }) => desk.operateSend(path.id ?? '', verb, by),
  })

export const OUTBOX: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/api/outbox',
    summary: 'Outbound messages, newest first.',
    query: SendQuery as z.ZodType<z.infer<typeof SendQuery>>,
    run: async ({ desk, query: { state, since, before, chars, ...rest }, now, may }) => {
      const filter = defined({
        ...rest,
        states: state,
        sinceMs: momentMs('since', since, now),
        beforeSeq: positionOf(before),
      })
      const sends = await desk.sends({ ...filter, limit: rest.limit })
      return page(may('approval.input') ? sends : sends.map(withoutPrompt), rest.limit, chars)
    },
  }),
  operation({
    method: 'GET',
    path: '/api/outbox/{id}',
    summary: 'One outbound message.',
    run: async ({ desk, path, may }) => {
      const send = found(await desk.send(path.id ?? ''), 'outbound message')
      return may('approval.input') ? send : withoutPrompt(send)
    },
  }),
  sendVerb('retry', 'Sends a failed or unknown message again.'),
  sendVerb('bury', 'Gives a message up for good.'),
  operation({
    method: 'POST',
    path: '/api/outbox/operate',
    summary: 'Sends several failed or unknown messages again, or gives them up; each is told by itself.',
    body: OperateBody,
    run: async ({ desk, body, by }) => ({ items: await desk.operateSends(body.ids, body.verb, by) }),
  }),
]
