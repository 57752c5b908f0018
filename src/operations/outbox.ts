// The outbox: every message that goes out, and what became of it.
import { z } from 'zod'
import {
  asSwitchboardError,
  defined,
  type OperatedSend,
  SEND_STATES,
  type SendView,
} from '../contract/index.ts'
import type { OperationContext } from './context.ts'
import { chars } from './cut-text.ts'
import { before, limit, listOf, moment, momentMs, page, positionOf, text } from './inputs.ts'
import { withoutPrompt } from './masking.ts'
import { operation } from './operation.ts'
import { cannotMove, found } from './refusals.ts'
import { sendView, sendViews } from './send-view.ts'

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

type Verb = 'retry' | 'bury'

async function operateSend(
  { store }: OperationContext,
  id: string,
  verb: Verb,
  by: string,
): Promise<SendView> {
  const row = await store.operateSend(id, verb, by)
  if (!row) throw cannotMove(verb, id, (await store.send(id))?.state)
  return sendView(row)
}

const sendVerb = <One extends Verb>(verb: One, summary: string) =>
  operation({
    route: `POST /api/outbox/{id}/${verb}`,
    summary,
    run: (call) => operateSend(call, call.path.id, verb, call.by),
  })

export const OUTBOX = [
  operation({
    route: 'GET /api/outbox',
    summary: 'Outbound messages, newest first.',
    query: SendQuery,
    run: async ({ store, query: { state, since, before, chars, ...rest }, now, may }) => {
      const filter = defined({
        ...rest,
        states: state,
        sinceMs: momentMs('since', since, now),
        beforeSeq: positionOf(before),
      })
      const sends = await sendViews(store, await store.sends({ ...filter, limit: rest.limit }))
      return page(may('approval.input') ? sends : sends.map(withoutPrompt), rest.limit, chars)
    },
  }),
  operation({
    route: 'GET /api/outbox/{id}',
    summary: 'One outbound message.',
    run: async ({ store, path, may }) => {
      const row = found(await store.send(path.id), 'outbound message')
      const send = found((await sendViews(store, [row]))[0] ?? null, 'outbound message')
      return may('approval.input') ? send : withoutPrompt(send)
    },
  }),
  sendVerb('retry', 'Sends a failed or unknown message again.'),
  sendVerb('bury', 'Gives a message up for good.'),
  operation({
    route: 'POST /api/outbox/operate',
    summary: 'Sends several failed or unknown messages again, or gives them up; each is told by itself.',
    body: OperateBody,
    run: async (call) => {
      const items: OperatedSend[] = []
      // One after another: they share lanes, and they are sent again in the order of the list.
      for (const id of new Set(call.body.ids)) items.push(await operateOne(call, id, call.body.verb, call.by))
      return { items }
    },
  }),
]

/** A send that cannot be moved stops no other. */
async function operateOne(
  context: OperationContext,
  id: string,
  verb: Verb,
  by: string,
): Promise<OperatedSend> {
  try {
    const { state } = await operateSend(context, id, verb, by)
    return { id, ok: true, state, problem: null }
  } catch (thrown) {
    return { id, ok: false, state: null, problem: asSwitchboardError(thrown).message }
  }
}
