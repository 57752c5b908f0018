// MCP channel servers that Switchboard starts or connects to: what the pool of live connections offers to the adapters
// (one per server and agent), to doctor and status. A server is connected once, however many agents it speaks to.

import type { Cancel } from '../clock.ts'
import type { Address } from '../message/address.ts'
import type { McpServerSettings } from '../settings.ts'
import type { SendCause } from '../store/step.ts'
import type { PlatformDeps } from './platform.ts'

/** The platform behind channel servers: what bindings call it, and the integrations that are made from `mcp_servers`. */
export const CHANNEL_PLATFORM = 'mcp'
/** Who may speak there by default. The five gates are the credential; a policy beside the server narrows it. */
export const CHANNEL_DM = 'credential'

/** It stands for a channel server itself, not for a place that admits some of them. */
export function isServerBinding({ plugin }: { readonly plugin: string }): boolean {
  return plugin === CHANNEL_PLATFORM
}

/** Whose names a server speaks: `experimental['<prefix>/channel']`, `notifications/<prefix>/channel`. */
export type ChannelPrefix = 'claude' | 'nexo'

/** Where a server was installed from: what the marketplace gate compares. */
export interface ServerStamp {
  /** `<plugin>@<marketplace>`; null: it came from no marketplace. */
  readonly source: string | null
  /** False: somebody wrote it beside a command, nothing proves it. */
  readonly verified: boolean
}

export interface ServerFacts {
  readonly name: string
  readonly transport: 'stdio' | 'http'
  /** `waiting`: another node holds the lease. */
  readonly state: 'up' | 'connecting' | 'down' | 'disabled' | 'waiting'
  /** Why it is not up, and when the next try is; null: nothing to say. */
  readonly detail: string | null
  readonly connectedAt: number | null
  /** How often it was started again since the daemon began. */
  readonly restarts: number
  /** What it wrote that is no message of the protocol, since the daemon began. */
  readonly noise: number
  readonly program: { readonly name: string; readonly version: string } | null
  /** What it says at the handshake of how its messages are to be taken, in its own words; null: nothing. */
  readonly instructions: string | null
  /** Null: it declares no channel (its tools are nobody's business here). As of the present connection. */
  readonly prefix: ChannelPrefix | null
  /** It declares `<prefix>/channel/permission`. */
  readonly permissionRelay: boolean
  /** It declares no tools, so nothing can be said to it. As of the newest connection; absent: it has tools, or is not known. */
  readonly oneWay?: boolean
  readonly stamp: ServerStamp
}

/** What a server pushed, unread: the token bucket comes before parsing. */
export interface ServerPush {
  readonly kind: 'message' | 'verdict'
  readonly prefix: ChannelPrefix
  readonly params: unknown
}

/** What the connection declared that brought it: by the time it is let in, that one may be gone. */
export interface ServerNews extends ServerPush {
  readonly from: Pick<ServerFacts, 'prefix' | 'permissionRelay' | 'stamp'>
}

export interface ServerToolResult {
  readonly isError: boolean
  /** The content blocks, as they came. */
  readonly content: readonly unknown[]
  readonly structured: Readonly<Record<string, unknown>> | null
  /** The text blocks, joined. */
  readonly text: string
}

/** One tool of a server. `arguments`: their names in the order of its schema; null: the schema names none. */
export interface ServerTool {
  readonly name: string
  readonly arguments: readonly string[] | null
}

export interface ChannelServer {
  facts(): ServerFacts
  onNews(listen: (news: ServerNews) => void): Cancel
  /**
   * News wait, in order, until the result is called; beyond a bound the server itself is held back. For the time in
   * which they cannot be kept (the store is away) or nobody listens (a reload): they carry no acknowledgement.
   */
  hold(): Cancel
  /** Connected, lost, other capabilities than before: registrations are looked at again. */
  onChange(listen: () => void): Cancel
  /** Its tools as of now. Throws `platform_unavailable` when it is not up. */
  tools(): Promise<readonly ServerTool[]>
  /** Throws `platform_unavailable` when it was not sent, `outcome_unknown` when it may have arrived. */
  call(
    tool: string,
    input: Readonly<Record<string, unknown>>,
    options: { readonly timeoutMs: number },
  ): Promise<ServerToolResult>
  /** Resolves when it was written to the transport. */
  notify(method: string, params: Readonly<Record<string, unknown>>): Promise<void>
}

