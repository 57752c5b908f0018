// Turns that a host already has when they are offered again. They are not handed over a second time, but are in flight
// again. Calls that prove such a turn wait until it is.
import type { AgentOutput, Clock, Delivery } from '../../contract/index.ts'
import { filesOf, type Held } from './evidence.ts'
import type { Host } from './hosts.ts'

export interface TakenUp {
  /** Takes a turn that the host already has. It is not handed over again. */
  takeUp(host: Host, held: Held, delivery: Delivery): Promise<void>
  /** The store still counts the turn as in flight, so nothing is reported. */
  resumeInFlight(host: Host, held: Held, delivery: Delivery, seen: boolean): void
  /** The turn went back to the queue while the host worked on it. A call proves it now, so the host gets it by name. */
  inFlight(held: Held): Promise<void>
}

/** How long a call waits until the turn that it proves is in flight again. */
const FLIGHT_MS = 5_000

export function createTakenUp(deps: {
  readonly clock: Clock
  readonly accept: (output: AgentOutput) => Promise<void>
}): TakenUp {
  const waiting: (() => void)[] = []
  const wakeAll = () => {
    for (const wake of waiting.splice(0)) wake()
  }

  const markInFlight = (host: Host, held: Held) => {
    host.held.change(held, { phase: 'open' })
    held.writtenAt = deps.clock.now()
    wakeAll()
  }

  const bring = (host: Host, held: Held, delivery: Delivery) => {
    held.files = filesOf(delivery)
    held.oneWay = delivery.oneWay === true
    if (held.oneWay && !held.seen) host.oneWay.add(held)
    held.delivery = held.seen ? null : delivery
  }

  return {
    async takeUp(host, held, delivery) {
      const { turn } = delivery
      const { seen } = held
      bring(host, held, delivery)
      if (held.counted) await deps.accept({ kind: 'kept', turn, seen })
      else if (seen) await deps.accept({ kind: 'evidence', turn, of: 'seen' })
      markInFlight(host, held)
    },
    resumeInFlight(host, held, delivery, seen) {
      if (seen) host.held.change(held, { seen })
      bring(host, held, delivery)
      markInFlight(host, held)
    },
    async inFlight(held) {
      let late = false
      const cancel = deps.clock.after(FLIGHT_MS, () => {
        late = true
        wakeAll()
      })
      while (held.phase === 'brought' && !late) await new Promise<void>((resolve) => waiting.push(resolve))
      cancel()
    },
  }
}
