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
import { relativeTime } from '../../output/time.ts'
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
  else await context.print(`${oneLine(turn.id)} is ${paintState(context.paint, turn.state)}`)
  return 0
}

export function turnColumns(context: Context): readonly Column<TurnView>[] {
  const now = context.terminal.now()
  return [
    { title: 'ID', value: (turn) => turn.id },
    { title: 'AGE', value: (turn) => relativeTime(turn.received_at, now).replace(' ago', '') },
    {
      title: 'STATE',
      value: (turn) => turn.state,
      paint: (cell, turn) => (cell === turn.state ? paintState(context.paint, cell) : cell),
    },
    { title: 'REASON', value: (turn) => turn.reason ?? '', givesWay: 2 },
    { title: 'AGENT', value: (turn) => turn.agent ?? '-', givesWay: 3 },
    { title: 'SOURCE', value: (turn) => turn.source, givesWay: 4 },
    { title: 'SENDER', value: (turn) => turn.sender, givesWay: 5 },
    { title: 'TEXT', value: (turn) => turn.text ?? '', givesWay: 6 },
  ]
}

async function printTurn(context: Context, turn: TurnDetail): Promise<void> {
  if (context.json) return void (await context.printJson(turn))
  const now = context.terminal.now()
  const fields = renderFields(
    [
      ['id', oneLine(turn.id)],
      ['state', paintState(context.paint, turn.state)],
      ['reason', turn.reason === null ? null : reasonText(turn.reason)],
      ['agent', oneLine(turn.agent ?? '')],
      ['session', oneLine(turn.session ?? '')],
      ['source', oneLine(turn.source)],
      ['address', oneLine(turn.address)],
      ['sender', oneLine(turn.sender)],
      ['message id', oneLine(turn.message_id)],
      ['attempts', String(turn.attempts)],
      ['tokens', turn.usage === undefined ? null : usageText(turn.usage)],
      ['received', `${turn.received_at} (${relativeTime(turn.received_at, now)})`],
      ['updated', `${turn.updated_at} (${relativeTime(turn.updated_at, now)})`],
    ],
    context.paint,
  )
  const text = turn.text === null ? '' : `\n\n${safeLines(turn.text)}`
  // A daemon that was started before this version tells of none.
  const { events: told = [] } = turn
  const events = told.length === 0 ? '' : `\n\n${told.map(eventLine).join('\n')}`
  await context.print(fields + text + events)
}

function usageText({ input_tokens, output_tokens, cache_read_tokens, cost }: UsageView): string {
  const cached = cache_read_tokens > 0 ? ` (${cache_read_tokens} from the cache)` : ''
  const price = cost === undefined ? '' : `, cost ${cost}`
  return `${input_tokens} in${cached}, ${output_tokens} out${price}`
}

const EVENT_SIGNS = { tool_call: '→', tool_result: '←', error: '⚠' } as const

function eventLine({ kind, name, text }: TurnDetail['events'][number]): string {
  if (kind === 'omitted') return '… more were told than are kept'
  const what = oneLine([name, text ?? '(no longer kept)'].filter((one) => one !== null).join(' '))
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
