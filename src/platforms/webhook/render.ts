// The forms of a hook's output: the answer to a POST, the events of the stream, and the body of a post.
import {
  defined,
  formatAddress,
  type HttpReply,
  type OutboundOp,
  type ReasonCode,
  type Received,
} from '../../contract/index.ts'
import type { FeedEvent, FeedRow } from '../../kit/index.ts'
import { wordsIn } from '../../words/index.ts'

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }
const TEXT_TYPE = { 'content-type': 'text/plain; charset=utf-8' }

export function jsonError(status: number, code: string, error: string): HttpReply {
  return { status, headers: JSON_TYPE, body: JSON.stringify({ ok: false, code, error }) }
}

/** The seed's refusal, to the letter. A stranger learns nothing more. */
export function forbidden(): HttpReply {
  return plain(403, 'forbidden')
}

function plain(status: number, body: string): HttpReply {
  return { status, headers: TEXT_TYPE, body }
}

/** Returns a sender's challenge as plain text, which no browser interprets. */
export function challengeAnswer(word: string): HttpReply {
  return { status: 200, headers: { ...TEXT_TYPE, 'x-content-type-options': 'nosniff' }, body: word }
}

/** Returns the answer once the message is stored. */
export function answerTo(
  received: Received,
  { problem, bare }: { readonly problem?: string | undefined; readonly bare?: boolean | undefined } = {},
): HttpReply {
  if (received.state === 'refused') return refusal(received, problem)
  if (received.reason === 'filtered') {
    const { id, state, reason } = received
    return { status: 200, headers: JSON_TYPE, body: JSON.stringify({ ok: true, id, state, reason }) }
  }
  const isSaidAgain = received.duplicate && received.reason === 'command'
  if (received.state === 'consumed' && !isSaidAgain) return plain(200, received.answer ?? consumed(received))
  const { id, state, duplicate } = received
  const repeat = duplicate ? { duplicate, ...(bare ? { note: BARE_REPEAT } : {}) } : {}
  return { status: 200, headers: JSON_TYPE, body: JSON.stringify({ ok: true, id, state, ...repeat }) }
}

/** A program that means to send the same text twice must know that it did not. */
const BARE_REPEAT =
  'the same signed body was taken before, and a signature over the body alone counts once: put a time or an id into the body, or use auth standard'

function consumed(received: Received): string {
  return received.reason === 'verdict' ? 'verdict recorded' : 'ok'
}

const LIMITS: readonly ReasonCode[] = ['rate_limited', 'flood']

function refusal(received: Received, problem: string | undefined): HttpReply {
  const reason = received.reason ?? 'sender_not_allowed'
  if (LIMITS.includes(reason)) {
    const seconds = Math.min(86_400, Math.max(1, Math.ceil((received.retryAfterMs ?? 1_000) / 1000)))
    const reply = jsonError(429, 'rate_limited', wordsIn().reasons[reason])
    return { ...reply, headers: { ...reply.headers, 'retry-after': String(seconds) } }
  }
  if (reason === 'unparsable') {
    const before = `This request came before and was refused then as ${received.id}. Send it again with a new id or time.`
    const why = received.duplicate ? before : (problem ?? wordsIn().reasons.unparsable)
    return jsonError(400, 'input_invalid', `unparsable: ${why}`)
  }
  if (reason === 'empty') return jsonError(400, 'input_invalid', `body: ${wordsIn().reasons.empty}`)
  if (reason === 'no_binding') return jsonError(403, 'forbidden', wordsIn().reasons.no_binding)
  return received.answer === undefined ? forbidden() : plain(403, received.answer)
}

/** Returns the readable text. A prompt says how to answer it. */
export function shownText(op: OutboundOp): string {
  switch (op.kind) {
    case 'text':
      return op.text + choices(op.choices ?? [])
    case 'prompt': {
      const how = `Reply "yes ${op.approval}" or "no ${op.approval}"`
      return op.text.includes(how) ? op.text : `${op.text}\n\n${how}`
    }
    case 'edit':
    case 'call':
      return op.text
    case 'react':
      return op.emoji
    case 'file':
      return op.caption === undefined ? op.name : `${op.caption} (${op.name})`
  }
}

function choices(list: readonly { readonly label: string }[]): string {
  return list.length === 0 ? '' : `\n\n${list.map(({ label }) => `- ${label}`).join('\n')}`
}

export type Shown = FeedRow

/** One event of the stream: plain text as in the seed, or JSON for programs. */
export function eventOf(shown: Shown, format: 'text' | 'json'): FeedEvent {
  const { kind } = shown.op
  return { ...(kind === 'edit' || kind === 'react' ? { event: kind } : {}), data: dataOf(shown, format) }
}

function dataOf(shown: Shown, format: 'text' | 'json'): string {
  if (format === 'text') return shownText(shown.op)
  return JSON.stringify({
    id: shown.id,
    chat_id: formatAddress(shown.to),
    conversation: shown.to.conversation,
    ...defined({ thread: shown.to.thread }),
    text: shownText(shown.op),
    kind: shown.op.kind,
    ...('on' in shown.op ? { on: shown.op.on } : {}),
    ...('approval' in shown.op ? { approval: shown.op.approval } : {}),
    ...('urgency' in shown.op ? { urgency: shown.op.urgency } : {}),
    at: new Date(shown.at).toISOString(),
  })
}

/** The body that is posted to `out.url`. */
export function postBody(shown: Shown): string {
  const urgency = shown.op.kind === 'text' ? (shown.op.urgency ?? 'normal') : 'normal'
  return JSON.stringify({
    message: shownText(shown.op),
    chat_id: formatAddress(shown.to),
    urgency,
    timestamp: new Date(shown.at).toISOString(),
    id: shown.id,
    ...(shown.op.kind === 'edit' ? { edits: shown.op.on } : {}),
  })
}
