// Structures that others can fill: the bounded map, and the token bucket made of it.
import { describe, expect, it } from 'vitest'
import { createBoundedMap } from './bounded-map.ts'
import { createTokenBuckets } from './token-buckets.ts'

describe('token bucket', () => {
  it('lets a burst through, then blocks, refills and stops at the burst', () => {
    let now = 0
    const buckets = createTokenBuckets(10, { now: () => now })
    const take = () => buckets.take('k', { rps: 10, burst: 2 })
    const over = (times: number) => Array.from({ length: times }, () => take().over)
    expect(over(3)).toEqual([false, false, true])
    expect(take()).toEqual({ over: true, retryAfterMs: 100 })
    now = 100
    expect(over(2)).toEqual([false, true])
    now = 10_000
    expect(over(3)).toEqual([false, false, true])
  })

  it('[I13.clock-back-limit] a clock that is set back gives nothing, and is counted from there', () => {
    let now = 3_600_000
    const buckets = createTokenBuckets(10, { now: () => now })
    const take = () => buckets.take('k', { rps: 10, burst: 1 }).over
    expect(take()).toBe(false)
    now = 0
    expect(take()).toBe(true)
    now = 100
    expect(take()).toBe(false)
  })

  it('a look takes nothing, and what was not needed is given back, never above the burst', () => {
    const buckets = createTokenBuckets(10, { now: () => 0 })
    const limit = { rps: 1, burst: 1 }
    expect([buckets.peek('k', limit).over, buckets.peek('k', limit).over]).toEqual([false, false])
    buckets.take('k', limit)
    expect(buckets.peek('k', limit)).toEqual({ over: true, retryAfterMs: 1_000 })
    buckets.giveBack('k', limit)
    buckets.giveBack('k', limit)
    expect([buckets.take('k', limit).over, buckets.take('k', limit).over]).toEqual([false, true])
  })

  it('tells when there will be several', () => {
    let now = 0
    const buckets = createTokenBuckets(10, { now: () => now })
    const limit = { rps: 1 / 6, burst: 3 }
    expect(buckets.peek('k', limit, 3)).toEqual({ over: false })
    buckets.take('k', limit)
    buckets.take('k', limit)
    expect([buckets.peek('k', limit), buckets.peek('k', limit, 3)]).toEqual([
      { over: false },
      { over: true, retryAfterMs: 12_000 },
    ])
    now = 12_000
    expect(buckets.peek('k', limit, 3)).toEqual({ over: false })
    const each61Ms = { rps: 1_000 / 61, burst: 1 }
    buckets.take('f', each61Ms)
    expect(buckets.take('f', each61Ms)).toEqual({ over: true, retryAfterMs: 61 })
  })

  it('0/0 is no limit; no rate never refills; no burst is a burst of one', () => {
    const buckets = createTokenBuckets(10, { now: () => 0 })
    for (let count = 0; count < 100; count++) expect(buckets.take('k', { rps: 0, burst: 0 }).over).toBe(false)
    expect(buckets.take('n', { rps: 0, burst: 1 }).over).toBe(false)
    expect(buckets.take('n', { rps: 0, burst: 1 })).toEqual({
      over: true,
      retryAfterMs: Number.POSITIVE_INFINITY,
    })
    expect(buckets.take('b', { rps: 1, burst: 0 }).over).toBe(false)
    expect(buckets.take('b', { rps: 1, burst: 0 }).over).toBe(true)
  })

  it('forgets the key unused for longest when there are too many', () => {
    const buckets = createTokenBuckets(2, { now: () => 0 })
    const over = (key: string) => buckets.take(key, { rps: 1, burst: 1 }).over
    expect([over('a'), over('b'), over('a'), over('c'), over('a')]).toEqual([false, false, true, false, true])
    expect(over('b')).toBe(false)
    expect(buckets.size).toBe(2)
  })
})

describe('bounded map', () => {
  it('keeps the newest; setting again makes an entry new, updating does not', () => {
    const map = createBoundedMap<string, number>(2)
    map.set('a', 1)
    map.set('b', 2)
    map.set('a', 3)
    map.set('c', 4)
    expect([...map]).toEqual([
      ['a', 3],
      ['c', 4],
    ])
    map.update('a', 5)
    map.update('none', 6)
    map.set('d', 7)
    expect([...map.values()]).toEqual([4, 7])
    expect([map.has('a'), map.get('d'), map.delete('d'), map.size]).toEqual([false, 7, true, 1])
  })
})
