// An unreachable agent is tried while a turn waits for it. When the last waiting turn is stopped, revoked or expired,
// the tries end. The agent's state is then unknown, and the outage is reported as a past one.
import type { Clock, Logger, Store } from '../../../contract/index.ts'
import { createKeyedTimers } from '../../keyed-timers.ts'
import type { Reachability } from './reachability.ts'

export interface PastOutages {
  /** A request did not reach this agent. */
  unreached(agent: string): void
  stop(): void
}

const LOOK_MS = 10_000

export function createPastOutages(deps: {
  readonly store: Pick<Store, 'turns'>
  readonly clock: Clock
  readonly log: Logger
  readonly reachability: Pick<Reachability, 'isUnreachable' | 'over'>
}): PastOutages {
  const { store, log, reachability } = deps
  const timers = createKeyedTimers(deps.clock)
  const look = async (agent: string) => {
    if (!reachability.isUnreachable(agent)) return
    const waiting = await store.turns({ agent, states: ['queued', 'handed'], limit: 1 })
    if (waiting.length > 0) return later(agent)
    reachability.over(agent)
  }
  const later = (agent: string) =>
    timers.set(agent, LOOK_MS, () => {
      look(agent).catch((thrown) => {
        log.warn(
          { agent, error: String(thrown) },
          'whether turns wait for an unreachable agent is not known yet',
        )
        later(agent)
      })
    })
  return { unreached: later, stop: timers.clear }
}
