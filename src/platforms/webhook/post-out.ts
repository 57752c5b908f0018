// Answers posted to a URL: signed, under the guard, and told honestly when nobody knows whether they arrived.
import { asSwitchboardError, SwitchboardError } from '../../contract/index.ts'
import { type GuardedFetch, type GuardedResponse, signSha256 } from '../../kit/index.ts'
import type { Outward } from './config.ts'
import { postBody, type Shown } from './render.ts'

const TIMEOUT_MS = 10_000
const MAX_RESPONSE_BYTES = 65_536

/** Resolves on a 2xx. Otherwise throws by whether trying again can help. */
export async function postOut(
  out: Extract<Outward, { kind: 'post' }>,
  shown: Shown,
  post: GuardedFetch,
): Promise<void> {
  const body = postBody(shown)
  const response = await post({
    url: out.url,
    method: 'POST',
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'idempotency-key': shown.id,
      'user-agent': 'switchboard',
      ...(out.key === null ? {} : { 'x-signature-256': signSha256(out.key, body) }),
    },
    body,
    timeoutMs: TIMEOUT_MS,
    maxResponseBytes: MAX_RESPONSE_BYTES,
    allowPrivate: out.allowPrivate,
    allowHttp: true,
  }).catch((thrown: unknown) => {
    throw refusedByGuard(thrown)
  })
  judge(response, shown.at)
}

function judge(response: GuardedResponse, now: number): void {
  const { status } = response
  if (status >= 200 && status < 300) return
  if (status === 429 || status === 408 || status >= 500) {
    const retryAfterMs = retryAfter(response.headers['retry-after'], now)
    throw new SwitchboardError('platform_unavailable', `out.url answered ${status}`, {
      ...(retryAfterMs === null ? {} : { retryAfterMs }),
    })
  }
  const hint = status < 400 ? { hint: 'redirects are not followed: give the final URL' } : {}
  throw new SwitchboardError('platform_rejected', `out.url answered ${status}`, hint)
}

/** A URL that the guard does not take will not be taken later either. */
function refusedByGuard(thrown: unknown): SwitchboardError {
  const error = asSwitchboardError(thrown, 'platform_unavailable')
  if (error.code !== 'forbidden' && error.code !== 'input_invalid') return error
  return new SwitchboardError('platform_rejected', `out.url: ${error.message}`, {
    hint: error.hint ?? 'see out.url and out.allow_private',
  })
}

function retryAfter(value: string | undefined, now: number): number | null {
  if (value === undefined) return null
  const delayMs = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now
  return Number.isFinite(delayMs) && delayMs >= 0 ? Math.min(delayMs, 86_400_000) : null
}
