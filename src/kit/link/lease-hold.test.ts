// A held lease: short failures, silence, loss and recovery, on a driven clock.
import { describe, expect, it } from 'vitest'
import { createTestClock } from '../../testing/index.ts'
import { createLeaseHold } from './lease-hold.ts'

const LEASE = { leaseMs: 10_000, renewMs: 2_500 }

function open(more: { readonly endingMs?: number } = {}) {
  const clock = createTestClock()
  const answers: (boolean | 'away' | Promise<boolean>)[] = []
  const seen = { asked: 0, released: 0, lost: [] as number[] }
  const began = clock.now()
  let usual: boolean | 'away' | Promise<boolean> = true
  const hold = createLeaseHold(
    {
      async take() {
        seen.asked++
        const answer = answers.shift() ?? usual
        if (answer === 'away') throw new Error('the store is away')
        return answer
      },
      release: async () => void seen.released++,
    },
    { clock, ...LEASE, ...more, onLost: () => seen.lost.push(clock.now() - began) },
  )
  const from = (next: typeof usual) => {
    usual = next
  }
  /** From now on, answers wait until the returned function is called. */
  const hang = () => {
    let answer: (held: boolean) => void = () => undefined
    from(
      new Promise((resolve) => {
        answer = resolve
      }),
    )
    return (held: boolean) => answer(held)
  }
  return { clock, hold, seen, answers, from, hang }
}

describe('[I6.lease-held] a lease that is held', () => {
  it('is renewed by itself, and a renewal that fails changes nothing while the last one counts', async () => {
    const { clock, hold, seen, answers } = open()
    expect(await hold.take()).toBe('held')
    answers.push('away', 'away', true)
    await clock.advance(9_000)
    expect([hold.isHeld(), seen.asked, seen.lost]).toEqual([true, 4, []])
    await clock.advance(60_000)
    expect(hold.isHeld()).toBe(true)
  })

  it('is lost when its time is over, counted from before the question that was answered last', async () => {
    const { clock, hold, seen, from } = open()
    await hold.take()
    await clock.advance(2_500)
    from('away')
    await clock.advance(9_999)
    expect(hold.isHeld()).toBe(true)
    await clock.advance(1)
    expect([hold.isHeld(), seen.lost]).toEqual([false, [12_500]])
    const { asked } = seen
    await clock.advance(60_000)
    expect([seen.asked, seen.lost.length]).toEqual([asked, 1])
  })

  it('is lost in time although a renewal hangs, and an answer that comes too late counts for nothing', async () => {
    const { clock, hold, seen, from, hang } = open()
    await hold.take()
    const answer = hang()
    await clock.advance(10_000)
    expect([hold.isHeld(), seen.lost]).toEqual([false, [10_000]])
    // It joins the query in progress, so the store is asked once.
    const again = hold.take()
    await clock.advance(10_000)
    answer(true)
    expect(await again).toBe('unknown')
    expect([hold.isHeld(), seen.asked]).toEqual([false, 2])
    from(true)
    expect(await hold.take()).toBe('held')
    expect(seen.lost).toEqual([10_000])
  })

  it('is lost at once when another node has it', async () => {
    const { clock, hold, seen, answers } = open()
    await hold.take()
    answers.push(false)
    await clock.advance(2_500)
    expect([hold.isHeld(), seen.lost]).toEqual([false, [2_500]])
    answers.push(false)
    expect(await hold.take()).toBe('elsewhere')
  })

  it('counts as lost so much earlier as the work takes to end', async () => {
    const { clock, hold, seen, from } = open({ endingMs: 2_000 })
    await hold.take()
    from('away')
    await clock.advance(20_000)
    expect(seen.lost).toEqual([8_000])
  })

  it('runs out while it rests, and goes on when it is taken again', async () => {
    const { clock, hold, seen } = open()
    await hold.take()
    hold.rest()
    await clock.advance(9_999)
    expect([hold.isHeld(), seen.asked]).toEqual([true, 1])
    await hold.take()
    await clock.advance(30_000)
    expect([hold.isHeld(), seen.lost]).toEqual([true, []])
  })

  it('is given back after a question that is under way, and stays so', async () => {
    const { clock, hold, seen, hang } = open()
    await hold.take()
    const answer = hang()
    await clock.advance(2_500)
    const released = hold.release()
    await clock.settle()
    expect(seen.released).toBe(0)
    answer(true)
    await released
    await clock.advance(30_000)
    expect([seen.released, hold.isHeld(), seen.asked, seen.lost]).toEqual([1, false, 2, []])
  })
})
