// One lease for several nodes of a test, and what the store does with it: it refuses the cursor of a node without it.
import { type LinkLease, type PlatformIntake, SwitchboardError } from '../contract/index.ts'

export interface TestLease {
  /** The `deps.lease` of a node. */
  of(node: string): LinkLease
  holder(): string | null
  /** How often a node asked for it. */
  asked(node: string): number
  /** Whether the last answer to this node was that another node holds it. */
  isRefused(node: string): boolean
  /** The node gets it now. Its former holder learns that when it renews. */
  give(node: string): void
  /** The intake of a node: it throws `conflict` for a cursor while the node does not hold the lease. */
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
