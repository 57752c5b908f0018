// What the listener is given. It knows no platform and no store: doors to them are handed in.
import type {
  Action,
  Authorization,
  Clock,
  Counter,
  Desk,
  Endpoint,
  FramePipe,
  FrameReader,
  HttpReply,
  Logger,
  Principal,
  RawRequest,
  Resource,
} from '../contract/index.ts'

export interface ServerDeps {
  readonly clock: Clock
  readonly log: Logger
  /** Live limits: asked per request, so a reload holds at once. */
  settings(): { readonly maxBodyBytes: number; readonly publicUrl: string | null }
  readonly desk: Desk
  readonly endpoints: {
    /** The endpoint of an integration, by its id: `/hooks/ID`. */
    hook(integration: string): Endpoint | null
    /** The endpoint of the first web integration: `/chat`. */
    chat(): Endpoint | null
  }
  /** The tools of agents: `/mcp` and `/mcp/notify`. It asks for its own credential. Absent: there are none. */
  readonly mcp?: { handle(request: RawRequest): Promise<HttpReply> }
  /** `/callback/TOKEN` and `/inbox/SECRET`, where the URL is the credential; `path` is what follows. Absent: 404. */
  readonly callbacks?: { handle(request: RawRequest): Promise<HttpReply> }
  readonly inbox?: { handle(request: RawRequest): Promise<HttpReply> }
  /** `/attach`: hosts on other machines. `admit` throws `unauthorized` or `forbidden` with the reason. Absent: 404. */
  readonly attach?: { admit(bearer: string): Promise<(pipe: FramePipe) => FrameReader> }
  /** Whether messages can be taken now, and why not. */
  ready(): { readonly ready: boolean; readonly detail: string }
  /** Who a bearer token speaks for. Null: nobody. Compares hashes in constant time. */
  authenticate(bearer: string): Promise<Principal | null>
  authorize(principal: Principal, action: Action, resource: Resource): Authorization
  /** A public address is refused without one. */
  adminTokenConfigured(): boolean
  /** Figures beyond the desk's own, for /metrics. */
  readonly metrics?: {
    /** Turns and sends by integration, state and reason. */
    counters?(): Promise<readonly Counter[]>
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
}