/** What the app gives to the platform behind channel servers, and to no other. */
export interface ChannelPlatformDeps extends PlatformDeps {
  readonly servers?: ChannelServers
  /** The conversations and threads that this integration's server has shown, to any agent. */
  readonly shownPlaces?: (server: string) => Promise<readonly Pick<Address, 'conversation' | 'thread'>[]>
}

export interface ChannelServers {
  get(name: string): ChannelServer | undefined
  all(): readonly ChannelServer[]
  /** Holds the news of all of them, also of those that come later; `newcomers`: of these alone. */
  hold(whom?: 'newcomers'): Cancel
  /** Connects what is new, ends what is gone, leaves the rest alone. Does not wait for servers to come up. */
  apply(servers: readonly McpServerSettings[]): Promise<void>
  stop(): Promise<void>
}

// ---- the five gates ---------------------------------------------------------------------------------------

export type SkipKind = 'capability' | 'disabled' | 'session' | 'marketplace' | 'allowlist'

export interface Skip {
  readonly kind: SkipKind
  readonly reason: string
  /** The key of the configuration that would let it in. */
  readonly key: string
}

/** A server that passed for one agent: what it was allowed as, at that moment. */
export interface ChannelRegistration {
  readonly server: string
  readonly agent: string
  /** `<plugin>:<instance>` of the binding that allowed it. */
  readonly binding: string
  readonly prefix: ChannelPrefix
  readonly stamp: ServerStamp
  readonly outboundToolName: string
  readonly permissionRelay: boolean
  readonly registeredAt: number
}

/**
 * Where permission requests to a channel server go: no conversation of people, so nothing else is said there. Others
 * that a server names hold a `=`.
 */
export const RELAY_PLACE = '_permission'

/** One server as one agent has it: what the agent's tools and doctor look at. */
export interface ChannelView {
  readonly server: string
  readonly agent: string
  /** The gates now; null: it does not pass them, or it is not connected. */
  registration(): ChannelRegistration | null
  /** What the server says of how its messages are to be taken; null: nothing, or it is not connected here. */
  instructions(): string | null
  /** The outbound tool as configured now, whether it passes or not; null: nothing names one. */
  outboundTool(): string | null
  /**
   * Throws `platform_rejected` where the outbound tool cannot send such a message there. Says nothing while the server is
   * not connected here: the send then waits, and its row tells what became of it.
   */
  check(to: Address, cause: SendCause): Promise<void>
  /** What the tool answered to the send with this key; null: it is not known here (any more). */
  answered(key: string): ServerToolResult | null
  /** Where the arguments of a call would lead. */
  destinations(input: Readonly<Record<string, unknown>>): readonly Destination[]
  /** The conversation of a call that names none. */
  readonly wholeServer: string
  /** The places that a target may have spoken from, and the one of a target that never spoke, last. */
  placesOf(target: string): readonly string[]
  /** The thread of that name, as the server's own key would call it. */
  threadOf(thread: string): string
}

export interface Destination {
  readonly of: 'conversation' | 'thread'
  readonly value: string
  /** What the conversation (or thread) would be called, had it spoken; the likeliest first. */
  readonly places: readonly string[]
}

/** A channel server that Switchboard starts or connects to, as this node sees it. */
export interface ServerView {
  readonly name: string
  readonly transport: string
  readonly state: string
  readonly detail?: string
  readonly connected_at: string | null
  readonly restarts: number
  /** Lines that were no message of the protocol. */
  readonly noise: number
  readonly program: string | null
  /** `nexo`, `claude`, or null: it declares no channel. */
  readonly prefix: string | null
  readonly permission_relay: boolean
  readonly plugin_source: string | null
  /** False: `plugin_source` was written by hand. */
  readonly verified: boolean
}
