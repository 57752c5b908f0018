// Whether messages arrive faster than they can be processed. It measures how busy the loop is, not the time. A slow
// trickle on an idle machine is no pressure, and neither is a machine that only drains. One person alone causes no
// pressure, however fast: a lane is processed one turn at a time, and holding it back would only delay that person.
//
// People who wait for their answers before they write again cause no pressure either. There, arrivals never exceed what
// is taken, and holding work back would cost more without helping intake. So pressure ends when, over one period,
// arrivals are less than twice the lanes taken. The pause that follows grows with each such period.
import type { Clock, Store } from '../../contract/index.ts'

export interface Pressure {
  now(): boolean
  /** This many lanes with arrivals were taken. */
  took(lanes: number): void
}

/** Long enough to tell busy from idle, and short enough to use a pause between messages. */
const WINDOW_MS = 10
const BUSY = 0.9
/** Lanes with arrivals in two windows. */
const ARRIVALS = 4
/** How long arrivals and taken lanes are compared. */
const WHILE_MS = 100
const FLOOD = 2
const RELIEF_MS = 1_000
const LONGEST_RELIEF_MS = 16_000

export interface PressureDeps {
  readonly store: Pick<Store, 'onHint'>
  readonly clock: Clock
  /** How busy the loop was since the last call, between 0 and 1. */
  readonly utilization: () => number
}

export function createPressure({ store, clock, utilization }: PressureDeps): Pressure {
  let since = clock.now()
  let arrivals = new Set<string>()
  let before = arrivals
  let pressed = false
  let begunAt = 0
  let came = 0
  let taken = 0
  let relievedUntil = 0
  let reliefMs = RELIEF_MS
  store.onHint((hint, from) => {
    if (hint.kind !== 'turns' || from !== null) return
    if (arrivals.size < ARRIVALS) arrivals.add(hint.lane)
    came += 1
  })

  const begin = (at: number) => {
    begunAt = at
    came = 0
    taken = 0
  }

  /** Whether pressure helps; judged after each period. */
  const helps = (at: number): boolean => {
    if (!pressed) begin(at)
    if (at - begunAt < WHILE_MS) return true
    const isFlood = came >= taken * FLOOD
    reliefMs = isFlood ? RELIEF_MS : reliefMs
    if (!isFlood) {
      relievedUntil = at + reliefMs
      reliefMs = Math.min(reliefMs * 2, LONGEST_RELIEF_MS)
    }
    begin(at)
    return isFlood
  }

  return {
    now() {
      const at = clock.now()
      // This also holds after the clock was set back.
      if (at >= since && at - since < WINDOW_MS) return pressed
      // One window without arrivals may only mean that one commit took long.
      const busy = utilization() > BUSY && new Set([...before, ...arrivals]).size >= ARRIVALS
      const relieved = at < relievedUntil && at >= relievedUntil - LONGEST_RELIEF_MS
      pressed = busy && !relieved && helps(at)
      before = arrivals
      arrivals = new Set()
      since = at
      return pressed
    },
    took(lanes) {
      taken += lanes
    },
  }
}
