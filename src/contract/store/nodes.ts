// The nodes of a cluster as plain data: who runs, what it reaches, and since when it was heard of. A node is one boot of
// one daemon; on an embedded database there is one.
import type { AgentTrouble } from '../agent/agent.ts'

/** What a node says of itself with every heartbeat. */
export interface NodeReport {
  readonly node: string
  readonly version: string
  readonly startedAt: number
  /** Digest of the configuration in force. */
  readonly digest: string
  /** Where its HTTP surface listens; '' where it has none. */
  readonly url: string
  /** How far this machine's clock is ahead of the database's (negative: behind). */
  readonly skewMs: number
  /** Somebody looks at the console or listens to events here: an approval that no chat can ask for reaches a person. */
  readonly watched: boolean
  readonly links: readonly NodeLink[]
  /** When each integration last received and sent something here: times that change all the time tell nobody anything. */
  readonly activity: Readonly<Record<string, LinkActivity>>
  /** Agents to which a turn can be handed over here now. */
  readonly agents: readonly NodeAgent[]
}

export interface NodeLink {
  readonly integration: string
  readonly state: string
  readonly detail?: string
  /** Somebody looks at this integration through this node (an open chat window): signals are worth sending there. */
  readonly listening?: boolean
}

export interface LinkActivity {
  readonly lastInAt: number | null
  readonly lastOutAt: number | null
}

export interface NodeAgent {
  readonly agent: string
  readonly detail?: string
  readonly trouble?: AgentTrouble
}

export interface NodeRow extends NodeReport {
  /** `<node>/<boot>`: as in lanes, leases, approvals and the ledger's chains. */
  readonly owner: string
  /** By the database's clock. */
  readonly seenAt: number
  /** Heard of within the last `NODE_GONE_MS`, and did not say goodbye. */
  readonly alive: boolean
  /** It stopped in order, and gave back what it held. */
  readonly leftAt: number | null
}

/** An agent at a node, now or formerly. */
export interface AttachmentRow {
  readonly owner: string
  readonly agent: string
  readonly detail: string | null
  readonly trouble: AgentTrouble | null
  readonly since: number
  /** Null while it is attached, as far as that node told. */
  readonly endedAt: number | null
}

/** How often a node is heard of. */
export const NODE_BEAT_MS = 2_500
/** Silent for longer: shown as gone, and nobody waits for it any more. Leases end by then as well. */
export const NODE_GONE_MS = 10_000
/** A lane or a link that is held is renewed this often … */
export const LEASE_RENEW_MS = 2_500
/** … and is anybody's when it was not for this long: with the next look around, 13 s after its holder died. */
export const LEASE_MS = 10_000

/** The node's name in an owner name: the same for all its boots. */
export function nodeOf(owner: string): string {
  return owner.slice(0, Math.max(0, owner.lastIndexOf('/')))
}

/** A node as operators see it. */
export interface NodeView {
  readonly node: string
  readonly state: 'up' | 'gone'
  readonly version: string
  readonly url: string
  readonly started_at: string
  readonly seen_at: string
  readonly digest: string
  /** How far its machine's clock is ahead of the database's. */
  readonly clock_skew_ms: number
  readonly links: readonly { readonly integration: string; readonly link: string; readonly detail?: string }[]
  readonly agents: readonly string[]
}
