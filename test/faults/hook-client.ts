// The sender's side of a webhook: it posts, and repeats unacknowledged posts with the same key.
import { defined } from '../../src/contract/index.ts'
import { CROWD_SECRET } from './scene.ts'
import { pause } from './until.ts'

export interface Posted {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

export interface Acknowledged {
  readonly ok: true
  readonly id: string
  readonly state: string
  readonly duplicate?: true
}

export interface Message {
  readonly conversation: string
  readonly key: string
  readonly text: string
}

/** POST /hooks/demo as `dev`. Throws without an answer. */
export async function postDemo(url: string, text: string, key?: string): Promise<Posted> {
  return post(`${url}/hooks/demo`, text, {
    'x-sender': 'dev',
    ...defined({ 'idempotency-key': key }),
  })
}

/** POST to the crowd's webhook. Throws without an answer. */
export function postCrowd(url: string, message: Message): Promise<Posted> {
  return post(`${url}/hooks/crowd`, message.text, {
    'x-webhook-secret': CROWD_SECRET,
    'x-conversation': message.conversation,
    'idempotency-key': message.key,
  })
}

export async function post(url: string, body: string, headers: Record<string, string>): Promise<Posted> {
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: { 'content-type': 'text/plain', ...headers },
    signal: AbortSignal.timeout(20_000),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

export function acknowledged(posted: Posted): Acknowledged {
  if (posted.status !== 200) throw new Error(`${posted.status}: ${posted.text}`)
  return JSON.parse(posted.text) as Acknowledged
}

/**
 * Posts with the same key until it is acknowledged, wherever the daemon is now (null for nowhere). It repeats only
 * after a missing answer or 503. Any other status is an error that a sender would see.
 */
export async function persist(
  url: () => string | null,
  send: (url: string) => Promise<Posted>,
): Promise<Acknowledged> {
  for (;;) {
    const at = url()
    if (at !== null) {
      const posted = await send(at).catch(() => null)
      if (posted !== null && posted.status !== 503) return acknowledged(posted)
    }
    await pause(5)
  }
}
