// Pressure needs both: a busy loop and incoming messages.
import { describe, expect, it } from 'vitest'
import type { Hint } from '../../contract/index.ts'
import { createTestClock } from '../../testing/test-clock.ts'
import { createPressure } from './pressure.ts'

describe('pressure', () => {
  it('is there while messages come in on a loop that is busy, and only then', async () => {
    const clock = createTestClock()
    let hint: (hint: Hint) => void = () => undefined
    let utilization = 1
    const onHint = (listen: (hint: Hint, from: null) => void) => {
      hint = (told) => listen(told, null)
    }
    const pressure = createPressure({ store: { onHint }, clock, utilization: () => utilization })
    const afterSome = async (arrivals: number) => {
      for (let at = 0; at < arrivals; at++) hint({ kind: 'turns', lane: `${at}`, scope: 'demo' })
      await clock.advance(10)
      return pressure.now()
    }
    expect(await afterSome(20)).toBe(true)
    // An immediate second call returns the same result.
    expect(pressure.now()).toBe(true)
    expect(await afterSome(0)).toBe(true)
    expect(await afterSome(1)).toBe(false)
    expect(await afterSome(20)).toBe(true)
    utilization = 0.5
    expect(await afterSome(20)).toBe(false)
  })

  it('[I23.patient-pressure] is none where a few people write, however fast', async () => {
    const clock = createTestClock()
    let hint: (hint: Hint) => void = () => undefined
    const onHint = (listen: (hint: Hint, from: null) => void) => {
      hint = (told) => listen(told, null)
    }
    const pressure = createPressure({ store: { onHint }, clock, utilization: () => 1 })
    const pressedBy = async (people: number) => {
      for (let at = 0; at < 60; at++) hint({ kind: 'turns', lane: `${at % people}`, scope: 'demo' })
      await clock.advance(10)
      return pressure.now()
    }
    expect([await pressedBy(1), await pressedBy(3), await pressedBy(3)]).toEqual([false, false, false])
    expect(await pressedBy(4)).toBe(true)
  })

  it('[I23.patient-pressure] ends where no more comes in than is taken, and lasts in a flood', async () => {
    const clock = createTestClock()
    let hint: (hint: Hint) => void = () => undefined
    const onHint = (listen: (hint: Hint, from: null) => void) => {
      hint = (told) => listen(told, null)
    }
    const pressure = createPressure({ store: { onHint }, clock, utilization: () => 1 })
    /** In each window, this many arrive and this many are taken. */
    const pressedIn = async (windows: number, came: number, taken: number) => {
      let pressed = 0
      for (let window = 0; window < windows; window++) {
        for (let at = 0; at < came; at++) hint({ kind: 'turns', lane: `${at}`, scope: 'demo' })
        pressure.took(taken)
        await clock.advance(10)
        if (pressure.now()) pressed += 1
      }
      return pressed
    }
    // It observes for a tenth of a second. Then it applies no pressure for one second, then for two.
    expect(await pressedIn(100, 20, 20)).toBeLessThan(12)
    expect(await pressedIn(300, 20, 15)).toBeLessThan(24)
    await clock.advance(10_000)
    expect(await pressedIn(300, 20, 3)).toBe(300)
  })
})
