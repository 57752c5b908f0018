// /healthz and /readyz: is the process alive, and can messages be taken.
import type { HttpReply } from '../contract/index.ts'
import { json } from './reply.ts'

export function healthReply(): HttpReply {
  return json(200, { ok: true }, { 'cache-control': 'no-store' })
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
