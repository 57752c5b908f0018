// What the listener depends on. It knows no platform and no store; their endpoints are passed in.

import type {
  Action,
  Authorization,
  Clock,
  Counter,
  Endpoint,
  FramePipe,
  FrameReader,
  HeadEndpoint,
  LedgerNote,
  Logger,
  Principal,
  Resource,
  StatusReport,
  UsageRow,
} from '../contract/index.ts'
import type { ServedOperation } from './api/operation.ts'

export interface ServerDeps {
  readonly clock: Clock
  readonly log: Logger
  /** The limits in force. They are read per request, so a reload applies at once. */
  settings(): {
    readonly maxBodyBytes: number
    readonly publicUrl: string | null
    /** Whether a peer is a trusted proxy, which may name its own peer. Absent: none is. */
    readonly trustsProxy?: ((address: string) => boolean) | undefined
  }
  /** The state of the gateway, for /metrics. */
  status(): Promise<StatusReport>
  /** Live hints for /events. `decides`: whether the watcher may decide approvals. */
  watch(
    listen: (event: { readonly kind: string; readonly id: string; readonly scope?: string }) => void,
    who: { readonly decides: boolean },
  ): () => void
  readonly endpoints: {
    /** The endpoint of an integration, by its id: `/hooks/ID`. */
    hook(integration: string): Endpoint | null
    /** The endpoint of the first web integration: `/chat`. */
    chat(): Endpoint | null
  }
  /** The tools of agents: `/mcp` and `/mcp/notify`, with their own credential. Absent: there are none. */
  readonly mcp?: HeadEndpoint
  /** `/callback/TOKEN` and `/inbox/SECRET`. The URL is the credential, and `path` is the rest of it. Absent: 404. */
  readonly callbacks?: HeadEndpoint
  readonly inbox?: HeadEndpoint
  /** `/attach`: hosts on other machines. `admit` throws `unauthorized` or `forbidden` with the reason. Absent: 404. */
  readonly attach?: { admit(bearer: string): Promise<(pipe: FramePipe) => FrameReader> }
  /** The console's sessions, by a cookie instead of a bearer. Absent: there is no sign-in. */
  readonly console?: {
    enter(
      ticket: string,
      replaced: string | null,
    ): Promise<{ readonly token: string; readonly lifeMs: number } | null>
    who(session: string): Promise<Principal | null>
    leave(session: string): Promise<void>
  }
  /** Whether messages can be accepted now, and why not. */
  ready(): { readonly ready: boolean; readonly detail: string }
  /** Returns the principal of a bearer token, or null. Compares hashes in constant time. */
  authenticate(bearer: string): Promise<Principal | null>
  authorize(principal: Principal, action: Action, resource: Resource): Authorization
  /** The operations of the API. They are loaded with their schemas at its first call. */
  operations(): Promise<readonly ServedOperation[]>
  /** Writes to the ledger. Absent: wrong credentials are only counted and logged. */
  note?(notes: readonly LedgerNote[]): Promise<void>
  /** A secret of this process. Its own probe learns by it whether it looked local. Absent: there are no probes. */
  readonly probeKey?: string
  /** Listening on a public address needs an admin token. */
  adminTokenConfigured(): boolean
  /** Metrics beyond the status. */
  readonly metrics?: {
    /** Turns and sends by integration, state and reason. */
    counters?(): Promise<readonly Counter[]>
    /** Tokens by agent, day and model. */
    usage?(): Promise<readonly UsageRow[]>
    /** Commits of the store since the start. */
    commits?(): number
  }
  /** The folder of the built pages; its `assets/` is served. */
  readonly webRoot: string | null
}

export interface ServerLimits {
  readonly maxUrlBytes: number
  readonly maxHeaderBytes: number
  readonly headersTimeoutMs: number
  readonly requestTimeoutMs: number
  readonly keepAliveMs: number
  readonly timeoutCheckMs: number
  /** The most bytes that may wait for a stream's reader. A reader above it is dropped at the next event. */
  readonly streamBacklogBytes: number
  /** A stream's reader that takes nothing for this long is dropped. */
  readonly streamStallMs: number
  readonly heartbeatMs: number
  /** The most connections of one listener. Further ones are closed at once. */
  readonly maxConnections: number
  /** The most bytes of unanswered bodies in one listener; at least four of the largest body. */
  readonly bodiesBytes: number
  /** How often incoming bodies are checked. */
  readonly paceCheckMs: number
  /** How long a body may be slow. After that, it must have kept the pace since its beginning. */
  readonly paceGraceMs: number
  readonly paceBytesPerSecond: number
  /** The most wrong credentials of one source per minute that get their own answer. Further ones get 429. */
  readonly wrongPerMinute: number
}

export const DEFAULT_LIMITS: ServerLimits = {
  maxUrlBytes: 8_192,
  maxHeaderBytes: 16_384,
  headersTimeoutMs: 15_000,
  requestTimeoutMs: 60_000,
  keepAliveMs: 65_000,
  timeoutCheckMs: 5_000,
  streamBacklogBytes: 262_144,
  streamStallMs: 60_000,
  heartbeatMs: 15_000,
  maxConnections: 1_024,
  bodiesBytes: 67_108_864,
  paceCheckMs: 1_000,
  paceGraceMs: 10_000,
  paceBytesPerSecond: 1_024,
  wrongPerMinute: 30,
}
