// Answers posted to a URL: in its taker's form, signed, under the guard, and told honestly when nobody knows whether they
// arrived. Trying again is the river's: what is thrown says whether it can help.
import { asSwitchboardError, SwitchboardError, withoutNulls } from '../../contract/index.ts'
import type { GuardedFetch, GuardedResponse } from '../../kit/index.ts'
import { postFor, TAKERS } from './out-formats.ts'
import type { Posting } from './out-options.ts'
import type { Shown } from './render.ts'

const TIMEOUT_MS = 10_000
const MAX_RESPONSE_BYTES = 65_536

/** Resolves on a 2xx, with the ids that the taker gave. Otherwise throws by whether trying again can help. */
export async function postOut(
  out: Posting,
  shown: Shown,
  post: GuardedFetch,
  timeoutMs = TIMEOUT_MS,
): Promise<readonly string[]> {
  const response = await post({
    ...postFor(out, shown),
    method: 'POST',
    timeoutMs,
    maxResponseBytes: MAX_RESPONSE_BYTES,
    allowPrivate: out.allowPrivate,
    allowHttp: true,
  }).catch((thrown: unknown) => {
    throw refusedByGuard(thrown)
  })
  judge(response, shown.at)
  return TAKERS[out.format].confirm?.(response) ?? []
}

function judge(response: GuardedResponse, now: number): void {
  const { status } = response
  if (status >= 200 && status < 300) return
  if (status === 429 || status === 408 || status >= 500) {
    const retryAfterMs = retryAfter(response.headers['retry-after'], now)
    // A fault of the server may come after the work was done.
    const code = status >= 500 ? 'outcome_unknown' : 'platform_unavailable'
    throw new SwitchboardError(code, `out.url answered ${status}`, { ...withoutNulls({ retryAfterMs }) })
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
