// Posts to a URL of a Chorus peer, under the guard. Errors say whether a retry can help. The URL is a credential, so
// neither it nor the peer's answer is in any error.
import { asSwitchboardError, defined, SwitchboardError } from '../../contract/index.ts'
import { statusError } from '../http/failures.ts'
import type { GuardedFetch, GuardedResponse } from '../http/guarded-fetch.ts'
import { isGatewayFault } from '../http/hand-over-error.ts'

export interface ChorusPost {
  readonly url: string
  readonly body: unknown
  /** The peer's name in the error: `the agent`, `the callback`. */
  readonly whom: string
  readonly allowPrivate: boolean
  /** How the caller allows private addresses, for the error. Default: the key of the configuration. */
  readonly opener?: string
  /** Absent if no header can contain it. The posted event has its own id. */
  readonly idempotencyKey?: string
  readonly timeoutMs?: number
  /** Reuses a kept connection. The caller must repeat the post after a fault with an unknown outcome. */
  readonly keepAlive?: true
  /** The code for a peer that cannot be reached: no connection, 502, 503 or 504. Absent: `platform_unavailable`. */
  readonly unreached?: 'agent_unreachable'
  readonly now: number
}

const TIMEOUT_MS = 30_000
const MAX_RESPONSE_BYTES = 4_096
/** Latin-1 would also be accepted, but arrives changed. */
const HEADER_TEXT = /^[\x21-\x7e][\x20-\x7e]{0,511}$/

/**
 * Resolves on a 2xx. Throws `platform_unavailable` (it did not go out), `outcome_unknown` (it may have arrived),
 * `rate_limited`, `platform_rejected` with the status (gone for good: `gone`), or `forbidden` by the guard.
 */
export async function postChorus(post: ChorusPost, fetch: GuardedFetch): Promise<void> {
  const response = await fetch({
    url: post.url,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'switchboard',
      ...(HEADER_TEXT.test(post.idempotencyKey ?? '')
        ? { 'idempotency-key': post.idempotencyKey ?? '' }
        : {}),
    },
    body: JSON.stringify(post.body),
    timeoutMs: post.timeoutMs ?? TIMEOUT_MS,
    maxResponseBytes: MAX_RESPONSE_BYTES,
    // The protocol ignores the body of a receipt, so it is not waited for.
    headOnly: true,
    ...defined({ keepAlive: post.keepAlive }),
    allowPrivate: post.allowPrivate,
    allowHttp: false,
  }).catch((thrown: unknown) => {
    throw guardRefusal(thrown, post)
  })
  judge(response, post)
}

/** A repeated post is the same event, so a server fault does not mean an unknown outcome. */
const CODES = { 404: 'gone', 410: 'gone', '5xx': 'platform_unavailable' } as const

function judge({ status, headers }: GuardedResponse, { whom, now, unreached }: ChorusPost): void {
  if (status >= 200 && status < 300) return
  const away = unreached && isGatewayFault(status) ? { [status]: unreached } : {}
  const retryAfter = headers['retry-after']
  throw statusError(status, { whom, retryAfter, now, codes: { ...CODES, ...away } })
}

/** The message contains the remedy, because many clients print only the message. */
function guardRefusal(
  thrown: unknown,
  { whom, opener = 'allow_private: true', unreached }: ChorusPost,
): SwitchboardError {
  const error = asSwitchboardError(thrown, 'platform_unavailable')
  if (unreached && error.code === 'platform_unavailable')
    return new SwitchboardError(unreached, error.message)
  if (error.code !== 'forbidden' && error.code !== 'input_invalid') return error
  const hint = `https only; plain http, private and loopback addresses need ${opener}`
  return new SwitchboardError('forbidden', `${whom} is not called: ${error.message} (${hint})`, { hint })
}
