// HMAC-SHA256 for the ledger's chain, as one-shot hashes over a reused buffer. The chain grows with every message on
// the hot path, and an Hmac object per entry costs more than the hashing (3.6 µs against 2).

import * as crypto from 'node:crypto'
import { createHash, createHmac } from 'node:crypto'

export type Mac = (text: string) => string

const BLOCK = 64

/**
 * Returns a function that computes the base64url HMAC-SHA256 of UTF-8 text under `key`. It is not reentrant and never
 * yields.
 */
export function createMac(key: Uint8Array): Mac {
  // crypto.hash exists since Node 20.12. The fallback gives the same bytes.
  if (typeof crypto.hash !== 'function') {
    return (text) => createHmac('sha256', key).update(text).digest('base64url')
  }
  const block = Buffer.alloc(BLOCK)
  block.set(key.byteLength > BLOCK ? createHash('sha256').update(key).digest() : key)
  let inner = Buffer.alloc(BLOCK + 4096)
  const outer = Buffer.alloc(BLOCK + 32)
  for (let at = 0; at < BLOCK; at++) {
    inner[at] = (block[at] ?? 0) ^ 0x36
    outer[at] = (block[at] ?? 0) ^ 0x5c
  }
  return (text) => {
    // UTF-8 takes at most three bytes per UTF-16 unit.
    const room = BLOCK + text.length * 3
    if (inner.byteLength < room) {
      const larger = Buffer.alloc(room * 2)
      inner.copy(larger, 0, 0, BLOCK)
      inner = larger
    }
    const length = inner.write(text, BLOCK, 'utf8')
    const digest = crypto.hash('sha256', inner.subarray(0, BLOCK + length), 'buffer')
    outer.set(digest, BLOCK)
    return crypto.hash('sha256', outer, 'base64url')
  }
}

/** Returns the hex SHA-256 of UTF-8 text: the digest of a stored body. */
export function digestOf(text: string): string {
  return typeof crypto.hash === 'function'
    ? crypto.hash('sha256', text, 'hex')
    : createHash('sha256').update(text).digest('hex')
}
