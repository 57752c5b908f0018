// Whether messages come in faster than they can be worked off. Measured by how busy the loop is, not by the clock: a
// slow trickle on an idle machine is no pressure, however long it lasts, and a machine that only drains is not pressed.
// Nor does one person press, however fast: a lane is worked off one by one, and to hold it back only makes that person wait.
//
// Nor is one whose people wait for their answers before they speak again: held back there, the work would come one by one
// and cost more, and nothing would come in any sooner. There what comes in is no more than what is let through. So a while
// under pressure in which not twice as much came as was taken ends it, for a time that grows with every while of that kind.
import type { Clock, Store } from '../../../contract/index.ts'

export interface Pressure {
  now(): boolean
  /** So many lanes of what came in were taken. */
  took(lanes: number): void
}

/** Long enough to tell busy from idle, short enough that a pause of the people is used. */
const WINDOW_MS = 10
const BUSY = 0.9
/** Lanes for which something came in, in two windows. */
const ARRIVALS = 4
/** So long is looked whether more comes in than is taken. */
const WHILE_MS = 100
const FLOOD = 2
const RELIEF_MS = 1_000
const LONGEST_RELIEF_MS = 16_000

export interface PressureDeps {
  readonly store: Pick<Store, 'onHint'>
  readonly clock: Clock
  /** How busy the loop was since it was last asked, between 0 and 1. */
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

  /** Whether it helps: judged after each while. */
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
      // Also after the clock was set back.
      if (at >= since && at - since < WINDOW_MS) return pressed
      // One window without arrivals may only mean that one commit was long.
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
