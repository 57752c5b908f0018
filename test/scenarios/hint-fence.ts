// Hints travel between nodes through the database, beside the driven clock, those of a node in the order in which it told
// them: when all others have heard one that it tells now, they have heard all that it told before.
import type { Store } from '../../src/contract/index.ts'

export interface HintFence {
  /** Resolves when every node has heard all that was told so far. */
  pass(): Promise<void>
}

export function createHintFence(stores: readonly Store[]): HintFence {
  // Two calls that a scenario makes at once let the river run at once: every pass waits for its own hints alone.
  const unheard = new Map<string, (by: Store) => void>()
  let count = 0
  for (const store of stores) {
    store.onHint((hint) => {
      if (hint.kind === 'turn') unheard.get(hint.id)?.(store)
    })
  }

  const heardByOthers = (id: string, teller: Store) =>
    new Promise<void>((resolve) => {
      const missing = new Set(stores.filter((other) => other !== teller))
      unheard.set(id, (by) => {
        missing.delete(by)
        if (missing.size > 0) return
        unheard.delete(id)
        resolve()
      })
      teller.tell([{ kind: 'turn', id }])
    })

  return {
    async pass() {
      if (stores.length < 2) return
      const round = ++count
      await Promise.all(stores.map((store, at) => heardByOthers(`fence ${round} ${at}`, store)))
    },
  }
}
