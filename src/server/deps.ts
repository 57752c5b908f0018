// What the listener is given. It knows no platform and no store: doors to them are handed in.

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
  /** Live limits: asked per request, so a reload holds at once. */
  settings(): {
    readonly maxBodyBytes: number
    readonly publicUrl: string | null
    /** Whether what a peer says of its own peer is believed. Absent: nobody's is. */
    readonly trustsProxy?: ((address: string) => boolean) | undefined
  }
  /** The state of the gateway, for /metrics. */
  status(): Promise<StatusReport>
  /** Live hints for /events. `decides`: the watcher may decide approvals. */
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
  /** The tools of agents: `/mcp` and `/mcp/notify`. It asks for its own credential. Absent: there are none. */
  readonly mcp?: HeadEndpoint
  /** `/callback/TOKEN` and `/inbox/SECRET`, where the URL is the credential; `path` is what follows. Absent: 404. */
  readonly callbacks?: HeadEndpoint
  readonly inbox?: HeadEndpoint
  /** `/attach`: hosts on other machines. `admit` throws `unauthorized` or `forbidden` with the reason. Absent: 404. */
  readonly attach?: { admit(bearer: string): Promise<(pipe: FramePipe) => FrameReader> }
  /** The console's sessions: a cookie instead of a bearer. Absent: nobody signs in. */
  readonly console?: {
    enter(
      ticket: string,
      replaced: string | null,
    ): Promise<{ readonly token: string; readonly lifeMs: number } | null>
    who(session: string): Promise<Principal | null>
    leave(session: string): Promise<void>
  }
  /** Whether messages can be taken now, and why not. */
  ready(): { readonly ready: boolean; readonly detail: string }
  /** Who a bearer token speaks for. Null: nobody. Compares hashes in constant time. */
  authenticate(bearer: string): Promise<Principal | null>
  authorize(principal: Principal, action: Action, resource: Resource): Authorization
  /** What an operator may ask and do. Loaded on the first call of the API, with its schemas. */
  operations(): Promise<readonly ServedOperation[]>
  /** Writes into the ledger. Absent: wrong credentials are counted and logged only. */
  note?(notes: readonly LedgerNote[]): Promise<void>
  /** Known to this process alone: its own probe is told whether it looked local. Absent: nobody probes. */
  readonly probeKey?: string
  /** A public address is refused without one. */
  adminTokenConfigured(): boolean
  /** Figures beyond the status, for /metrics. */
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
  /** Bytes that may wait for a reader of a stream; with more than that waiting it is dropped at the next event. */
  readonly streamBacklogBytes: number
  /** A reader of a stream that takes nothing of what waits for it is dropped after this long. */
  readonly streamStallMs: number
  readonly heartbeatMs: number
  /** Connections of one listener; one more is closed at once. */
  readonly maxConnections: number
  /** Bytes of bodies that one listener keeps, until they are answered; at least four of the largest body. */
  readonly bodiesBytes: number
  /** How often bodies that are on their way are looked at. */
  readonly paceCheckMs: number
  /** A body may be slow for this long; then it must have kept up with the pace since. */
  readonly paceGraceMs: number
  readonly paceBytesPerSecond: number
  /** Wrong credentials of one source in a minute that are answered as such; more get 429. */
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
