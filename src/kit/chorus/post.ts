// Posting to a URL that a Chorus peer gave us: under the guard, and judged by whether trying again can help. The URL is
// a credential: neither it nor what the peer answered is in any error.
import { asSwitchboardError, defined, SwitchboardError } from '../../contract/index.ts'
import { statusError } from '../http/failures.ts'
import type { GuardedFetch, GuardedResponse } from '../http/guarded-fetch.ts'
import { isGatewayFault } from '../http/hand-over-error.ts'

export interface ChorusPost {
  readonly url: string
  readonly body: unknown
  /** Who is posted to, for the error: `the agent`, `the callback`. */
  readonly whom: string
  readonly allowPrivate: boolean
  /** How whoever calls it lets private addresses in, for the error; default: the key of the configuration. */
  readonly opener?: string
  /** Left out where no header can carry it: what is posted has an id of its own. */
  readonly idempotencyKey?: string
  readonly timeoutMs?: number
  /**
   * Over a connection that was kept: where a fault that leaves it open whether it arrived is met by posting it again.
   */
  readonly keepAlive?: true
  /** The code for a peer that cannot be reached: no connection, 502, 503 or 504. Absent: `platform_unavailable`. */
  readonly unreached?: 'agent_unreachable'
  readonly now: number
}

const TIMEOUT_MS = 30_000
const MAX_RESPONSE_BYTES = 4_096
/** Latin-1 would pass, too, but arrives as something else. */
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
    // The protocol ignores the body of a receipt, so nobody waits for its end.
    headOnly: true,
    ...defined({ keepAlive: post.keepAlive }),
    allowPrivate: post.allowPrivate,
    allowHttp: false,
  }).catch((thrown: unknown) => {
    throw guardRefusal(thrown, post)
  })
  judge(response, post)
}

/** Posted again it is the same event, so a fault of the server leaves no question open. */
const CODES = { 404: 'gone', 410: 'gone', '5xx': 'platform_unavailable' } as const

function judge({ status, headers }: GuardedResponse, { whom, now, unreached }: ChorusPost): void {
  if (status >= 200 && status < 300) return
  const away = unreached && isGatewayFault(status) ? { [status]: unreached } : {}
  const retryAfter = headers['retry-after']
  throw statusError(status, { whom, retryAfter, now, codes: { ...CODES, ...away } })
}

/** What opens it stands in the message: many print nothing else. */
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
