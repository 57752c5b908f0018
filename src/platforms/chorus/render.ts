// The form of our side of Chorus: the answer to a delivery, and the event of an outbound message.
import {
  defined,
  type HttpReply,
  type OutboundOp,
  type ReasonCode,
  type Received,
  type SendRequest,
  type Signal,
  SwitchboardError,
  withoutNulls,
} from '../../contract/index.ts'
import type { ChorusEvent } from '../../kit/index.ts'
import { wordsIn } from '../../words/index.ts'

export function jsonReply(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): HttpReply {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: JSON.stringify(value),
  }
}

export function problemReply(problem: string): HttpReply {
  return jsonReply(400, { ok: false, code: 'input_invalid', error: problem })
}

const LIMITS: readonly (ReasonCode | null)[] = ['rate_limited', 'flood']

interface Refusal {
  readonly status: number
  readonly code: string
  readonly error: string
  readonly retryAfterMs?: number
}

/**
 * Returns 200 once all are durable. Refusals within a batch are listed one by one, because the others were taken. The
 * status is 429 while some may come again, since a service may read only the status. Another refusal needs that all are
 * refused.
 */
export function answerTo(received: readonly Received[]): HttpReply {
  const results = received.map((one) => ({ one, refusal: refusalOf(one) }))
  const refusals = results.flatMap(({ refusal }) => refusal ?? [])
  const messages = results.map(({ one: { id, state, duplicate }, refusal }) => ({
    id,
    state,
    ...(duplicate ? { duplicate } : {}),
    ...(refusal ? { code: refusal.code, error: refusal.error } : {}),
  }))
  const [only] = messages
  const batch = received.length === 1 ? null : { messages }
  const again = refusals.filter(({ status }) => status === 429)
  const told = again[0] ?? (refusals.length === received.length ? refusals[0] : undefined)
  if (!told) return jsonReply(200, { ok: refusals.length === 0, ...(batch ?? only) })
  const pauseMs = Math.max(...again.map(({ retryAfterMs = 1_000 }) => retryAfterMs))
  const headers =
    again.length === 0
      ? {}
      : { 'retry-after': String(Math.min(86_400, Math.max(1, Math.ceil(pauseMs / 1000)))) }
  return jsonReply(told.status, { ok: false, code: told.code, error: told.error, ...batch }, headers)
}

/** The part of the reason that a service may know. */
function refusalOf({ state, reason, retryAfterMs }: Received): Refusal | null {
  if (state !== 'refused') return null
  const error = reason === null ? wordsIn().platforms.chorus.refused : wordsIn().reasons[reason]
  const pause = defined({ retryAfterMs })
  if (LIMITS.includes(reason)) return { status: 429, code: 'rate_limited', error, ...pause }
  return { status: 403, code: 'forbidden', error }
}

/** A notice of Switchboard about a turn is not the agent's message. It is an error or a status. */
export function eventOf(request: SendRequest, turnFailed: boolean): ChorusEvent {
  const text = textOf(request.op)
  const event_id = request.key
  if (request.cause === 'notice' && request.turn !== undefined) {
    return turnFailed
      ? { ...failureOf(request.op, text), event_id }
      : { type: 'status', status: text, event_id }
  }
  return { type: 'message', content: text, event_id }
}

/** A tool that the agent ran by itself, for a service that shows it. */
export function toolEvent({ event, call, name, text }: Extract<Signal, { kind: 'tool' }>): ChorusEvent {
  const id = withoutNulls({ id: call })
  return event === 'tool_call'
    ? { type: 'tool_call', name: name ?? 'tool', args: parsed(text), ...id }
    : { type: 'tool_result', content: text, ...id }
}

/** Arguments are JSON unless they were cut. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The plain cause, with the agent's own code. A service adds its own marks. */
function failureOf(op: OutboundOp, text: string): Extract<ChorusEvent, { type: 'error' }> {
  const told = op.kind === 'text' ? op.failure : undefined
  const message = told?.message ?? text.replace(/^⚠️ Your message was not answered\. /u, '')
  return { type: 'error', message, code: told?.code ?? 'turn_failed' }
}

/** Throws `platform_rejected` for an op that the protocol cannot express. */
function textOf(op: OutboundOp): string {
  switch (op.kind) {
    case 'text':
      return (op.urgency === 'high' ? `❗ ${op.text}` : op.text) + choices(op.choices ?? [])
    case 'prompt': {
      const how = `Reply "yes ${op.approval}" or "no ${op.approval}"`
      return op.text.includes(how) ? op.text : `${op.text}\n\n${how}`
    }
    case 'edit':
    case 'react':
    case 'file':
    case 'call':
      throw new SwitchboardError('platform_rejected', `a Chorus service cannot be sent a ${op.kind}`)
  }
}

function choices(list: readonly { readonly label: string }[]): string {
  return list.length === 0 ? '' : `\n\n${list.map(({ label }) => `- ${label}`).join('\n')}`
}
