// What an operator sends and notifies.
import { z } from 'zod'
import {
  type Address,
  address,
  defined,
  formatAddress,
  iso,
  type NotificationRow,
  type NotificationView,
  parseAddress,
  type Settings,
  SwitchboardError,
} from '../contract/index.ts'
import { liveParts } from './context.ts'
import { PageQuery, text } from './inputs.ts'
import { operation } from './operation.ts'

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

export const SENDING = [
  operation({
    route: 'POST /api/send',
    summary: 'Sends a message as the operator and waits a bounded time for the confirmation.',
    action: 'message.send',
    body: SendBody,
    run: async (call) => {
      const { body, by } = call
      const { outlet } = liveParts(call).gateway
      if (body.text.trim() === '') throw new SwitchboardError('input_invalid', 'text must not be empty')
      const to = resolve(call.settings(), body)
      outlet.running(to.integration)
      await outlet.demandSomebody(to)
      await call.store.note([{ kind: 'audit', ref: formatAddress(to), detail: { what: 'send', by } }])
      const rows = outlet.rows({
        to,
        text: body.text,
        cause: 'operator',
        agent: null,
        session: null,
        turn: null,
        ...defined({ idempotencyKey: body.idempotency_key, template: body.template }),
      })
      return (await outlet.post(rows, defined({ waitMs: body.wait_ms }))).result
    },
  }),
  operation({
    route: 'POST /api/notify',
    summary: 'Notifies a user through a channel of theirs.',
    action: 'notify.send',
    body: NotifyBody,
    run: async (call) => {
      const { message, channel, urgency, user } = call.body
      const { notifier } = liveParts(call).gateway
      const caller = { agent: null, session: null, user: user ?? null, turn: null, idempotencyKey: null }
      await call.store.note([
        { kind: 'audit', ref: channel ?? 'default', detail: { what: 'notify', by: call.by } },
      ])
      const notified = await notifier.notify(caller, { message, ...defined({ channel, urgency }) })
      return { ...notified.result, channel: notified.channel, to: notified.to, text: notified.text }
    },
  }),
  operation({
    route: 'GET /api/notifications',
    summary: 'Every attempt to notify somebody, newest first.',
    query: PageQuery,
    run: async ({ store, query: { limit, before } }) => {
      const rows = await store.notifications({ limit, ...defined({ before }) })
      return {
        items: rows.map(notificationView),
        next: rows.length === limit ? (rows.at(-1)?.id ?? null) : null,
      }
    },
  }),
]

function notificationView(row: NotificationRow): NotificationView {
  return {
    id: row.id,
    user: row.user,
    agent: row.agent,
    session: row.session,
    channel: row.channel,
    to: row.to,
    message: row.message,
    urgency: row.urgency,
    source: row.source,
    status: row.status,
    error: row.error,
    outbox_id: row.send,
    at: iso(row.at),
  }
}

/** `integration:conversation[:thread]`, or `platform:target` through the first integration of that platform. */
function resolve(
  { integrations }: Settings,
  order: Pick<z.output<typeof SendBody>, 'to' | 'integration' | 'thread'>,
): Address {
  const cut = order.to.indexOf(':')
  const head = cut < 0 ? order.to : order.to.slice(0, cut)
  if (integrations.some((one) => one.id === head)) {
    if (order.integration !== undefined && order.integration !== head)
      throw new SwitchboardError(
        'input_invalid',
        `"${order.to}" is a chat of ${head}, not of ${order.integration}`,
        { hint: 'leave the integration out, or address it as PLATFORM:TARGET' },
      )
    const at = parseAddress(order.to)
    return order.thread === undefined ? at : address(at.integration, at.conversation, order.thread)
  }
  const through = integrations.find(
    (one) =>
      one.platform === head &&
      one.enabled &&
      (order.integration === undefined || one.id === order.integration),
  )
  if (!through || cut < 0) {
    throw new SwitchboardError('execution_failed', `No adapter registered for platform "${head}"`, {
      hint: `integrations: ${integrations.map((one) => one.id).join(', ') || 'none'}`,
    })
  }
  return address(through.id, order.to.slice(cut + 1), order.thread)
}
