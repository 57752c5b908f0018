// What an operator sends and notifies.
import { z } from 'zod'
import { defined } from '../contract/index.ts'
import { type Operation, operation } from '../server/api/operation.ts'
import { PageQuery, text } from './inputs.ts'

const SendBody = z.strictObject({
  to: text.describe('An address, or platform:target.'),
  text: z.string().min(1),
  thread: text.optional(),
  integration: text.optional(),
  template: z
    .strictObject({
      name: text,
      language: text,
      parameters: z.array(text).max(50).default([]),
    })
    .optional()
    .describe('Words that the platform has approved beforehand.'),
  idempotency_key: text.optional(),
  wait_ms: z.number().int().min(0).max(60_000).optional(),
})
const NotifyBody = z.strictObject({
  message: z.string().min(1),
  channel: text.optional().describe('A type, or type:integration. Default: the default channel.'),
  urgency: z.enum(['low', 'normal', 'high']).optional(),
  user: text.optional(),
})

export const SENDING: readonly Operation[] = [
  operation({
    method: 'POST',
    path: '/api/send',
    summary: 'Sends a message as the operator and waits a bounded time for the confirmation.',
    action: 'message.send',
    body: SendBody as z.ZodType<z.infer<typeof SendBody>>,
    run: ({ desk, body: { to, text, ...rest }, by }) => desk.order({ to, text, ...defined(rest) }, by),
  }),
  operation({
    method: 'POST',
    path: '/api/notify',
    summary: 'Notifies a user through a channel of theirs.',
    action: 'notify.send',
    body: NotifyBody as z.ZodType<z.infer<typeof NotifyBody>>,
    run: ({ desk, body: { message, ...rest }, by }) => desk.notify({ message, ...defined(rest) }, by),
  }),
  operation({
    method: 'GET',
    path: '/api/notifications',
    summary: 'Every attempt to notify somebody, newest first.',
    query: PageQuery,
    run: async ({ desk, query: { limit, before } }) => {
      const items = await desk.notifications(limit, before)
      return { items, next: items.length === limit ? (items.at(-1)?.id ?? null) : null }
    },
  }),
]
