// The nodes of a cluster as plain data: which run, what they reach, and when they were last seen. A node is one boot of
// one daemon; an embedded database has one.
import type { AgentTrouble } from '../agent/agent.ts'

/** A node's report with every heartbeat. */
export interface NodeReport {
  readonly node: string
  readonly version: string
  readonly startedAt: number
  /** Digest of the configuration in force. */
  readonly digest: string
  /** Where its HTTP surface listens; '' if it has none. */
  readonly url: string
  /** How far this machine's clock is ahead of the database's (negative: behind). */
  readonly skewMs: number
  /** A person watches the console or events here, so an approval that no chat can ask reaches a person. */
  readonly watched: boolean
  readonly links: readonly NodeLink[]
  /** When each integration last received and sent here. These times change constantly, so they cause no hint. */
  readonly activity: Readonly<Record<string, LinkActivity>>
  /** Agents to which a turn can be handed over here now. */
  readonly agents: readonly NodeAgent[]
}

export interface NodeLink {
  readonly integration: string
  readonly state: string
  readonly detail?: string
  /**
   * A person watches this integration through this node (an open chat window), so signals are worth sending there.
   */
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
  /** Seen within the last `NODE_GONE_MS`, and did not leave. */
  readonly alive: boolean
  /** It stopped in order, and released what it held. */
  readonly leftAt: number | null
}

/** An agent at a node, now or formerly. */
export interface AttachmentRow {
  readonly owner: string
  readonly agent: string
  readonly detail: string | null
  readonly trouble: AgentTrouble | null
  readonly since: number
  /** Null while it is attached, as far as that node reported. */
  readonly endedAt: number | null
}

/** The interval of heartbeats. */
export const NODE_BEAT_MS = 2_500
/** A node silent for longer is shown as gone and no longer waited for. Its leases have ended by then. */
export const NODE_GONE_MS = 10_000
/** A held lane or link is renewed this often … */
export const LEASE_RENEW_MS = 2_500
/** … and is free after this long without renewal: with the next sweep, 13 s after its holder died. */
export const LEASE_MS = 10_000

/** Returns the node's name in an owner name, which is the same for all its boots. */
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
