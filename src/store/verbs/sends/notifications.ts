// The notification log: every attempt to notify the user, in the commit of its outbox row if there is one.
import { type NewNotification, withoutNulls } from '../../../contract/index.ts'
import { digestOf } from '../../mac.ts'
import { run, type Steps } from '../../statement.ts'
import { oneByOne, recordFact, type Verb, type VerbContext } from '../../verb-context.ts'

export interface Attempt extends NewNotification {
  readonly status: 'queued' | 'deduplicated' | 'failed' | 'not_sent'
  readonly error: string | null
  /** Position of the outbox row. */
  readonly send: number | null
}

export function* writeNotification(context: VerbContext, attempt: Attempt): Steps<void> {
  const id = `nlog_${Buffer.from(context.random.bytes(12)).toString('base64url')}`
  const digest = digestOf(attempt.message)
  yield* run(
    `INSERT INTO notification_log (id, user_id, agent, session, channel, message, digest, urgency, source, status,
     error, send, at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    [
      id,
      attempt.user,
      attempt.agent,
      attempt.session,
      attempt.channel,
      attempt.message,
      digest,
      attempt.urgency,
      attempt.source,
      attempt.status,
      attempt.error,
      attempt.send,
      context.now,
    ],
  )
  recordFact(
    context,
    { kind: 'notification', ref: id, to: attempt.status, digest },
    {
      user: attempt.user,
      channel: attempt.channel,
      ...withoutNulls({ agent: attempt.agent, error: attempt.error }),
    },
  )
}

export type LogCall = NewNotification & { readonly status: 'failed' | 'not_sent'; readonly error: string }

export const logNotification: Verb<LogCall, void> = oneByOne((context, attempt) =>
  writeNotification(context, { ...attempt, send: null }),
)
