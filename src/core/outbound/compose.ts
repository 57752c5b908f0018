// From what an agent says to outbox rows: one row per part of a long message, so that a failure resumes at its part.
import type { Address, NewSend, OutboundOp, Random, SendCause, Urgency } from '../../contract/index.ts'

export interface Saying {
  readonly to: Address
  readonly platform: string
  readonly text: string
  readonly cause: SendCause
  readonly agent: string | null
  readonly session: string | null
  readonly turn: string | null
  readonly urgency?: Urgency
  readonly dueAt?: number
  readonly idempotencyKey?: string
}

/** Splits a text for a platform's limit (code points). Handed in: splitting is the kit's trade. */
export type SplitText = (text: string, limit: number) => readonly string[]

export function compose(
  saying: Saying,
  limit: number,
  deps: { split: SplitText; random: Random },
): readonly NewSend[] {
  const { text, urgency, idempotencyKey, ...rest } = saying
  const parts = Number.isFinite(limit) ? deps.split(text, limit) : [text]
  const group = parts.length > 1 ? deps.random.uuid() : undefined
  return parts.map((part, index) => ({
    ...rest,
    op: textOp(part, urgency),
    ...(group === undefined ? {} : { group, part: index }),
    ...(idempotencyKey === undefined
      ? {}
      : { idempotencyKey: index === 0 ? idempotencyKey : `${idempotencyKey}#${index}` }),
  }))
}

function textOp(text: string, urgency: Urgency | undefined): OutboundOp {
  return urgency === undefined ? { kind: 'text', text } : { kind: 'text', text, urgency }
}
