// Messages from Switchboard itself to a person, such as an offline agent or a message that was given up. They go
// through the outbox, and never to a place that takes no messages.
import { type Address, defined, type NewSend, REASONS, type ReasonCode } from '../contract/index.ts'

export interface NoticeTarget {
  readonly to: Address
  readonly platform: string
  readonly agent: string | null
  readonly session: string | null
  readonly turn: string | null
}

/** Returns a notice. Notices with the same key are sent once. */
export function notice(
  target: NoticeTarget,
  text: string,
  idempotencyKey?: string,
  failure?: { readonly message: string; readonly code?: string },
): NewSend {
  return {
    ...target,
    op: { kind: 'text', text, ...defined({ failure }) },
    cause: 'notice',
    ...defined({ idempotencyKey }),
  }
}

export function givenUpText(reason: ReasonCode, detail?: string): string {
  const why = detail ? `${REASONS[reason].text} (${detail})` : REASONS[reason].text
  return `⚠️ Your message was not answered. ${why}`
}

/** The text an agent had produced before it went silent. */
export function incompleteText(text: string): string {
  return `${text.trimEnd()} …\n\n⚠️ Incomplete: the agent stopped here.`
}

/** Replaces the beginning of an answer that our end cut off. */
export const INTERRUPTED_TEXT = '⏳ Interrupted, asking again …'

/** The answer to a command or tap that would change the target of a conversation. */
export function heldText(name: string): string {
  return `This conversation is held by ${name}; that can be done when it is given back.`
}

export interface UndeliveredCount {
  readonly failed: number
  readonly unknown: number
  readonly of: 'answer' | 'file' | 'question'
}

/**
 * Returns a notice about messages of a conversation that were not delivered, or may not have been. It quotes nothing
 * and is tried once.
 */
export function undeliveredNotice(target: NoticeTarget, count: UndeliveredCount): NewSend {
  const text = undeliveredText(count)
  return { ...target, op: { kind: 'text', text, once: true }, cause: 'notice' }
}

function undeliveredText({ failed, unknown, of }: UndeliveredCount): string {
  const one = of === 'answer' ? 'An answer' : `A ${of}`
  const counted = (count: number) => (count === 1 ? one : `${count} ${of}s`)
  const lost = failed === 0 ? [] : [`${counted(failed)} could not be delivered.`]
  const open = unknown === 0 ? [] : [`${counted(unknown)} may not have arrived.`]
  return `⚠️ ${[...lost, ...open].join(' ')}`
}

export const NO_REPLY_TEXT = 'The agent finished without replying.'

export function unseenText(agent: string): string {
  return `${agent} has not picked up your message yet. It was delivered and is kept; the answer will come here.`
}

export function unreachableText(agent: string): string {
  return `${agent} is not answering. Your message is kept and will be delivered when it answers again.`
}

export function busyText(agent: string): string {
  return `${agent} is busy with other conversations. Your message is kept and will be taken up when there is room.`
}

export function offlineText(agent: string): string {
  return `${agent} is offline. Your message is kept and will be delivered when it is back.`
}
