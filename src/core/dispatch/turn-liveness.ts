// Records signs of life of agents that outlive the daemon, for a restart or for another node. Not every sign is
// written, because a chatty agent would cost one commit per word.
import { type Clock, createBoundedMap, type Settings, type Store } from '../../contract/index.ts'
import type { StoreRetry } from '../store-retry.ts'

export interface TurnLiveness {
  /** Resolves when the sign is written, or when a recent one was. */
  note(turn: string, agent: string): Promise<void>
}

const NOTED_EVERY_MS = 60_000
const REMEMBERED = 10_000

export function createTurnLiveness(deps: {
  readonly store: Pick<Store, 'heardOf'>
  readonly clock: Clock
  readonly settings: () => Settings
  readonly storeRetry: StoreRetry
}): TurnLiveness {
  const { store, clock, storeRetry } = deps
  const noted = createBoundedMap<string, number>(REMEMBERED)
  return {
    async note(turn, agent) {
      const everyMs = Math.min(NOTED_EVERY_MS, deps.settings().tunables.redeliverAfterMs / 10)
      const now = clock.now()
      const before = noted.get(turn)
      if (before !== undefined && Math.abs(now - before) < everyMs) return
      await storeRetry.persist('note a sign of life', () => store.heardOf(turn, agent))
      noted.set(turn, now)
    },
  }
}
