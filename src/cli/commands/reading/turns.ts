// `switchboard turns`: every message that came in, with filters; one in full; retry, cancel and follow.
import {
  SwitchboardError,
  TURN_STATES,
  type TurnDetail,
  type TurnView,
  type UsageView,
} from '../../../contract/index.ts'
import { reasonIn, wordsIn } from '../../../words/index.ts'
import type { Context, Run } from '../../context.ts'
import { daemonAbsent } from '../../failure.ts'
import { type FilterOptions, listQuery, oneMore, printList } from '../../list.ts'
import { paintState } from '../../output/colour.ts'
import { type Column, renderFields } from '../../output/table.ts'
import { oneLine, safeLines } from '../../output/text.ts'
import { ageOf, momentAndAge } from '../../output/time.ts'
import { followTurns } from './turns-follow.ts'

export interface TurnsOptions extends FilterOptions {
  readonly follow?: boolean
}

export const listTurns: Run<TurnsOptions> = async (context, _args, options) => {
  const { query, limit } = listQuery(context, options, TURN_STATES)
  return context.reading(async (api) => {
    if (options.follow === true) {
      if (!api.live) throw daemonAbsent(context.folder.path, context.startHint())
      return followTurns(context, api, { query, limit })
    }
    await printList(context, api.list('GET /api/turns', query, oneMore(limit)), turnColumns(context), {
      limit,
      empty: wordsIn().commandLine.empty.turns,
    })
    return 0
  })
}

export const showTurn: Run = (context, [id = '']) =>
  context.reading(async (api) => {
    const turn = await api.find('GET /api/turns/{id}', { path: { id } })
    if (turn === null) throw noSuchTurn(id)
    await printTurn(context, turn)
    return 0
  })

export const retryTurn: Run = (context, [id = '']) => operate(context, id, 'retry')
export const cancelTurn: Run = (context, [id = '']) => operate(context, id, 'cancel')

async function operate(context: Context, id: string, verb: 'retry' | 'cancel'): Promise<number> {
  const daemon = await context.daemon()
  const turn = await daemon.ask(`POST /api/turns/{id}/${verb}`, { path: { id } })
  if (context.json) await context.printJson(turn)
  else await context.print(stateNow(context, turn))
  return 0
}

/** What became of a turn or a message that an operator moved. */
export function stateNow(
  { paint }: Context,
  { id, state }: { readonly id: string; readonly state: string },
): string {
  return wordsIn().reports.isNow({ id: oneLine(id), state: paintState(paint, state) })
}

export function turnColumns(context: Context): readonly Column<TurnView>[] {
  const now = context.terminal.now()
  const { columns } = wordsIn().tables
  return [
    { title: columns.id, value: (turn) => turn.id },
    { title: columns.age, value: (turn) => ageOf(turn.received_at, now) },
    {
      title: columns.state,
      value: (turn) => turn.state,
      paint: (cell, turn) => (cell === turn.state ? paintState(context.paint, cell) : cell),
    },
    { title: columns.reason, value: (turn) => turn.reason ?? '', givesWay: 2 },
    { title: columns.agent, value: (turn) => turn.agent ?? '-', givesWay: 3 },
    { title: columns.source, value: (turn) => turn.source, givesWay: 4 },
    { title: columns.sender, value: (turn) => turn.sender, givesWay: 5 },
    { title: columns.text, value: (turn) => turn.text ?? '', givesWay: 6 },
  ]
}

async function printTurn(context: Context, turn: TurnDetail): Promise<void> {
  if (context.json) return void (await context.printJson(turn))
  const now = context.terminal.now()
  const { fields } = wordsIn().tables
  const shown = renderFields(
    [
      [fields.id, oneLine(turn.id)],
      [fields.state, paintState(context.paint, turn.state)],
      [fields.reason, turn.reason === null ? null : reasonText(turn.reason)],
      [fields.agent, oneLine(turn.agent ?? '')],
      [fields.session, oneLine(turn.session ?? '')],
      [fields.source, oneLine(turn.source)],
      [fields.address, oneLine(turn.address)],
      [fields.sender, oneLine(turn.sender)],
      [fields.messageId, oneLine(turn.message_id)],
      [fields.attempts, String(turn.attempts)],
      [fields.tokens, turn.usage === undefined ? null : usageText(turn.usage)],
      [fields.received, momentAndAge(turn.received_at, now)],
      [fields.updated, momentAndAge(turn.updated_at, now)],
    ],
    context.paint,
  )
  const text = turn.text === null ? '' : `\n\n${safeLines(turn.text)}`
  // A daemon that was started before this version tells of none.
  const { events: told = [] } = turn
  const events = told.length === 0 ? '' : `\n\n${told.map(eventLine).join('\n')}`
  await context.print(shown + text + events)
}

function usageText({ input_tokens, output_tokens, cache_read_tokens, cost }: UsageView): string {
  const counts = { input: input_tokens, cached: cache_read_tokens, output: output_tokens }
  return wordsIn().reports.turn.usage({ ...counts, cost })
}

const EVENT_SIGNS = { tool_call: '→', tool_result: '←', error: '⚠' } as const

function eventLine({ kind, name, text }: TurnDetail['events'][number]): string {
  const words = wordsIn().reports.turn
  if (kind === 'omitted') return words.omitted
  const what = oneLine([name, text ?? words.notKept].filter((one) => one !== null).join(' '))
  return `${EVENT_SIGNS[kind]} ${what}`
}

/** The code, and what it means where this version knows it. */
export function reasonText(code: string): string {
  const reason = reasonIn(wordsIn(), code)
  return reason === null ? oneLine(code) : `${code}: ${reason}`
}

function noSuchTurn(id: string): SwitchboardError {
  return new SwitchboardError('not_found', `there is no turn "${id}"`, {
    hint: wordsIn().commandLine.turns.listHint,
  })
}
