// Real randomness gives as many bytes as requested, and never the same bytes twice.
import { expect, it } from 'vitest'
import { createRealRandom } from './real-clock.ts'

it('gives bytes of its pool once each, also across its end and beyond its size', () => {
  const random = createRealRandom()
  const drawn = Array.from({ length: 2_000 }, (_, at) => random.bytes(at % 2 === 0 ? 32 : 6))
  expect(drawn.map((bytes) => bytes.length)).toEqual(drawn.map((_, at) => (at % 2 === 0 ? 32 : 6)))
  expect(new Set(drawn.map((bytes) => Buffer.from(bytes).toString('hex'))).size).toBe(drawn.length)
  expect(random.bytes(10_000).some((byte) => byte !== 0)).toBe(true)
  expect(random.bytes(0)).toHaveLength(0)
})
