// The types of `switchboard/host`.
import type { HostingConfig } from '../config/hosting-settings.ts'
import type { Logger, Skip } from '../contract/index.ts'

export interface ChannelHostOptions extends HostingConfig {
  /** One message at a time within a session. A promise delays the next one. */
  readonly onMessage: (message: HostMessage) => void | Promise<void>
  /** Called for every verdict of a server, also those that do not count. */
  readonly onVerdict?: (verdict: HostVerdict) => void
  /** Called with what was not admitted, and why. */
  readonly onRefused?: (refusal: HostRefusal) => void
  /**
   * Returns the value of `env:NAME`, `file:path` or `secret:NAME`. Absent: from this process's environment and files.
   */
  readonly secret?: (reference: string) => string
  /** Absent: nothing is logged. `console` works, and so does pino. */
  readonly log?: HostLog
}

/** Called as `warn(fields, message)`. `child`, if present, makes a log whose lines name their server. */
export type HostLog = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'> & Partial<Pick<Logger, 'child'>>

export interface HostMessage {
  readonly agent: string
  readonly server: string
  /** `<plugin>:<instance>` of the binding that admitted it. */
  readonly binding: string
  /** The same for one conversation and thread, after a restart too, and equal to the gateway's. */
  readonly session: string
  readonly conversation: string
  readonly thread?: string
  readonly sender: { readonly id: string; readonly stable: boolean; readonly name?: string }
  /** Cut to max_content_chars. */
  readonly content: string
  readonly meta: Readonly<Record<string, string>>
  /** Keys of meta that were left out. */
  readonly dropped: readonly string[]
  /** The form for the model: `<channel source="…">`, which its content cannot leave. */
  readonly wrapped: string
  readonly at: number
  /** Calls the server's outbound tool, in the conversation and thread of this message. */
  reply(text: string): Promise<SendResult>
}

export interface HostVerdict {
  readonly server: string
  readonly id: string
  readonly behavior: 'allow' | 'deny'
  /** False: this server was not asked, or it was too late. */
  readonly counted: boolean
}

export type HostRefusal = {
  readonly agent: string
  readonly server: string
} & (
  | { readonly kind: 'skip'; readonly skip: Skip }
  | { readonly kind: 'rate_limited'; readonly key: string }
  | { readonly kind: 'unparsable'; readonly problem: string }
)

/** The fields of the seed's `channel_send`. */
export interface SendResult {
  readonly server: string
  readonly tool_name: string
  readonly is_error: boolean
  readonly content: readonly unknown[]
  readonly structured_content: Readonly<Record<string, unknown>> | null
}

export interface SendOrder {
  /** Absent: the only agent. */
  readonly agent?: string
  readonly server: string
  readonly content?: string
  readonly arguments?: Readonly<Record<string, unknown>> | null
}

export interface ListedServer {
  readonly server_name: string
  readonly plugin_source: string | null
  readonly permission_relay: boolean
}

export type ServerStatus =
  | {
      readonly binding_id: string
      readonly server_name: string
      readonly registered: true
      readonly plugin_source: string | null
      /** False: the source was written by hand. */
      readonly plugin_source_verified: boolean
      readonly outbound_tool_name: string
      readonly permission_relay: boolean
      readonly registered_at_ms: number
      readonly dropped: number
    }
  | {
      readonly binding_id: string
      readonly server_name: string
      readonly registered: false
      /** Why, if it is known. */
      readonly skip?: Skip
      readonly detail?: string | null
      readonly dropped?: number
    }

export interface AskOrder {
  readonly agent?: string
  readonly toolName: string
  readonly description: string
  /** The whole input: a text as it is, anything else as JSON. Throws `input_invalid` if it cannot be shown whole. */
  readonly input: unknown
  /** The host has a prompt of its own (`decide`). Then the question stays open even if no server could be asked. */
  readonly local?: boolean
  /** After this time it is denied. Default: 10 minutes. */
  readonly timeoutMs?: number
}

export interface AskOutcome {
  readonly behavior: 'allow' | 'deny'
  /** `server:<name>`, or `local`. */
  readonly by: string | null
  readonly reason: 'decided' | 'expired' | 'nobody' | 'withdrawn'
}

export interface OpenAsk {
  readonly id: string
  readonly outcome: Promise<AskOutcome>
  /** The host's own prompt. The first answer counts. Returns false if another one was first. */
  decide(behavior: 'allow' | 'deny'): boolean
  withdraw(): void
}

export interface ChannelHost {
  /** Connects, and does not wait for servers to come up. */
  start(): Promise<void>
  list(agent?: string): {
    readonly binding_id: string
    readonly count: number
    readonly servers: readonly ListedServer[]
  }
  /** Throws with the seed's words. A failure of the tool itself is `is_error`. */
  send(order: SendOrder): Promise<SendResult>
  status(
    server?: string,
    agent?: string,
  ):
    | ServerStatus
    | {
        readonly binding_id: string
        readonly count: number
        readonly servers: readonly ServerStatus[]
      }
  /** Asks every server of the agent that relays permissions. The first answer counts. */
  ask(order: AskOrder): OpenAsk
  /**
   * Applies another configuration at once: stops what no longer passes, starts what passes now. Throws
   * `config_invalid`.
   */
  update(config: HostingConfig): Promise<void>
  stop(): Promise<void>
}
