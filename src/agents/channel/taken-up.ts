// Turns that come again to a host that already has them: not handed over a second time, but in flight again. Calls that prove
// one of them wait for that.
import type { AgentOutput, Clock, Delivery } from '../../contract/index.ts'
import { filesOf, type Held } from './evidence.ts'
import type { Host } from './hosts.ts'

export interface TakenUp {
  /** A turn came that a host already has: it is not handed over a second time. */
  takeUp(host: Host, held: Held, delivery: Delivery): Promise<void>
  /** It was in flight all the time, as far as the store knows: nothing is told. */
  resumeInFlight(host: Host, held: Held, delivery: Delivery, seen: boolean): void
  /** The turn went back to the queue while the host was busy with it; proven now, the host gets it again by name. */
  inFlight(held: Held): Promise<void>
}

/** How long a call waits for a turn that it proves to be in flight again. */
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
