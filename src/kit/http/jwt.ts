// Verifies foreign JWTs by issuer, audience, time and signature. The key decides which algorithms are accepted, never
// the token's own header.
import {
  constants,
  createHmac,
  createPublicKey,
  type JsonWebKey,
  type KeyObject,
  timingSafeEqual,
  verify,
} from 'node:crypto'
import { asSwitchboardError, type Clock, SwitchboardError } from '../../contract/index.ts'
import type { GuardedFetch } from './guarded-fetch.ts'

export interface JwtRules {
  readonly issuer: string
  readonly audience: string
  /** A shared key, or the URL of the issuer's published keys. */
  readonly key: { readonly secret: string } | { readonly jwksUrl: string }
}

export type JwtVerdict =
  | { readonly ok: true; readonly claims: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly problem: string }

type Fields = Readonly<Record<string, unknown>>

const MOST_CHARS = 8_192
/** The tolerance for different clocks of two machines. */
const LEEWAY_S = 30
const KEYS_LAST_MS = 600_000
/** An unknown key causes a new fetch of the list, at most this often, because strangers can invent keys. */
const ASK_AGAIN_MS = 30_000
const FETCH_MS = 5_000
const MOST_LIST_BYTES = 262_144
const MOST_KEYS = 16
const NO_KEYS = 'the keys of the issuer cannot be had'
const LEAST_RSA_BITS = 2_048

export interface JwtVerifier {
  /**
   * Throws `platform_unavailable` while the issuer's keys cannot be fetched, because the token cannot be judged then.
   */
  judge(token: string): Promise<JwtVerdict>
  /**
   * Why the issuer's keys cannot be fetched. Null: they can, or were not needed yet. An old result is checked again.
   */
  problem(): string | null
}

export function createJwtVerifier(
  rules: JwtRules,
  deps: { readonly clock: Pick<Clock, 'now'>; readonly fetch: GuardedFetch },
): JwtVerifier {
  const { key } = rules
  const list = 'jwksUrl' in key ? keyList(key.jwksUrl, deps) : null
  const judge = async (token: string): Promise<JwtVerdict> => {
    const read = readToken(token)
    if (read === null) return no('it is no signed JWT')
    const { head, claims, signed, signature } = read
    const problem = claimProblem(claims, rules, Math.floor(deps.clock.now() / 1_000))
    if (problem !== null) return no(problem)
    const alg = String(head.alg)
    const holds =
      list === null
        ? 'secret' in key && holdsHmac(key.secret, alg, signed, signature)
        : (await list.keysFor(head.kid, alg)).some((one) => holdsPublic(one, alg, signed, signature))
    return holds ? { ok: true, claims } : no('its signature does not hold')
  }
  return { judge, problem: () => list?.problem() ?? null }
}

function no(problem: string): JwtVerdict {
  return { ok: false, problem }
}

function readToken(token: string) {
  const [head = '', body = '', signature = '', ...rest] = token.split('.', 5)
  if (token.length > MOST_CHARS || rest.length > 0 || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return null
  const fields = { head: readFields(head), claims: readFields(body) }
  // A critical extension must be understood, and none is supported.
  if (fields.head === null || fields.claims === null || fields.head.crit !== undefined) return null
  return {
    ...{ head: fields.head, claims: fields.claims },
    signed: Buffer.from(`${head}.${body}`),
    signature: Buffer.from(signature, 'base64url'),
  }
}

function readFields(part: string): Fields | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null
  } catch {
    return null
  }
}

function claimProblem(
  { iss, aud, exp, nbf }: Fields,
  { issuer, audience }: JwtRules,
  nowS: number,
): string | null {
  if (iss !== issuer) return 'its issuer is another'
  if (aud !== audience && !(Array.isArray(aud) && aud.includes(audience))) return 'it is for another audience'
  if (typeof exp !== 'number') return 'it has no time of expiry'
  if (exp + LEEWAY_S <= nowS) return 'it has expired'
  if (nbf !== undefined && (typeof nbf !== 'number' || nbf - LEEWAY_S > nowS)) return 'it is not valid yet'
  return null
}

function holdsHmac(secret: string, alg: string, signed: Buffer, signature: Buffer): boolean {
  const bits = /^HS(256|384|512)$/.exec(alg)?.[1]
  if (bits === undefined) return false
  const expected = createHmac(`sha${bits}`, secret).update(signed).digest()
  return expected.length === signature.length && timingSafeEqual(expected, signature)
}

