// Routes of conversations: the list, one as people saw it, and stepping in.
import { z } from 'zod'
import {
  type Address,
  defined,
  parseAddress,
  parseConversationCursor,
  SwitchboardError,
  type ThreadItem,
} from '../contract/index.ts'
import { type Call, type Operation, operation, whole } from '../server/api/operation.ts'
import { errorReply } from '../server/reply.ts'
import { chars, cutText } from './cut-text.ts'
import { flag, moment, momentMs, text } from './inputs.ts'
import { withoutInput, withoutPrompt } from './masking.ts'

const limit = z.coerce.number().int().min(1).max(1_000).default(50).describe('At most this many items.')
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

const at = ({ path }: Pick<Call, 'path'>): Address => parseAddress(path.address ?? '')

/** Without the right to see inputs: neither those of approvals, nor prompts, nor what agents told of their tools. */
function shown(item: ThreadItem, may: Call['may']): object {
  if (may('approval.input') || item.kind === 'takeover') return item
  if (item.kind === 'send') return withoutPrompt(item)
  return {
    ...item,
    events: item.events.map((event) => ({ ...event, text: null, masked: true })),
    approvals: item.approvals.map(withoutInput),
  }
}

export const CONVERSATIONS: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/api/conversations',
    summary: 'Every place where something was said, by when that was last.',
    query: ListQuery as z.ZodType<z.infer<typeof ListQuery>>,
    run: ({ desk, by, now, query: { held, asked, q, since, until, before, limit, ...rest } }) =>
      desk.conversations(
        {
          limit,
          ...defined({
            ...rest,
            takeover: held === 'true' ? ('held' as const) : asked === 'true' ? ('asked' as const) : undefined,
            search: q,
            sinceMs: momentMs('since', since, now),
            untilMs: momentMs('until', until, now),
          }),
          ...(before === undefined ? {} : { before: parseConversationCursor(before) }),
        },
        by,
      ),
  }),
  operation({
    method: 'GET',
    path: '/api/conversations/{address}',
    summary: 'One conversation, and who holds it.',
    run: async (call) => {
      const found = await call.desk.conversation(at(call), call.by)
      if (found === null) throw new SwitchboardError('not_found', 'nothing was ever said there')
      return found
    },
  }),
  operation({
    method: 'GET',
    path: '/api/conversations/{address}/thread',
    summary: 'What was said there, newest first: with states, attempts, approvals, tools and cost.',
    query: ThreadQuery as z.ZodType<z.infer<typeof ThreadQuery>>,
    run: async (call) => {
      const page = { limit: call.query.limit, ...defined({ before: call.query.before }) }
      const { items, next } = await call.desk.thread(at(call), page, call.by)
      return { items: items.map((item) => cutText(shown(item, call.may), call.query.chars)), next }
    },
  }),
  operation({
    method: 'GET',
    path: '/api/takeovers',
    summary: 'Conversations that a person holds, or where one was asked for.',
    query: TakeoverQuery as z.ZodType<z.infer<typeof TakeoverQuery>>,
    run: async ({ desk, by, query }) => ({
      items: await desk.takeovers(query.state ?? null, by),
      next: null,
    }),
  }),
  operation({
    method: 'POST',
    path: '/api/conversations/{address}/take',
    summary: 'Takes it over in the agent’s place. 409 when somebody else holds it.',
    action: 'conversation.hold',
    body: ForceBody as z.ZodType<z.infer<typeof ForceBody>>,
    run: async (call) => {
      const taken = await call.desk.takeConversation(at(call), { force: call.body.force === true }, call.by)
      if (taken.won) return taken
      const { address, holder_name } = taken.takeover
      const error = new SwitchboardError('held', `${address} is held by ${holder_name}`, {
        hint: 'take it from them with force: true (--force)',
      })
      return whole(errorReply(error, { takeover: taken.takeover }))
    },
  }),
  operation({
    method: 'POST',
    path: '/api/conversations/{address}/say',
    summary: 'Writes there as a person: only who holds it may.',
    action: 'conversation.hold',
    body: SayBody as z.ZodType<z.infer<typeof SayBody>>,
    run: (call) =>
      call.desk.sayHeld(
        at(call),
        {
          text: call.body.text,
          ...defined({ idempotency_key: call.body.idempotency_key, wait_ms: call.body.wait_ms }),
        },
        call.by,
      ),
  }),
  operation({
    method: 'POST',
    path: '/api/conversations/{address}/give',
    summary: 'Gives it back to the agent.',
    action: 'conversation.hold',
    body: ForceBody as z.ZodType<z.infer<typeof ForceBody>>,
    run: (call) => call.desk.giveConversation(at(call), { force: call.body.force === true }, call.by),
  }),
]
