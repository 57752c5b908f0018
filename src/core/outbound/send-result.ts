// The result of a send, as data and as text. `sent` means that the platform confirmed it. All tools take their texts
// from here.
import {
  heldByText,
  type SendResult,
  type SendRow,
  SwitchboardError,
  type TakeoverRow,
} from '../../contract/index.ts'
import { wordsIn } from '../../words/index.ts'
import { ONE_WAY_HINT } from '../links.ts'

/** Returns the result of a message in one or several parts. */
export function resultOf(rows: readonly (SendRow | null)[]): SendResult {
  const known = rows.filter((row) => row !== null)
  const base = { platform_ids: known.flatMap((row) => row.platformIds), outbox_id: known[0]?.id ?? null }
  const broken = known.find((row) => row.state === 'failed' || row.state === 'unknown')
  if (broken) {
    const why = broken.detail ?? (broken.reason === null ? broken.state : wordsIn().reasons[broken.reason])
    const [code, error] =
      broken.state === 'unknown'
        ? (['outcome_unknown', `The message may have arrived, and nothing can tell: ${why}`] as const)
        : (['execution_failed', `Adapter send failed: ${why}`] as const)
    return { ok: false, status: 'failed', ...base, outbox_id: broken.id, code, error }
  }
  const waiting = known.find((row) => row.state === 'queued' || row.state === 'sending')
  if (waiting) return { ok: true, status: 'queued', ...base, outbox_id: waiting.id, code: null, error: null }
  const repeated = known.length > 0 && known.every((row) => row.state === 'deduplicated')
  return { ok: true, status: repeated ? 'deduplicated' : 'sent', ...base, code: null, error: null }
}

/** The error when a person holds the place, or answered that message instead of the agent. */
export function heldRefusal(held: Pick<TakeoverRow, 'holder' | 'holderName'>): SwitchboardError {
  return new SwitchboardError('held', `not sent: this conversation was ${heldByText(held)}`)
}

/** The error for an integration that takes no answers, with a hint how to change that. */
export function oneWayRefusal(integration: string): SwitchboardError {
  const words = `Integration "${integration}" cannot send: it is one-way`
  return new SwitchboardError('execution_failed', words, { hint: ONE_WAY_HINT })
}

/** The error for the reply tool, which names other tools that can send. */
export function unheardReply(integration: string, isAnswered: boolean): SwitchboardError {
  const ended = isAnswered ? ' The message counts as answered.' : ''
  return new SwitchboardError(
    'execution_failed',
    `Nothing was sent: integration "${integration}" is one-way, nobody hears a reply there.${ended} Use send_message or notify_user to tell somebody.`,
  )
}

export function noFilesRefusal(integration: string): SwitchboardError {
  return new SwitchboardError('execution_failed', `integration "${integration}" takes no files`)
}

export function refusedResult(error: SwitchboardError): SendResult {
  return {
    ok: false,
    status: 'failed',
    platform_ids: [],
    outbox_id: null,
    code: error.code,
    error: error.message,
  }
}

/** A tool's text for each outcome. A failure brings its own text. */
interface Words {
  readonly sent: string
  readonly deduplicated: string
  readonly queued: string
  readonly failed: string
}

const said = ({ status, error, outbox_id }: SendResult, words: Words): string =>
  status === 'failed'
    ? (error ?? words.failed)
    : status === 'queued'
      ? `${words.queued}: not confirmed yet, still trying (${outbox_id})`
      : words[status]

const SAME_TEXT = 'the same text went there less than 30 seconds ago (deduplicated)'

/** Returns the text for send_message. It keeps the original wording where there is one. */
export function sendMessageText(result: SendResult, target: string): string {
  return said(result, {
    sent: `Message sent to ${target}`,
    deduplicated: `Message to ${target} was not sent again: ${SAME_TEXT}`,
    queued: `Message to ${target} is queued`,
    failed: 'Adapter send failed',
  })
}

export function notificationText(result: SendResult, channel: string): string {
  return said(result, {
    sent: `Notification sent via ${channel}`,
    deduplicated: `Notification not sent again via ${channel}: ${SAME_TEXT}`,
    queued: `Notification queued via ${channel}`,
    failed: 'the notification could not be sent',
  })
}

/** `done`: the text for a confirmed message. */
export function sentText(result: SendResult, done: string): string {
  return said(result, {
    sent: done,
    deduplicated: 'not sent again (deduplicated)',
    queued: 'queued',
    failed: 'it could not be sent',
  })
}

/**
 * Returns the text in the form of the official plugins: the ids of the parts, or the number of parts sent before the
 * failure.
 */
export function replyText(result: SendResult, rows: readonly (SendRow | null)[]): string {
  if (!result.ok) {
    const sent = rows.filter((row) => row?.state === 'sent').length
    return `reply failed: reply failed after ${sent} of ${rows.length} chunk(s) sent: ${result.error}`
  }
  const ids = result.platform_ids
  return sentText(
    result,
    ids.length > 1 ? `sent ${ids.length} parts (ids: ${ids.join(', ')})` : `sent (id: ${ids[0] ?? '-'})`,
  )
}
