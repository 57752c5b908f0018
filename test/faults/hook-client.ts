// The sender's side of a webhook: posts, and posts again with the same key what was not acknowledged.
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

/** POST /hooks/demo as `dev`. Throws when there is no answer. */
export async function postDemo(url: string, text: string, key?: string): Promise<Posted> {
  return post(`${url}/hooks/demo`, text, {
    'x-sender': 'dev',
    ...defined({ 'idempotency-key': key }),
  })
}

/** POST to the crowd's webhook. Throws when there is no answer. */
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
 * Sends until it is acknowledged, with the same key, wherever the daemon is now (null: nowhere). Only a missing answer
 * and 503 are tried again: anything else is an error that a sender would see.
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
