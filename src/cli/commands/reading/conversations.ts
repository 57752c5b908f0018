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
    if (thread.next !== null) context.note(wordsIn().reports.conversation.cut({ count: SHOWN }))
    return 0
  })

function columns(context: Context): readonly Column<ConversationView>[] {
  const now = context.terminal.now()
  const { columns } = wordsIn().tables
  return [
    { title: columns.address, value: (row) => row.address, givesWay: 1 },
    { title: columns.agent, value: (row) => row.agent ?? '', givesWay: 2 },
    { title: columns.last, value: (row) => relativeTime(row.last_at, now) },
    { title: columns.turns, value: (row) => String(row.turns), align: 'right' },
    { title: columns.held, value: (row) => heldIn(row.takeover), givesWay: 3 },
    { title: columns.with, value: (row) => row.sender_name ?? row.sender ?? '', givesWay: 4 },
    { title: columns.label, value: (row) => row.label ?? '', givesWay: 6 },
    { title: columns.said, value: (row) => row.last?.text ?? '', givesWay: 5 },
  ]
}

function heldIn(takeover: TakeoverView | null): string {
  if (takeover === null) return ''
  const words = wordsIn().reports.conversation
  return takeover.state === 'held' ? words.heldBy({ name: takeover.holder_name ?? '' }) : words.asked
}

function describe(context: Context, row: ConversationView, thread: readonly ThreadItem[]): string {
  const { takeover } = row
  const { fields } = wordsIn().tables
  const shown = renderFields(
    [
      [fields.address, oneLine(row.address)],
      [fields.platform, oneLine(row.platform)],
      [fields.label, row.label === null ? null : oneLine(row.label)],
      [fields.agent, row.agent === null ? null : oneLine(row.agent)],
      [fields.held, takeover === null ? null : oneLine(heldIn(takeover))],
      [fields.ends, takeover?.ends_at ?? null],
      [
        fields.asked,
        takeover?.asked ? oneLine(`${takeover.asked.by}: ${takeover.asked.reason ?? ''}`) : null,
      ],
      [fields.summary, takeover?.asked?.summary ? safeLines(takeover.asked.summary) : null],
      [fields.turns, String(row.turns)],
    ],
    context.paint,
  )
  return [shown, '', ...thread.toReversed().map((item) => lineOf(context, item))].join('\n')
}

function lineOf(context: Context, item: ThreadItem): string {
  const at = item.at.slice(0, 19).replace('T', ' ')
  const words = wordsIn().reports.conversation
  if (item.kind === 'takeover') {
    const marks = {
      asked: words.asked,
      taken: words.taken({ name: oneLine(item.holder_name ?? '') }),
      ended: words.ended({ how: item.ended?.how, name: oneLine(item.ended?.by ?? '') }),
    }
    return `${at}  — ${item.marks.map((mark) => marks[mark]).join(', ')}`
  }
  const reason = item.reason === null ? '' : `: ${item.reason}`
  const state = `${paintState(context.paint, item.state)}${reason}`
  const who =
    item.kind === 'turn' ? (item.sender_name ?? item.sender) : (item.by ?? item.agent ?? 'switchboard')
  return `${at}  ${item.kind === 'turn' ? '▶' : '◀'} ${oneLine(who)} [${state}] ${safeLines(item.text ?? words.notKept)}`
}
