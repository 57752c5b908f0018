// Standard Webhooks, both ends: a POST that is signed over its id, its time and its body, with keys that can be
// rotated.
//
// The signed text is `id.timestamp.body`. `webhook-signature` contains one signature per key, separated by spaces.
// During a rotation the sender signs with the old and the new key, so receivers need only one of them.
import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  type KeyObject,
  sign,
  timingSafeEqual,
  verify,
} from 'node:crypto'

/** The most that a signed time may differ from now. */
const STANDARD_TOLERANCE_MS = 5 * 60_000
/** The most signatures that are checked. More would be work for a stranger. */
const MOST_SIGNATURES = 16
const MAX_ID = 256

export type StandardKey =
  | { readonly kind: 'hmac'; readonly key: KeyObject }
  | { readonly kind: 'ed25519'; readonly verify: KeyObject; readonly sign: KeyObject | null }

/**
 * Returns the key of a secret: `whsec_` and base64 (a shared key), `whsk_` (an Ed25519 key that signs), `whpk_` (one
 * that verifies). Without a prefix, well-formed base64 is decoded, as the reference libraries do, and other text is
 * used as it is. Throws a TypeError if no valid key follows a prefix.
 */
export function standardKey(secret: string): StandardKey {
  const [prefix] = /^wh(?:sec|sk|pk)_/.exec(secret) ?? []
  const written = secret.slice(prefix?.length ?? 0)
  const bytes = fromBase64(written)
  if (prefix === undefined)
    return { kind: 'hmac', key: createSecretKey(bytes ?? Buffer.from(secret, 'utf8')) }
  if (bytes === null) throw new TypeError(`${prefix} is not followed by base64`)
  if (prefix === 'whsec_') return { kind: 'hmac', key: createSecretKey(bytes) }
  if (prefix === 'whpk_') return { kind: 'ed25519', verify: ed25519PublicKey(bytes), sign: null }
  // The reference writes seed and public key, 64 bytes. The seed is the key.
  if (bytes.length !== 32 && bytes.length !== 64)
    throw new TypeError('whsk_ is not followed by an Ed25519 key')
  const seed = bytes.subarray(0, 32)
  const own = createPrivateKey({
    key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]),
    format: 'der',
    type: 'pkcs8',
  })
  return { kind: 'ed25519', verify: createPublicKey(own), sign: own }
}

/** Returns the public key of 32 bytes, as senders print it. Throws a TypeError for other lengths. */
export function ed25519PublicKey(bytes: Uint8Array): KeyObject {
  if (bytes.length !== 32) throw new TypeError('an Ed25519 public key has 32 bytes')
  const key = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), bytes])
  return createPublicKey({ key, format: 'der', type: 'spki' })
}

interface StandardHeaders {
  readonly 'webhook-id': string
  readonly 'webhook-timestamp': string
  readonly 'webhook-signature': string
}

/** Returns the three headers of a POST. `id` stays the same for a retry. `atMs` is the time of this try. */
export function signStandard(
  keys: readonly StandardKey[],
  { id, atMs, body }: { readonly id: string; readonly atMs: number; readonly body: string | Uint8Array },
): StandardHeaders {
  const timestamp = String(Math.floor(atMs / 1000))
  const signed = signedPart(id, timestamp, body)
  const signatures = keys.flatMap((key) => {
    if (key.kind === 'hmac') return [`v1,${createHmac('sha256', key.key).update(signed).digest('base64')}`]
    return key.sign === null ? [] : [`v1a,${sign(null, signed, key.sign).toString('base64')}`]
  })
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}

type StandardVerdict =
  | { readonly ok: true; readonly id: string; readonly atMs: number }
  | { readonly ok: false; readonly problem: 'headers' | 'time' | 'signature' }

/**
 * Whether one of the keys signed it, now. Never throws, for any headers. Headers may also be named `svix-…`, which are
 * older. A repeat within the tolerance is valid, so the caller must check `id`.
 */
export function verifyStandard(
  keys: readonly StandardKey[],
  posted: {
    readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
    readonly body: string | Uint8Array
    readonly nowMs: number
    readonly toleranceMs?: number
  },
): StandardVerdict {
  const { headers, body, nowMs, toleranceMs = STANDARD_TOLERANCE_MS } = posted
  const family = headers['webhook-id'] === undefined ? 'svix-' : 'webhook-'
  const [id, timestamp, given] = ['id', 'timestamp', 'signature'].map((name) => headers[family + name])
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof given !== 'string')
    return { ok: false, problem: 'headers' }
  if (id === '' || id.length > MAX_ID || !/^\d{1,12}$/.test(timestamp))
    return { ok: false, problem: 'headers' }
  const atMs = Number(timestamp) * 1000
  const signed = signedPart(id, timestamp, body)
  const signatures = given.split(' ', MOST_SIGNATURES)
  if (!signatures.some((one) => keys.some((key) => isSignedBy(key, signed, one))))
    return { ok: false, problem: 'signature' }
  // Checked after the signature, so that a forger learns nothing of our clock.
  if (Math.abs(nowMs - atMs) > toleranceMs) return { ok: false, problem: 'time' }
  return { ok: true, id, atMs }
}

function isSignedBy(key: StandardKey, signed: Uint8Array, given: string): boolean {
  const comma = given.indexOf(',')
  const bytes = fromBase64(given.slice(comma + 1))
  if (comma < 0 || bytes === null) return false
  const version = given.slice(0, comma)
  if (key.kind === 'ed25519')
    return version === 'v1a' && bytes.length === 64 && verify(null, signed, key.verify, bytes)
  if (version !== 'v1') return false
  const expected = createHmac('sha256', key.key).update(signed).digest()
  return bytes.length === expected.length && timingSafeEqual(bytes, expected)
}

function signedPart(id: string, timestamp: string, body: string | Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`${id}.${timestamp}.`, 'utf8'), Buffer.from(body as string)])
}

/** Null unless it is well-formed: Node ignores invalid characters. */
function fromBase64(text: string): Buffer | null {
  if (text === '' || text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return null
  return Buffer.from(text, 'base64')
}
