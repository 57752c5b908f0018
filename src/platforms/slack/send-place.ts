// The receipt of a Slack post, the thread of an op, and the check of a message id.
import { type Receipt, type SendRequest, SwitchboardError } from '../../contract/index.ts'
import { isStamp } from './stamps.ts'

/** "ok" without a message does not confirm one. For a person as the target, the receipt names the channel. */
export function receiptOf(ts: unknown, { to }: SendRequest, channel: string): Receipt {
  if (typeof ts !== 'string' || ts === '')
    throw new SwitchboardError('outcome_unknown', 'Slack’s answer names no message')
  return { platformIds: [ts], ...(channel === to.conversation ? {} : { conversation: channel }) }
}

export function threadOf({ to }: SendRequest): { readonly thread_ts?: string } {
  if (to.thread === undefined) return {}
  if (isStamp(to.thread)) return { thread_ts: to.thread }
  throw new SwitchboardError('platform_rejected', `"${to.thread.slice(0, 60)}" is not a thread of Slack`, {
    hint: 'a thread is the ts of its first message, such as 1712345678.123456',
  })
}

export function messageId(id: string): string {
  if (isStamp(id)) return id
  throw new SwitchboardError(
    'platform_rejected',
    `message_not_found: "${id.slice(0, 60)}" is not the id of a Slack message`,
  )
}
