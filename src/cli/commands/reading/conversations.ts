// `switchboard conversations`: every place where something was said, and one of them as people saw it.
import {
  type ConversationView,
  conversationCursor,
  defined,
  SwitchboardError,
  type TakeoverView,
  type ThreadItem,
} from '../../../contract/index.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Context, Run } from '../../context.ts'
import { limitOf, momentOption, oneMore, printList } from '../../list.ts'
import { paintState } from '../../output/colour.ts'
import { type Column, renderFields } from '../../output/table.ts'
import { oneLine, safeLines } from '../../output/text.ts'
import { relativeTime } from '../../output/time.ts'

export interface ConversationsOptions {
  readonly integration?: string
  readonly agent?: string
  readonly held?: boolean
  readonly asked?: boolean
  readonly search?: string
  readonly since?: string
  readonly limit?: string
  readonly before?: string
}

export const listConversations: Run<ConversationsOptions> = async (context, _args, options) => {
  const { integration, agent, held, asked, search, since, before } = options
  const limit = limitOf(context, options.limit)
  const query = defined({
    integration,
    agent,
    held: held ? ('true' as const) : undefined,
    asked: asked ? ('true' as const) : undefined,
    q: search,
    since: momentOption(context, since, '--since'),
    before,
  })
  return context.reading(async (api) => {
    const rows = api.list('GET /api/conversations', query, oneMore(limit))
    await printList(context, rows, columns(context), {
      limit,
      place: ({ last_at, address }) => conversationCursor({ at: Date.parse(last_at), address }) ?? '',
      empty: wordsIn().commandLine.empty.conversations,
    })
    if (!api.live) context.note(wordsIn().commandLine.conversations.mayLack)
    return 0
  })
}

/** So many of the latest are shown. */
const SHOWN = 50

export const showConversation: Run = (context, [address = '']) =>
  context.reading(async (api) => {
    const path = { address }
    const conversation = await api.find('GET /api/conversations/{address}', { path })
    if (conversation === null)
      throw new SwitchboardError('not_found', `nothing was ever said at ${oneLine(address)}`, {
        hint: wordsIn().commandLine.conversations.listHint,
      })
    const thread = await api.ask('GET /api/conversations/{address}/thread', { path, query: { limit: SHOWN } })
    if (context.json) await context.printJson({ ...conversation, thread: thread.items, next: thread.next })
    else await context.print(describe(context, conversation, thread.items))
    if (thread.next !== null) context.note(`only the latest ${SHOWN} are shown; /api has all of them`)
    return 0
  })

function columns(context: Context): readonly Column<ConversationView>[] {
  const now = context.terminal.now()
  return [
    { title: 'ADDRESS', value: (row) => row.address, givesWay: 1 },
    { title: 'AGENT', value: (row) => row.agent ?? '', givesWay: 2 },
    { title: 'LAST', value: (row) => relativeTime(row.last_at, now) },
    { title: 'TURNS', value: (row) => String(row.turns), align: 'right' },
    { title: 'HELD', value: (row) => heldIn(row.takeover), givesWay: 3 },
    { title: 'WITH', value: (row) => row.sender_name ?? row.sender ?? '', givesWay: 4 },
    { title: 'LABEL', value: (row) => row.label ?? '', givesWay: 6 },
    { title: 'SAID', value: (row) => row.last?.text ?? '', givesWay: 5 },
  ]
}

function heldIn(takeover: TakeoverView | null): string {
  if (takeover === null) return ''
  return takeover.state === 'held' ? `by ${takeover.holder_name}` : 'a person was asked for'
}

function describe(context: Context, row: ConversationView, thread: readonly ThreadItem[]): string {
  const { takeover } = row
  const fields = renderFields(
    [
      ['address', oneLine(row.address)],
      ['platform', oneLine(row.platform)],
      ['label', row.label === null ? null : oneLine(row.label)],
      ['agent', row.agent === null ? null : oneLine(row.agent)],
      ['held', takeover === null ? null : oneLine(heldIn(takeover))],
      ['ends', takeover?.ends_at ?? null],
      ['asked', takeover?.asked ? oneLine(`${takeover.asked.by}: ${takeover.asked.reason ?? ''}`) : null],
      ['summary', takeover?.asked?.summary ? safeLines(takeover.asked.summary) : null],
      ['turns', String(row.turns)],
    ],
    context.paint,
  )
  return [fields, '', ...thread.toReversed().map((item) => lineOf(context, item))].join('\n')
}

function lineOf(context: Context, item: ThreadItem): string {
  const at = item.at.slice(0, 19).replace('T', ' ')
  if (item.kind === 'takeover') {
    const words = {
      asked: 'a person was asked for',
      taken: `taken over by ${oneLine(item.holder_name ?? '')}`,
      ended: `ended (${item.ended?.how}) by ${oneLine(item.ended?.by ?? '')}`,
    }
    return `${at}  — ${item.marks.map((mark) => words[mark]).join(', ')}`
  }
  const reason = item.reason === null ? '' : `: ${item.reason}`
  const state = `${paintState(context.paint, item.state)}${reason}`
  const who =
    item.kind === 'turn' ? (item.sender_name ?? item.sender) : (item.by ?? item.agent ?? 'switchboard')
  return `${at}  ${item.kind === 'turn' ? '▶' : '◀'} ${oneLine(who)} [${state}] ${safeLines(item.text ?? '(not kept)')}`
}
