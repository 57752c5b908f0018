// Composes outbox rows: one row per part of a long message, so that a failure resumes at its part. Buttons, a claim and
// the entry in the notification log belong to the last part, because people answer that one.
import { hash } from 'node:crypto'
import {
  type Address,
  type Choice,
  type ClaimOffer,
  defined,
  type MarkdownForm,
  type NewNotification,
  type NewSend,
  type OutboundOp,
  type Random,
  type SendCause,
  type Template,
  type TextLimit,
  type Urgency,
} from '../../contract/index.ts'

export interface Saying {
  readonly to: Address
  readonly text: string
  readonly plain?: true
  readonly cause: SendCause
  readonly agent: string | null
  readonly session: string | null
  readonly turn: string | null
  readonly urgency?: Urgency
  readonly dueAt?: number
  readonly idempotencyKey?: string
  /** The message that is quoted, by the parts that `replyToMode` selects (default: the first). */
  readonly replyTo?: string
  readonly replyToMode?: 'off' | 'first' | 'all'
  readonly choices?: readonly Choice[]
  /** Sent after the text, each separately. A refused file holds back neither the text nor the other files. */
  readonly files?: readonly FileOp[]
  readonly claim?: ClaimOffer
  readonly notification?: NewNotification
  /** Equal content to the same place is not sent twice within a short time. */
  readonly dedup?: boolean
  /** A message template that the platform has approved: one message, whatever `text` contains. */
  readonly template?: Template
}

/**
 * Cuts a text for a platform's limit so that each part is well-formed there. It is injected because the kit reads
 * Markdown.
 */
export type SplitText = (
  said: Pick<Saying, 'text' | 'plain'>,
  limit: TextLimit,
  markdown: MarkdownForm,
) => readonly string[]

export type FileOp = Extract<OutboundOp, { kind: 'file' }>

export interface Place {
  readonly platform: string
  /** The limit of one message. */
  readonly limit: TextLimit
  /** How the platform shows Markdown. */
  readonly markdown: MarkdownForm
  /** The tool of a channel server that takes the text; null: no channel server. */
  readonly tool: string | null
}

export function compose(
  saying: Saying,
  { platform, limit, tool, markdown }: Place,
  deps: { readonly split: SplitText; readonly random: Random },
): readonly NewSend[] {
  const { to, cause, agent, session, turn, dueAt, idempotencyKey, claim, notification, files = [] } = saying
  // Files may come without text.
  const wordless = files.length > 0 && saying.text.trim() === ''
  const whole = wordless ? [] : [saying.text]
  const cut = saying.template === undefined && Number.isFinite(limit.size)
  const parts = cut ? deps.split(saying, limit, markdown) : whole
  const group = parts.length > 1 ? deps.random.uuid() : undefined
  const content = saying.dedup ? contentKey(saying) : null
  const row = (op: OutboundOp, part: number | null, keyed: string): NewSend => ({
    to,
    platform,
    cause,
    agent,
    session,
    turn,
    op,
    ...defined({ dueAt }),
    ...(group === undefined || part === null ? {} : { group, part }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey: idempotencyKey + keyed }),
  })
  const texts = parts.map((part, index): NewSend => {
    const last = index === parts.length - 1
    const op = textOp(part, saying, { first: index === 0, last })
    return {
      ...row(tool === null ? op : { ...op, tool }, index, index === 0 ? '' : `#${index}`),
      // Each part has a key, so a repeated long message resumes at the part that failed.
      ...(content === null ? {} : { dedupKey: `${content}#${index}` }),
      ...(last && claim ? { claim } : {}),
      ...(last && notification ? { notification } : {}),
    }
  })
  return [...texts, ...files.map((op, index) => row(op, null, `#file${index}`))]
}

type TextOp = Extract<OutboundOp, { kind: 'text' }>

/** The target, the text, and the session whose replies it asks for. */
function contentKey({ to, text, claim, template }: Saying): string {
  const content = [to.integration, to.conversation, to.thread ?? null, text, claim?.session ?? null]
  if (template !== undefined) content.push(JSON.stringify(template))
  return hash('sha256', JSON.stringify(content))
}

function textOp(text: string, saying: Saying, place: { first: boolean; last: boolean }): TextOp {
  return {
    kind: 'text',
    text,
    ...(saying.plain ? { plain: true } : {}),
    ...defined({ urgency: saying.urgency, template: saying.template }),
    ...(saying.replyTo !== undefined && quotes(saying, place.first) ? { replyTo: saying.replyTo } : {}),
    ...(place.last && saying.choices ? { choices: saying.choices } : {}),
  }
}

function quotes({ replyToMode = 'first' }: Saying, first: boolean): boolean {
  return replyToMode === 'all' || (replyToMode === 'first' && first)
}
