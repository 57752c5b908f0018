// The Events API at /hooks/ID. A verified request is read, received and answered within three seconds. A request that
// cannot be stored gets no 2xx, and comes again.
import type { Clock, HttpReply, VerifiedRequest } from '../../../contract/index.ts'
import type { Receiver } from '../receive.ts'

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }
const OK: HttpReply = { status: 200, headers: JSON_TYPE, body: '' }

const LATE: HttpReply = { status: 503, headers: JSON_TYPE, body: '{"ok":false,"error":"not stored in time"}' }

/** After `answerMs` there is no 2xx. The request may still be stored; then its repeat is recognised. */
export function handleRequest(
  verified: VerifiedRequest,
  receiver: Receiver,
  { clock, answerMs }: { readonly clock: Clock; readonly answerMs: number },
): Promise<HttpReply> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(answerMs, () => resolve(LATE))
    handled(verified, receiver).then(resolve, reject).finally(cancel)
  })
}

async function handled({ request }: VerifiedRequest, receiver: Receiver): Promise<HttpReply> {
  const text = Buffer.from(request.body).toString('utf8')
  const type = String(request.headers['content-type'] ?? '').toLowerCase()
  if (type.startsWith('application/x-www-form-urlencoded')) return form(new URLSearchParams(text), receiver)
  const body = parsed(text)
  if (body !== null && body.type === 'url_verification')
    return typeof body.challenge === 'string'
      ? { status: 200, headers: JSON_TYPE, body: JSON.stringify({ challenge: body.challenge.slice(0, 500) }) }
      : { status: 400, headers: JSON_TYPE, body: '{"ok":false,"error":"no challenge"}' }
  // Invalid JSON is recorded and answered with 200, because Slack would only send it again.
  await receiver.event(body ?? {})
  return OK
}

/** Buttons are in `payload`; commands have fields of their own. */
async function form(fields: URLSearchParams, receiver: Receiver): Promise<HttpReply> {
  const payload = fields.get('payload')
  if (payload !== null) {
    await receiver.interaction(parsed(payload))
    return OK
  }
  if (fields.get('command') === null) return OK
  const answer = await receiver.command(Object.fromEntries(fields))
  if (answer === undefined) return OK
  return { ...OK, body: JSON.stringify({ response_type: 'ephemeral', text: answer }) }
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
