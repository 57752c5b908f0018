// Signs of life of agents that live on without us. They are written down, for whoever waits for the turn after a restart
// or at another node; not every one of them, for a chatty agent would cost a commit a word.
import { type Clock, createBoundedMap, type Settings, type Store } from '../../contract/index.ts'
import type { StoreRetry } from '../store-retry.ts'

export interface SignsOfLife {
  /** Resolves when it is written down, or when one a moment ago was. */
  note(turn: string, agent: string): Promise<void>
}

const NOTED_EVERY_MS = 60_000
const REMEMBERED = 10_000

export function createSignsOfLife(deps: {
  readonly store: Pick<Store, 'heardOf'>
  readonly clock: Clock
  readonly settings: () => Settings
  readonly storeRetry: StoreRetry
}): SignsOfLife {
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
