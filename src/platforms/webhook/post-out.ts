// Posts answers to a URL: in the receiver's format, signed, guarded, and reported as unknown when the answer was lost.
// The core repeats it; the error says whether that can help.
import { asSwitchboardError, SwitchboardError } from '../../contract/index.ts'
import { type GuardedFetch, statusError } from '../../kit/index.ts'
import { postFor, TAKERS } from './out-formats.ts'
import type { Posting } from './out-options.ts'
import type { Shown } from './render.ts'

const TIMEOUT_MS = 10_000
const MAX_RESPONSE_BYTES = 65_536
/** The limits of this taker are unknown, so a 429 is tried again like a 408. */
const CODES = { 429: 'platform_unavailable' } as const

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
  const { status, headers } = response
  if (status < 200 || status >= 300) {
    const context = { whom: 'out.url', retryAfter: headers['retry-after'], now: shown.at, codes: CODES }
    throw statusError(status, context)
  }
  return TAKERS[out.format].confirm?.(response) ?? []
}

/** A URL that the guard does not take will not be taken later either. */
function refusedByGuard(thrown: unknown): SwitchboardError {
  const error = asSwitchboardError(thrown, 'platform_unavailable')
  if (error.code !== 'forbidden' && error.code !== 'input_invalid') return error
  return new SwitchboardError('platform_rejected', `out.url: ${error.message}`, {
    hint: error.hint ?? 'see out.url and out.allow_private',
  })
}
