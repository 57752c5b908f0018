// The driven clock must be beyond doubt: order, cancellation, timers that start timers.
import { describe, expect, it } from 'vitest'
import { createTestClock, createTestRandom } from './test-clock.ts'

describe('test clock', () => {
  it('runs timers in order of time, then of creation, and those that they start', async () => {
    const clock = createTestClock(1000)
    const seen: string[] = []
    clock.after(20, () => seen.push(`b@${clock.now()}`))
    clock.after(10, () => {
      seen.push(`a@${clock.now()}`)
      clock.after(5, () => seen.push(`c@${clock.now()}`))
    })
    clock.after(20, () => seen.push(`d@${clock.now()}`))
    clock.after(31, () => seen.push('late'))
    const cancel = clock.after(15, () => seen.push('cancelled'))
    cancel()
    cancel()
    expect(seen).toEqual([])
    await clock.advance(30)
    expect(seen).toEqual(['a@1010', 'c@1015', 'b@1020', 'd@1020'])
    expect(clock.now()).toBe(1030)
    expect(clock.pending()).toBe(1)
  })

  it('lets awaited work between timers finish before the next one', async () => {
    const clock = createTestClock(0)
    const seen: string[] = []
    clock.after(1, async () => {
      await Promise.resolve()
      await new Promise((resolve) => setImmediate(resolve))
      seen.push(`first@${clock.now()}`)
    })
    clock.after(2, () => seen.push(`second@${clock.now()}`))
    await clock.advance(5)
    expect(seen).toEqual(['first@1', 'second@2'])
  })

  it('gives the same random values for the same seed, and well-formed UUIDs', () => {
    const one = createTestRandom(7)
    const two = createTestRandom(7)
    expect(one.uuid()).toBe(two.uuid())
    expect(Buffer.from(one.bytes(40)).equals(Buffer.from(two.bytes(40)))).toBe(true)
    expect(one.uuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(createTestRandom(8).uuid()).not.toBe(createTestRandom(7).uuid())
  })
})
