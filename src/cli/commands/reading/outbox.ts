// `switchboard outbox`: every message on its way out; one in full; retry what failed, bury what is given up.
import { SEND_STATES, type SendView, SwitchboardError } from '../../../contract/index.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Context, Run } from '../../context.ts'
import { type FilterOptions, listQuery, oneMore, printList } from '../../list.ts'
import { paintState } from '../../output/colour.ts'
import { type Column, renderFields } from '../../output/table.ts'
import { oneLine, safeLines } from '../../output/text.ts'
import { ageOf, momentAndAge } from '../../output/time.ts'
import { reasonText, stateNow } from './turns.ts'

export const listSends: Run<FilterOptions> = async (context, _args, options) => {
  const { query, limit } = listQuery(context, options, SEND_STATES)
  return context.reading(async (api) => {
    await printList(context, api.list('GET /api/outbox', query, oneMore(limit)), columns(context), {
      limit,
      empty: wordsIn().commandLine.empty.outbox,
    })
    return 0
  })
}

export const showSend: Run = (context, [id = '']) =>
  context.reading(async (api) => {
    const send = await api.find('GET /api/outbox/{id}', { path: { id } })
    if (send === null) {
      throw new SwitchboardError('not_found', `there is no message "${id}" in the outbox`, {
        hint: wordsIn().commandLine.outbox.listHint,
      })
    }
    await printSend(context, send)
    return 0
  })

export const retrySend: Run = (context, ids) => operateAll(context, ids, 'retry')
export const burySend: Run = (context, ids) => operateAll(context, ids, 'bury')

/** One is told as it always was; of several each is told by itself, and one that cannot be moved stops no other. */
async function operateAll(context: Context, ids: readonly string[], verb: 'retry' | 'bury'): Promise<number> {
  if (ids.length < 2) return operate(context, ids[0] ?? '', verb)
  const daemon = await context.daemon()
  const { items } = await daemon.ask('POST /api/outbox/operate', { body: { verb, ids: [...ids] } })
  for (const one of items) {
    if (context.json) await context.printJson(one)
    else if (one.ok) await context.print(stateNow(context, { id: one.id, state: one.state ?? '' }))
    else await context.print(`${oneLine(one.id)}: ${context.paint.red(oneLine(one.problem ?? ''))}`)
  }
  return items.every((one) => one.ok) ? 0 : 1
}

async function operate(context: Context, id: string, verb: 'retry' | 'bury'): Promise<number> {
  const daemon = await context.daemon()
  const send = await daemon.ask(`POST /api/outbox/{id}/${verb}`, { path: { id } })
  if (context.json) await context.printJson(send)
  else await context.print(stateNow(context, send))
  return 0
}

function columns(context: Context): readonly Column<SendView>[] {
  const now = context.terminal.now()
  const { columns } = wordsIn().tables
  return [
    { title: columns.id, value: (send) => send.id },
    { title: columns.age, value: (send) => ageOf(send.created_at, now) },
    {
      title: columns.state,
      value: (send) => send.receipt ?? send.state,
      paint: (cell, send) => (cell === send.state ? paintState(context.paint, cell) : cell),
    },
    { title: columns.reason, value: (send) => send.reason ?? '', givesWay: 2 },
    { title: columns.agent, value: (send) => send.agent ?? '-', givesWay: 3 },
    { title: columns.to, value: (send) => send.to, givesWay: 4 },
    { title: columns.tries, value: (send) => String(send.attempts), align: 'right' },
    { title: columns.text, value: (send) => send.text ?? '', givesWay: 6 },
  ]
}

async function printSend(context: Context, send: SendView): Promise<void> {
  if (context.json) return void (await context.printJson(send))
  const now = context.terminal.now()
  const { fields } = wordsIn().tables
  const shown = renderFields(
    [
      [fields.id, oneLine(send.id)],
      [fields.state, paintState(context.paint, send.state)],
      [fields.receipt, oneLine(send.receipt ?? '')],
      [fields.reason, send.reason === null ? null : reasonText(send.reason)],
      [fields.detail, oneLine(send.detail ?? '')],
      [fields.to, oneLine(send.to)],
      [fields.agent, oneLine(send.agent ?? '')],
      [fields.session, oneLine(send.session ?? '')],
      [fields.cause, oneLine(send.cause)],
      [fields.answersTurn, oneLine(send.turn ?? '')],
      [fields.attempts, String(send.attempts)],
      [fields.platformIds, oneLine(send.platform_ids.join(', '))],
      [fields.created, momentAndAge(send.created_at, now)],
      [fields.updated, momentAndAge(send.updated_at, now)],
    ],
    context.paint,
  )
  await context.print(send.text === null ? shown : `${shown}\n\n${safeLines(send.text)}`)
}
