// The chain's MAC is plain HMAC-SHA256, whatever the key or the text.
import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMac, digestOf } from './mac.ts'

describe('mac', () => {
  it('[S12.chain] is HMAC-SHA256 for every key and text', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 100 }),
        fc.array(fc.string({ unit: 'grapheme', maxLength: 300 })),
        (key, texts) => {
          const mac = createMac(key)
          for (const text of texts)
            expect(mac(text)).toBe(createHmac('sha256', key).update(text).digest('base64url'))
        },
      ),
    )
  })

  it('grows with long texts', () => {
    const text = 'ü😀'.repeat(20_000)
    const key = Buffer.alloc(32, 1)
    expect(createMac(key)(text)).toBe(createHmac('sha256', key).update(text).digest('base64url'))
  })

  it('digests as hex SHA-256', () => {
    expect(digestOf('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  })
})
