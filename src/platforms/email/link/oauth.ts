// Access tokens from a refresh token (RFC 6749, section 6). A token is kept until shortly before it expires, and
// simultaneous callers share one request. A new refresh token from the provider is used as long as this process lives.
import { type Clock, SwitchboardError, withoutNulls } from '../../../contract/index.ts'
import { createGuardedFetch, type GuardedFetch } from '../../../kit/index.ts'
import type { OauthLogin } from '../config.ts'

export interface AccessTokens {
  /** Throws `platform_unavailable` with the provider's error, never a token. */
  get(): Promise<string>
  /** The server refused the token, so the next one is fresh. */
  forget(): void
}

const EARLY_MS = 60_000
const LIFE_MS = 3_600_000
const TIMEOUT_MS = 20_000

export function createAccessTokens(
  login: OauthLogin,
  clock: Clock,
  guardedFetch: GuardedFetch = createGuardedFetch({ clock }),
): AccessTokens {
  let held: { readonly token: string; readonly until: number } | null = null
  let refreshToken = login.refreshToken
  let asking: Promise<string> | null = null

  const ask = async (): Promise<string> => {
    const form = new URLSearchParams({
      grant_type: 'refresh_token',
      client_id: login.clientId,
      refresh_token: refreshToken,
      ...withoutNulls({ client_secret: login.clientSecret, scope: login.scope }),
    })
    const answer = await guardedFetch({
      url: login.tokenUrl,
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: form.toString(),
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: 65_536,
      // The operator configured the URL, and a private provider may be on a private network.
      allowPrivate: true,
      allowHttp: false,
    }).catch((thrown: unknown) => {
      // Asking again does no harm.
      const said = thrown instanceof SwitchboardError ? thrown.message : 'no answer'
      throw new SwitchboardError('platform_unavailable', `OAuth2: ${said}`)
    })
    const told = jsonOf(answer.body)
    const { access_token, expires_in, refresh_token, error } = told
    if (answer.status !== 200 || typeof access_token !== 'string' || !/^[\x21-\x7e]+$/.test(access_token)) {
      const name =
        typeof error === 'string' && /^[a-z0-9_.-]{1,60}$/i.test(error) ? error : `status ${answer.status}`
      throw new SwitchboardError('platform_unavailable', `OAuth2: ${name}`, {
        ...(name === 'invalid_grant'
          ? { hint: 'the refresh token was taken back or has expired: grant a new one' }
          : {}),
        retryAfterMs: 30_000,
      })
    }
    if (typeof refresh_token === 'string' && refresh_token !== '') refreshToken = refresh_token
    const lifeMs = typeof expires_in === 'number' && expires_in > 0 ? expires_in * 1_000 : LIFE_MS
    held = { token: access_token, until: clock.now() + Math.max(lifeMs - EARLY_MS, lifeMs / 2) }
    return access_token
  }

  return {
    async get() {
      if (held !== null && clock.now() < held.until) return held.token
      asking ??= ask().finally(() => {
        asking = null
      })
      return asking
    },
    forget() {
      held = null
    },
  }
}

function jsonOf(body: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString('utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
