// Hints travel between nodes through the database, beside the driven clock, those of a node in the order in which it told
// them: when all others have heard one that it tells now, they have heard all that it told before.
import type { Store } from '../../src/contract/index.ts'

export interface HintFence {
  /** Resolves when every node has heard all that was told so far. */
  pass(): Promise<void>
}

export function createHintFence(stores: readonly Store[]): HintFence {
  const missing = new Map<string, Set<Store>>()
  let passed: () => void = () => undefined
  let count = 0
  for (const store of stores) {
    store.onHint((hint) => {
      if (hint.kind !== 'turn' || !missing.get(hint.id)?.delete(store)) return
      if ([...missing.values()].every((left) => left.size === 0)) passed()
    })
  }
  return {
    async pass() {
      if (stores.length < 2) return
      const round = ++count
      const all = new Promise<void>((resolve) => {
        passed = resolve
      })
      for (const [at, store] of stores.entries()) {
        const id = `fence ${round} ${at}`
        missing.set(id, new Set(stores.filter((other) => other !== store)))
        store.tell([{ kind: 'turn', id }])
      }
      await all
      missing.clear()
    },
  }
}
