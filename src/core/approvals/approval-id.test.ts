// Approval ids: their form, their uniform distribution, and the words they never contain.
import { describe, expect, it } from 'vitest'
import { createTestRandom } from '../../testing/test-clock.ts'
import { freshApprovalId, isApprovalId } from './approval-id.ts'

const ALPHABET = 'abcdefghijkmnopqrstuvwxyz'

/** Bytes that spell these words in sequence. */
function spelling(...words: readonly string[]) {
  const left = [...words]
  return {
    uuid: () => '',
    bytes: (count: number) => {
      const word = (left.shift() ?? 'abcde').padEnd(count, 'a').slice(0, count)
      return Uint8Array.from(word, (letter) => ALPHABET.indexOf(letter))
    },
  }
}

describe('approval ids', () => {
  it('[S10.id-form] are five letters without l, each letter as likely as another', () => {
    const random = createTestRandom('ids')
    const seen = new Map<string, number>()
    for (let time = 0; time < 5_000; time++) {
      const id = freshApprovalId(random)
      expect(isApprovalId(id)).toBe(true)
      for (const letter of id) seen.set(letter, (seen.get(letter) ?? 0) + 1)
    }
    expect([...seen.keys()].toSorted().join('')).toBe(ALPHABET)
    for (const count of seen.values()) expect(count).toBeGreaterThan(700)
  })

  it.each(['shita', 'afuck', 'xsexy', 'crapx'])('[S10.id-polite] never spell %s', (word) => {
    expect(freshApprovalId(spelling(word, word, 'quiet'))).toBe('quiet')
  })
})
