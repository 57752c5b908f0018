// The requests of the load: one body for every server, signed in advance as each server expects.
import { createHmac, createSecretKey } from 'node:crypto'

/** `github` is X-Hub-Signature-256. `slack` is Slack's own scheme, which Chat SDK checks. */
export type Scheme = 'github' | 'slack'

export interface RequestPlan {
  readonly scheme: Scheme
  readonly path: string
  readonly secret: string
  readonly count: number
  /** The first number of this batch. No message id is used twice against one server. */
  readonly from: number
  /** The number of people. Each writes in their own conversation. */
  readonly people: number
}

const TEXT =
  'The deploy of the billing service failed in the second stage because the migration waits for a lock that the ' +
  'nightly report holds. Please look into it, tell me what you would change, and do not touch the report before nine.'

/** Builds complete requests as bytes, so that nothing is computed while the clock runs. */
export function buildRequests(plan: RequestPlan): Buffer[] {
  const key = createSecretKey(plan.secret, 'utf8')
  const seconds = Math.floor(Date.now() / 1000)
  return Array.from({ length: plan.count }, (_, at) => {
    const number = plan.from + at
    const person = number % plan.people
    const body = slackBody(number, person, seconds)
    const signed =
      plan.scheme === 'github'
        ? `X-Hub-Signature-256: sha256=${createHmac('sha256', key).update(body).digest('hex')}\r\n` +
          `Idempotency-Key: message-${number}\r\n`
        : `X-Slack-Signature: v0=${createHmac('sha256', key).update(`v0:${seconds}:${body}`).digest('hex')}\r\n` +
          `X-Slack-Request-Timestamp: ${seconds}\r\n`
    const head =
      `POST ${plan.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n${signed}` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`
    return Buffer.from(head + body)
  })
}

/** A direct message as Slack posts it. The Slack peer can process it. For the others it is any JSON body. */
export function slackBody(number: number, person: number, seconds: number): string {
  const user = `U${String(person).padStart(8, '0')}`
  return JSON.stringify({
    token: 'bench',
    team_id: 'T00000001',
    api_app_id: 'A00000001',
    event: {
      type: 'message',
      channel_type: 'im',
      channel: `D${String(person).padStart(8, '0')}`,
      user,
      username: `person ${person}`,
      text: TEXT,
      ts: `${seconds}.${String(number).padStart(6, '0')}`,
      client_msg_id: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
      team: 'T00000001',
    },
    type: 'event_callback',
    event_id: `Ev${String(number).padStart(8, '0')}`,
    event_time: seconds,
  })
}
