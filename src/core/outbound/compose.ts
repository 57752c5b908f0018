// From what is to be said to outbox rows: one row per part of a long message, so that a failure resumes at its part.
// Buttons, a claim and the note in the notification log belong to the last part: it is the one that is answered.
import { hash } from 'node:crypto'
import type {
  Address,
  Choice,
  ClaimOffer,
  NewNotification,
  NewSend,
  OutboundOp,
  PlatformAdapter,
  Random,
  SendCause,
  TextLimit,
  Urgency,
} from '../../contract/index.ts'
import type { Links } from './links.ts'

export interface Saying {
  readonly to: Address
  readonly platform: string
  readonly text: string
  readonly plain?: true
  readonly cause: SendCause
  readonly agent: string | null
  readonly session: string | null
  readonly turn: string | null
  readonly urgency?: Urgency
  readonly dueAt?: number
  readonly idempotencyKey?: string
  /** The message that is quoted, by the parts that `replyToMode` says (default: the first). */
  readonly replyTo?: string
  readonly replyToMode?: 'off' | 'first' | 'all'
  readonly choices?: readonly Choice[]
  readonly claim?: ClaimOffer
  readonly notification?: NewNotification
  /** Equal content to the same place is not sent twice within a short time. */
  readonly dedup?: boolean
}

/** Cuts a text for a platform's limit so that each part is whole there. Handed in: reading Markdown is the kit's trade. */
export type SplitText = (
  text: string,
  limit: TextLimit,
  /** `plain`: it is no Markdown. */
  shown: PlatformAdapter['markdown'] | 'plain',
) => readonly string[]

export function compose(
  saying: Saying,
  limit: TextLimit,
  deps: { split: SplitText; random: Random; links: Pick<Links, 'get'> },
): readonly NewSend[] {
  const { to, platform, cause, agent, session, turn, dueAt, idempotencyKey, claim, notification } = saying
  const adapter = deps.links.get(to.integration)?.adapter
  const shown = saying.plain ? 'plain' : (adapter?.markdown ?? 'written')
  const parts = Number.isFinite(limit.size) ? deps.split(saying.text, limit, shown) : [saying.text]
  const group = parts.length > 1 ? deps.random.uuid() : undefined
  // What is on its way keeps the name: a reload in between changes it for what is said from then on.
  const tool = adapter?.channel?.outboundTool() ?? null
  const content = saying.dedup ? contentKey(saying) : null
  return parts.map((part, index) => {
    const last = index === parts.length - 1
    return {
      to,
      platform,
      cause,
      agent,
      session,
      turn,
      op: {
        ...textOp(part, saying, { first: index === 0, last }),
        ...(tool === null ? {} : { tool }),
      },
      ...(dueAt === undefined ? {} : { dueAt }),
      ...(group === undefined ? {} : { group, part: index }),
      ...(idempotencyKey === undefined
        ? {}
        : { idempotencyKey: index === 0 ? idempotencyKey : `${idempotencyKey}#${index}` }),
      // A key for each part: whoever sends a long message again after it broke resumes at the part that failed.
      ...(content === null ? {} : { dedupKey: `${content}#${index}` }),
      ...(last && claim ? { claim } : {}),
      ...(last && notification ? { notification } : {}),
    }
  })
}

type TextOp = Extract<OutboundOp, { kind: 'text' }>

/** Where it goes, what it says, and whose replies it asks for. */
function contentKey({ to, text, claim }: Saying): string {
  const content = [to.integration, to.conversation, to.thread ?? null, text, claim?.session ?? null]
  return hash('sha256', JSON.stringify(content))
}

function textOp(text: string, saying: Saying, place: { first: boolean; last: boolean }): TextOp {
  return {
    kind: 'text',
    text,
    ...(saying.plain ? { plain: true } : {}),
    ...(saying.urgency === undefined ? {} : { urgency: saying.urgency }),
    ...(saying.replyTo !== undefined && quotes(saying, place.first) ? { replyTo: saying.replyTo } : {}),
    ...(place.last && saying.choices ? { choices: saying.choices } : {}),
  }
}

function quotes({ replyToMode = 'first' }: Saying, first: boolean): boolean {
  return replyToMode === 'all' || (replyToMode === 'first' && first)
}
