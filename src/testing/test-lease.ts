// One lease for several nodes of a test. As in the store, a node without the lease cannot move a cursor.
import { type LinkLease, type PlatformIntake, SwitchboardError } from '../contract/index.ts'

export interface TestLease {
  /** The `deps.lease` of a node. */
  of(node: string): LinkLease
  holder(): string | null
  /** How often a node asked for the lease. */
  asked(node: string): number
  /** Whether the last answer to this node was that another node holds the lease. */
  isRefused(node: string): boolean
  /** Gives the lease to the node. Its former holder learns that at the next renewal. */
  give(node: string): void
  /** The intake of a node. It throws `conflict` for a cursor while the node does not hold the lease. */
  fence(node: string, intake: PlatformIntake): PlatformIntake
}

export function createTestLease(): TestLease {
  let holder: string | null = null
  const asked = new Map<string, number>()
  const refused = new Set<string>()
  return {
    of: (node) => ({
      async take() {
        asked.set(node, (asked.get(node) ?? 0) + 1)
        holder ??= node
        if (holder === node) refused.delete(node)
        else refused.add(node)
        return holder === node
      },
      async release() {
        if (holder === node) holder = null
      },
    }),
    holder: () => holder,
    asked: (node) => asked.get(node) ?? 0,
    isRefused: (node) => refused.has(node),
    give(node) {
      holder = node
    },
    fence: (node, intake) => ({
      ...intake,
      async receive(events, options) {
        if (options?.cursor !== undefined && holder !== node)
          throw new SwitchboardError('conflict', 'another node holds the lease of this integration')
        return intake.receive(events, options)
      },
    }),
  }
}
