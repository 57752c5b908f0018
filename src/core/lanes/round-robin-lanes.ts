// Lanes that wait to be taken, one per scope (an agent or an integration) in turn. Many lanes that wait for one scope
// delay no other scope.
import type { Work } from '../../contract/index.ts'

export interface RoundRobinLanes {
  add(work: Work): void
  /** Removes and returns up to `most` lanes. */
  take(most: number): readonly Work[]
  isEmpty(): boolean
  clear(): void
}

export function createRoundRobinLanes(): RoundRobinLanes {
  /** In round-robin order. No set is empty. */
  const scopes = new Map<string, Set<string>>()
  return {
    add({ lane, scope }) {
      const lanes = scopes.get(scope)
      if (lanes) lanes.add(lane)
      else scopes.set(scope, new Set([lane]))
    },
    take(most) {
      const dealt: Work[] = []
      // A scope that moves to the end comes again within this loop.
      for (const [scope, lanes] of scopes) {
        if (dealt.length >= most) break
        scopes.delete(scope)
        for (const lane of lanes) {
          dealt.push({ lane, scope })
          lanes.delete(lane)
          break
        }
        if (lanes.size > 0) scopes.set(scope, lanes)
      }
      return dealt
    },
    isEmpty: () => scopes.size === 0,
    clear: () => scopes.clear(),
  }
}
