// A hang is silence and an unanswered question together.
import { describe, expect, it } from 'vitest'
import { createTestClock } from '../../testing/index.ts'
import { createHangWatch } from './hang-watch.ts'

function watched(probe: () => Promise<unknown>) {
  const clock = createTestClock()
  const seen = { hung: 0, asked: 0 }
  const watch = createHangWatch({
    ...{ clock, silentMs: 1_000, answerMs: 200 },
    probe: () => {
      seen.asked++
      return probe()
    },
    hung: () => void seen.hung++,
  })
  return { clock, watch, seen }
}

const never = () => new Promise<void>(() => undefined)

describe('a hang', () => {
  it('[I22.keep-hang] is silence and an unanswered probe, told once', async () => {
    const { clock, seen } = watched(never)
    await clock.advance(1_100)
    expect(seen).toEqual({ hung: 0, asked: 1 })
    await clock.advance(5_000)
    expect(seen).toEqual({ hung: 1, asked: 1 })
  })

  it('[I22.keep-hang] is not one that is silent for long and answers, nor one that speaks', async () => {
    const silent = watched(async () => undefined)
    await silent.clock.advance(10_500)
    expect(silent.seen.hung).toBe(0)
    expect(silent.seen.asked).toBeGreaterThan(5)
    const talking = watched(never)
    for (let at = 0; at < 20; at++) {
      talking.watch.heard()
      await talking.clock.advance(500)
    }
    expect(talking.seen).toEqual({ hung: 0, asked: 0 })
    const busy = watched(never)
    await busy.clock.advance(1_050)
    busy.watch.heard()
    await busy.clock.advance(200)
    expect(busy.seen).toEqual({ hung: 0, asked: 1 })
    busy.watch.stop()
    await busy.clock.advance(60_000)
    expect(busy.seen.hung).toBe(0)
  })

  it('[I22.keep-hang] a probe that fails is no answer', async () => {
    const { clock, seen } = watched(async () => {
      throw new Error('closed')
    })
    await clock.advance(1_300)
    expect(seen.hung).toBe(1)
  })
})
