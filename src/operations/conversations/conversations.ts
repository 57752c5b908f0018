// Routes of conversations: the list, one as people saw it, and stepping in.
import { z } from 'zod'
import {
  type Address,
  conversationCursor,
  defined,
  parseAddress,
  parseConversationCursor,
  parseThreadCursor,
  type Store,
  SwitchboardError,
  type ThreadItem,
  threadCursor,
} from '../../contract/index.ts'
import { whole } from '../../server/api/operation.ts'
import { errorReply } from '../../server/reply.ts'
import { liveParts } from '../context.ts'
import { chars, cutText } from '../cut-text.ts'
import { flag, moment, momentMs, text } from '../inputs.ts'
import { withoutInput, withoutPrompt } from '../masking.ts'
import { type Call, operation } from '../operation.ts'
import { conversationView, takeoverView, threadItem } from './conversation-view.ts'

const limit = z.coerce
  .number<string | number>()
  .int()
  .min(1)
  .max(1_000)
  .default(50)
  .describe('At most this many items.')
const before = z.string().min(1).max(4_000).optional().describe('The cursor `next` of the page before.')

const ListQuery = z.strictObject({
  integration: text.optional(),
  agent: text.optional(),
  held: flag.describe('Only those that a person holds.'),
  asked: flag.describe('Only those where a person was asked for.'),
  q: z.string().min(1).max(200).optional().describe('Part of an id or a name.'),
  since: moment,
  until: moment,
  limit,
  before,
})
const ThreadQuery = z.strictObject({ limit, before, chars })
const TakeoverQuery = z.strictObject({ state: z.enum(['asked', 'held']).optional() })
const ForceBody = z.strictObject({
  force: z.boolean().optional().describe('Also where another one holds it.'),
})
const SayBody = z.strictObject({
  text: z.string().min(1).max(100_000),
  idempotency_key: text.optional(),
  wait_ms: z.number().int().min(0).max(60_000).optional(),
})

const at = (call: { readonly path: { readonly address: string } }): Address => parseAddress(call.path.address)

/** Brings the list up to date. Without a daemon nothing may be written, so the list is the one of its last time. */
async function gathered(store: Pick<Store, 'gatherConversations'>): Promise<void> {
  try {
    while (await store.gatherConversations());
  } catch (thrown) {
    if (!(thrown instanceof SwitchboardError) || thrown.code !== 'daemon_absent') throw thrown
  }
}

/** Without the right to see inputs: neither those of approvals, nor prompts, nor what agents told of their tools. */
function shown(item: ThreadItem, may: Call['may']): ThreadItem {
  if (may('approval.input') || item.kind === 'takeover') return item
  if (item.kind === 'send') return withoutPrompt(item)
  return {
    ...item,
    events: item.events.map((event) => ({ ...event, text: null, masked: true as const })),
    approvals: item.approvals.map(withoutInput),
  }
}

export const CONVERSATIONS = [
  operation({
    route: 'GET /api/conversations',
    summary: 'Every place where something was said, by when that was last.',
    query: ListQuery,
    run: async (call) => {
      const { held, asked, q, since, until, before, limit, ...rest } = call.query
      const filter = defined({
        ...rest,
        takeover: held === 'true' ? ('held' as const) : asked === 'true' ? ('asked' as const) : undefined,
        search: q,
        sinceMs: momentMs('since', since, call.now),
        untilMs: momentMs('until', until, call.now),
        before: before === undefined ? undefined : parseConversationCursor(before),
      })
      await gathered(call.store)
      const { rows, next } = await call.store.conversations({ ...filter, limit })
      return { items: rows.map((row) => conversationView(row, call)), next: conversationCursor(next) }
    },
  }),
  operation({
    route: 'GET /api/conversations/{address}',
    summary: 'One conversation, and who holds it.',
    run: async (call) => {
      const place = at(call)
      await gathered(call.store)
      const row = await call.store.conversation(place)
      if (row === null) throw new SwitchboardError('not_found', 'nothing was ever said there')
      return conversationView(row, call)
    },
  }),
  operation({
    route: 'GET /api/conversations/{address}/thread',
    summary: 'What was said there, newest first: with states, attempts, approvals, tools and cost.',
    query: ThreadQuery,
    run: async (call) => {
      const { limit, before, chars } = call.query
      const place = at(call)
      const from = before === undefined ? {} : { before: parseThreadCursor(before) }
      await gathered(call.store)
      const { rows, next } = await call.store.thread(place, { limit, ...from })
      const items = rows.map((row) => cutText(shown(threadItem(row, call), call.may), chars))
      return { items, next: threadCursor(next) }
    },
  }),
  operation({
    route: 'GET /api/takeovers',
    summary: 'Conversations that a person holds, or where one was asked for.',
    query: TakeoverQuery,
    run: async (call) => {
      const rows = await call.store.takeovers(defined({ state: call.query.state }))
      return { items: rows.map((row) => takeoverView(row, call)), next: null }
    },
  }),
  operation({
    route: 'POST /api/conversations/{address}/take',
    summary: 'Takes it over in the agent’s place. 409 when somebody else holds it.',
    action: 'conversation.hold',
    body: ForceBody,
    run: async (call) => {
      const { takeovers } = liveParts(call).gateway
      const { won, previous, queued, running, ...taken } = await takeovers.take(
        at(call),
        call.by,
        call.body.force === true,
      )
      const takeover = takeoverView(taken.takeover, call)
      if (won)
        return {
          won,
          takeover,
          previous: previous === null ? null : takeoverView(previous, call),
          /** How many turns it ended. */
          ended: { queued: queued.length, running: running.length },
        }
      const error = new SwitchboardError('held', `${takeover.address} is held by ${takeover.holder_name}`, {
        hint: 'take it from them with force: true (--force)',
      })
      return whole(errorReply(error, { takeover }))
    },
  }),
  operation({
    route: 'POST /api/conversations/{address}/say',
    summary: 'Writes there as a person: only who holds it may.',
    action: 'conversation.hold',
    body: SayBody,
    run: (call) => {
      const { text, idempotency_key, wait_ms } = call.body
      return liveParts(call).gateway.takeovers.say(at(call), call.by, {
        text,
        ...defined({ idempotencyKey: idempotency_key, waitMs: wait_ms }),
      })
    },
  }),
  operation({
    route: 'POST /api/conversations/{address}/give',
    summary: 'Gives it back to the agent.',
    action: 'conversation.hold',
    body: ForceBody,
    run: async (call) => {
      const { takeovers } = liveParts(call).gateway
      const row = await takeovers.give(at(call), call.by, call.body.force === true)
      return { takeover: takeoverView(row, call) }
    },
  }),
]
