// Signs and verifies HTTP bodies, in constant time.
import { createHash, createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'

const PREFIX = 'sha256='
const SIGNATURE = /^sha256=[0-9a-fA-F]{64}$/

/** Makes a key from the shared secret once. Signing with it is faster than with the text. */
export function hmacKey(secret: string): KeyObject {
  return createSecretKey(secret, 'utf8')
}

/** Returns `sha256=` and the hex HMAC-SHA256 of the body, as GitHub writes it. */
export function signSha256(key: KeyObject, body: Uint8Array | string): string {
  return PREFIX + createHmac('sha256', key).update(body).digest('hex')
}

/** Whether the header is the body's `sha256=` signature. Never throws, for any header. */
export function verifySha256(key: KeyObject, body: Uint8Array, header: string): boolean {
  if (!SIGNATURE.test(header)) return false
  const given = Buffer.from(header.slice(PREFIX.length), 'hex')
  return timingSafeEqual(given, createHmac('sha256', key).update(body).digest())
}

/** Whether two secrets are equal. The time reveals neither their content nor where they differ. */
export function equalSecrets(given: string, expected: string): boolean {
  // timingSafeEqual needs equal lengths. Digests have them, and hide the length of the expected secret.
  return timingSafeEqual(digest(given), digest(expected))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest()
}
