// Hints travel between nodes through the database, outside the driven clock, and keep the order of each sender. When
// all other nodes have received a new hint of a node, they have received all its earlier ones.
import type { Store } from '../../src/contract/index.ts'

export interface HintFence {
  /** Resolves when every node has received all hints so far. */
  pass(): Promise<void>
}

export function createHintFence(stores: readonly Store[]): HintFence {
  // A scenario may make two calls at once, and both run the river. So every pass waits for its own hints only.
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
