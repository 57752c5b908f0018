// /healthz and /readyz: is the process alive, and can messages be taken.
import { defined, type HttpReply } from '../contract/index.ts'
import { json } from './reply.ts'

/** `near` is told to our own probe alone. */
export function healthReply(near?: boolean): HttpReply {
  return json(200, { ok: true, ...defined({ near }) }, { 'cache-control': 'no-store' })
}

export function readyReply(
  ready: { readonly ready: boolean; readonly detail: string },
  draining: boolean,
): HttpReply {
  const headers = { 'cache-control': 'no-store' }
  if (draining) return json(503, { ready: false, reason: 'draining' }, { ...headers, 'retry-after': '5' })
  if (ready.ready) return json(200, { ready: true }, headers)
  return json(503, { ready: false, reason: ready.detail }, { ...headers, 'retry-after': '5' })
}
