// MCP channel servers that Switchboard starts or connects to: what the pool of live connections offers to the adapters
// (one per server and agent), to doctor and to status. A server is connected once, however many agents use it.

import type { Cancel } from '../clock.ts'
import type { Address } from '../message/address.ts'
import type { McpServerSettings } from '../settings.ts'
import type { SendCause } from '../store/step.ts'
import type { PlatformDeps } from './platform-deps.ts'

/** The platform of channel servers: its name in bindings, and in the integrations made from `mcp_servers`. */
export const CHANNEL_PLATFORM = 'mcp'
/** The default access there. The five gates are the credential; a policy beside the server narrows it. */
export const CHANNEL_DM = 'credential'

/** Whether a binding stands for a channel server itself, and not for a place that admits some of them. */
export function isServerBinding({ plugin }: { readonly plugin: string }): boolean {
  return plugin === CHANNEL_PLATFORM
}

/** The vocabulary of a server: `experimental['<prefix>/channel']`, `notifications/<prefix>/channel`. */
export type ChannelPrefix = 'claude' | 'nexo'

/** The installation source of a server, which the marketplace gate compares. */
export interface ServerStamp {
  /** `<plugin>@<marketplace>`; null: it came from no marketplace. */
  readonly source: string | null
  /** False: it was written beside a command, and is unproven. */
  readonly verified: boolean
}

export interface ServerFacts {
  readonly name: string
  readonly transport: 'stdio' | 'http'
  /** `waiting`: another node holds the lease. */
  readonly state: 'up' | 'connecting' | 'down' | 'disabled' | 'waiting'
  /** Why it is not up, and when the next try is; null: no detail. */
  readonly detail: string | null
  readonly connectedAt: number | null
  /** Restarts since the daemon began. */
  readonly restarts: number
  /** Its output that is no protocol message, since the daemon began. */
  readonly noise: number
  readonly program: { readonly name: string; readonly version: string } | null
  /** Its own words at the handshake on how to read its messages; null: none. */
  readonly instructions: string | null
  /** Null: it declares no channel, so its tools are not used here. For the present connection. */
  readonly prefix: ChannelPrefix | null
  /** It declares `<prefix>/channel/permission`. */
  readonly permissionRelay: boolean
  /**
   * It declares no tools, so nothing can be sent to it. For the newest connection; absent: it has tools, or this is
   * unknown.
   */
  readonly oneWay?: boolean
  readonly stamp: ServerStamp
}

/** A pushed message, unparsed: the token bucket comes before parsing. */
export interface ServerPush {
  readonly kind: 'message' | 'verdict'
  readonly prefix: ChannelPrefix
  readonly params: unknown
}

/** The declarations of the connection that brought it. The connection may be gone when the message is handled. */
export interface ServerNews extends ServerPush {
  readonly from: Pick<ServerFacts, 'prefix' | 'permissionRelay' | 'stamp'>
}

export interface ServerToolResult {
  readonly isError: boolean
  /** The content blocks, unchanged. */
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
   * Holds pushed messages, in order, until the result is called. Beyond a limit, the server itself is held back. Used
   * while messages cannot be stored (the store is unavailable) or have no listener (a reload), because they carry no
   * acknowledgement.
   */
  hold(): Cancel
  /** Called when it connects, disconnects or changes capabilities, so that registrations are checked again. */
  onChange(listen: () => void): Cancel
  /** Returns its present tools. Throws `platform_unavailable` when it is not up. */
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

/** Dependencies of the channel-server platform only. */
export interface ChannelPlatformDeps extends PlatformDeps {
  readonly servers?: ChannelServers
  /** The conversations and threads that this integration's server has shown, to any agent. */
  readonly shownPlaces?: (server: string) => Promise<readonly Pick<Address, 'conversation' | 'thread'>[]>
}

export interface ChannelServers {
  get(name: string): ChannelServer | undefined
  all(): readonly ChannelServer[]
  /** Holds the messages of all servers, including later ones; `newcomers`: only of later ones. */
  hold(whom?: 'newcomers'): Cancel
  /** Connects new servers, ends removed ones, and leaves the others alone. Does not wait for servers to come up. */
  apply(servers: readonly McpServerSettings[]): Promise<void>
  stop(): Promise<void>
}

// ---- the five gates ---------------------------------------------------------------------------------------

export type SkipKind = 'capability' | 'disabled' | 'session' | 'marketplace' | 'allowlist'

export interface Skip {
  readonly kind: SkipKind
  readonly reason: string
  /** The configuration key that would admit it. */
  readonly key: string
}

/** A server that passed the gates for one agent, with the values at that moment. */
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
 * The target of permission requests to a channel server. It is no conversation of people, so nothing else is sent
 * there. Other names from a server contain a `=`.
 */
export const RELAY_PLACE = '_permission'

/** One server as one agent has it, for the agent's tools and doctor. */
export interface ChannelView {
  readonly server: string
  readonly agent: string
  /** The present registration; null: it fails the gates, or is not connected. */
  registration(): ChannelRegistration | null
  /** The server's words on how to read its messages; null: none, or it is not connected here. */
  instructions(): string | null
  /** The outbound tool as configured now, whether or not the gates pass; null: none is named. */
  outboundTool(): string | null
  /**
   * Throws `platform_rejected` where the outbound tool cannot send such a message there. Does not throw while the
   * server is not connected here; the send then waits.
   */
  check(to: Address, cause: SendCause): Promise<void>
  /** Returns the tool's answer to the send with this key; null: not known here (any more). */
  answered(key: string): ServerToolResult | null
  /** Returns the targets in the arguments of a call. */
  destinations(input: Readonly<Record<string, unknown>>): readonly Destination[]
  /** The conversation of a call that names none. */
  readonly wholeServer: string
  /** Returns the places that a target may have written from; the last is the place of a target that never wrote. */
  placesOf(target: string): readonly string[]
  /** Returns the thread of that name under the server's own key. */
  threadOf(thread: string): string
  /** Whether approvals of its agent are asked here too, as structured requests to RELAY_PLACE. */
  relaysApprovals(): boolean
  /** Whether its gates, as far as configuration decides, still admit its earlier messages. */
  admitsNow(): boolean
}

export interface Destination {
  readonly of: 'conversation' | 'thread'
  readonly value: string
  /** The name that the conversation or thread would have, had it written; the likeliest first. */
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
  /** Lines that were no protocol message. */
  readonly noise: number
  readonly program: string | null
  /** `nexo`, `claude`, or null: it declares no channel. */
  readonly prefix: string | null
  readonly permission_relay: boolean
  readonly plugin_source: string | null
  /** False: `plugin_source` was written by hand. */
  readonly verified: boolean
}
