// Lanes that wait to be taken, dealt by scope (an agent, or an integration): one of each in turn, so that many which wait
// for one of them hold up no other.
import type { Work } from '../../../contract/index.ts'

export interface DealtLanes {
  add(work: Work): void
  /** Up to so many, which wait no longer. */
  take(most: number): readonly Work[]
  isEmpty(): boolean
  clear(): void
}

export function createDealtLanes(): DealtLanes {
  /** In the order in which it is their turn; none of them is empty. */
  const scopes = new Map<string, Set<string>>()
  return {
    add({ lane, scope }) {
      const lanes = scopes.get(scope)
      if (lanes) lanes.add(lane)
      else scopes.set(scope, new Set([lane]))
    },
    take(most) {
      const dealt: Work[] = []
      // A scope that goes behind the others comes again within this very walk.
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
