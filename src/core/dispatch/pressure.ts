// Whether messages come in faster than they can be worked off. Measured by how busy the loop is, not by the clock: a
// slow trickle on an idle machine is no pressure, however long it lasts, and a machine that only drains is not pressed.
import type { Clock, Store } from '../../contract/index.ts'

export interface Pressure {
  now(): boolean
}

/** Long enough to tell busy from idle, short enough that a pause of the people is used. */
const WINDOW_MS = 10
const BUSY = 0.9
const ARRIVALS = 4

export interface PressureDeps {
  readonly store: Pick<Store, 'onHint'>
  readonly clock: Clock
  /** How busy the loop was since it was last asked, between 0 and 1. */
  readonly utilization: () => number
}

export function createPressure({ store, clock, utilization }: PressureDeps): Pressure {
  let since = clock.now()
  let arrivals = 0
  let before = 0
  let pressed = false
  store.onHint((hint, from) => {
    if (hint.kind === 'turns' && from === null) arrivals += 1
  })
  return {
    now() {
      const at = clock.now()
      if (at - since < WINDOW_MS) return pressed
      // One window without arrivals may only mean that one commit was long.
      pressed = utilization() > BUSY && before + arrivals >= ARRIVALS
      before = arrivals
      arrivals = 0
      since = at
      return pressed
    },
  }
}
