// Hints travel between nodes through the database, beside the driven clock. Notifications are delivered in the order of
// their commits: when every node has heard one that was sent now, it has heard all that were sent before.
import pg from 'pg'
import type { Store } from '../../src/contract/index.ts'
import { notifyOthers } from '../../src/store/postgres/listener.ts'

export interface HintFence {
  /** Resolves when every node has heard all that was told so far. */
  pass(): Promise<void>
  stop(): Promise<void>
}

export async function createHintFence(url: string, stores: readonly Store[]): Promise<HintFence> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  const missing = new Map<string, Set<Store>>()
  let passed: () => void = () => undefined
  let count = 0
  for (const store of stores) {
    store.onHint((hint) => {
      if (hint.kind !== 'turn') return
      missing.get(hint.id)?.delete(store)
      if (missing.get(hint.id)?.size === 0) passed()
    })
  }
  return {
    async pass() {
      const id = `fence ${++count}`
      missing.set(id, new Set(stores))
      const all = new Promise<void>((resolve) => {
        passed = resolve
      })
      await notifyOthers(client, 'fence', JSON.stringify([{ kind: 'turn', id }]))
      await all
      missing.delete(id)
    },
    stop: () => client.end(),
  }
}
