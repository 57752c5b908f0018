// From the river to Chorus: what a delivery is answered, and which event an outbound message is.
import {
  type HttpReply,
  type OutboundOp,
  REASONS,
  type ReasonCode,
  type Received,
  type SendRequest,
  SwitchboardError,
} from '../../contract/index.ts'
import type { ChorusEvent } from '../../kit/index.ts'

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

const LIMITS: readonly (ReasonCode | null)[] = ['rate_limited', 'flood', 'queue_full']

/** 200 once all are durable; a refusal says which, as far as a service may know. */
export function answerTo(received: readonly Received[]): HttpReply {
  const refused = received.find(({ state }) => state === 'refused')
  if (!refused) {
    const shown = received.map(({ id, state, duplicate }) =>
      duplicate ? { id, state, duplicate } : { id, state },
    )
    return jsonReply(200, shown.length === 1 ? { ok: true, ...shown[0] } : { ok: true, messages: shown })
  }
  const { reason, retryAfterMs = 1_000 } = refused
  const text = reason === null ? 'It was refused.' : REASONS[reason].text
  if (LIMITS.includes(reason)) {
    const seconds = String(Math.min(86_400, Math.max(1, Math.ceil(retryAfterMs / 1000))))
    return jsonReply(429, { ok: false, code: 'rate_limited', error: text }, { 'retry-after': seconds })
  }
  if (reason === 'empty') return problemReply(`message.content: ${text}`)
  return jsonReply(403, { ok: false, code: 'forbidden', error: text })
}

/** A notice of Switchboard's own about a turn is not the agent's word: it is trouble, or news about the work. */
export function eventOf(request: SendRequest, turnFailed: boolean): ChorusEvent {
  const text = textOf(request.op)
  const event_id = request.key
  if (request.cause === 'notice' && request.turn !== undefined) {
    return turnFailed
      ? { type: 'error', message: text, code: 'turn_failed', event_id }
      : { type: 'status', status: text, event_id }
  }
  return { type: 'message', content: text, event_id }
}

/** Throws `platform_rejected` for what the protocol has no form for. */
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