interface PublicKey {
  readonly id: unknown
  readonly alg: unknown
  readonly key: KeyObject
}

const CURVES: Readonly<Record<string, string>> = {
  ES256: 'prime256v1',
  ES384: 'secp384r1',
  ES512: 'secp521r1',
}

function holdsPublic({ key, alg: only }: PublicKey, alg: string, signed: Buffer, signature: Buffer): boolean {
  if (only !== undefined && only !== alg) return false
  const hash = `sha${alg.slice(2)}`
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key
  if (type === 'rsa' && /^[RP]S(256|384|512)$/.test(alg)) {
    if ((details?.modulusLength ?? 0) < LEAST_RSA_BITS) return false
    const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
    return verify(hash, signed, { key, ...(alg.startsWith('PS') ? pss : {}) }, signature)
  }
  if (type === 'ec' && CURVES[alg] !== undefined && details?.namedCurve === CURVES[alg])
    return verify(hash, signed, { key, dsaEncoding: 'ieee-p1363' }, signature)
  return type === 'ed25519' && (alg === 'EdDSA' || alg === 'Ed25519') && verify(null, signed, key, signature)
}

/** Returns the possible signing keys: those with the token's `kid`, or all if it names none. */
function keyList(
  url: string,
  { clock, fetch }: { readonly clock: Pick<Clock, 'now'>; readonly fetch: GuardedFetch },
) {
  let keys: readonly PublicKey[] = []
  let askedAt = Number.NEGATIVE_INFINITY
  let asking: Promise<void> | null = null
  let failed: { readonly at: number; readonly why: string } | null = null

  const ask = async () => {
    askedAt = clock.now()
    const reply = await fetch({
      ...{ url, method: 'GET', timeoutMs: FETCH_MS, maxResponseBytes: MOST_LIST_BYTES },
      // The operator configured this URL.
      ...{ allowPrivate: true, allowHttp: false },
    })
    const listed = reply.status === 200 && !reply.truncated ? readKeys(reply.body.toString('utf8')) : null
    if (listed === null) throw new SwitchboardError('platform_unavailable', 'the answer is no list of keys')
    keys = listed
    failed = null
  }
  const refresh = async () => {
    asking ??= ask().finally(() => {
      asking = null
    })
    await asking.catch((thrown: unknown) => {
      // Known keys stay valid while the issuer is unavailable.
      if (keys.length > 0) return
      askedAt = Number.NEGATIVE_INFINITY
      const cause = asSwitchboardError(thrown)
      failed = { at: clock.now(), why: `${NO_KEYS}: ${cause.message}` }
      throw new SwitchboardError('platform_unavailable', NO_KEYS, { retryAfterMs: 5_000, cause })
    })
  }
  const matching = (id: unknown) =>
    keys.filter((one) => id === undefined || one.id === id).slice(0, MOST_KEYS)

  const keysFor = async (id: unknown, alg: string): Promise<readonly PublicKey[]> => {
    const age = Math.abs(clock.now() - askedAt)
    if (asking !== null || age > KEYS_LAST_MS) await refresh()
    const found = matching(id)
    if (found.length > 0 || alg.startsWith('HS') || Math.abs(clock.now() - askedAt) < ASK_AGAIN_MS)
      return found
    await refresh()
    return matching(id)
  }
  const problem = () => {
    if (failed !== null && Math.abs(clock.now() - failed.at) >= ASK_AGAIN_MS)
      void refresh().catch(() => undefined)
    return failed?.why ?? null
  }
  return { keysFor, problem }
}

function readKeys(text: string): readonly PublicKey[] | null {
  let list: unknown
  try {
    list = (JSON.parse(text) as { readonly keys?: unknown } | null)?.keys
  } catch {
    return null
  }
  if (!Array.isArray(list)) return null
  return (list as unknown[]).flatMap((one) => readKey(one) ?? [])
}

/** Skips entries that are not public keys for signatures. A list may contain others. */
function readKey(one: unknown): PublicKey | null {
  if (typeof one !== 'object' || one === null) return null
  const { kid, alg, use, kty } = one as Fields
  if (kty === 'oct' || (use !== undefined && use !== 'sig')) return null
  try {
    return { id: kid, alg, key: createPublicKey({ key: one as JsonWebKey, format: 'jwk' }) }
  } catch {
    return null
  }
}
