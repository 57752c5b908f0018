// The words of `switchboard/host`: what one gives it, what it gives back.
import type { HostingConfig } from '../config/hosting-settings.ts'
import type { Logger, Skip } from '../contract/index.ts'

export interface ChannelHostOptions extends HostingConfig {
  /** One message after another within a session; a promise holds the next one back. */
  readonly onMessage: (message: HostMessage) => void | Promise<void>
  /** Every verdict that a server pushed, also those that count for nothing. */
  readonly onVerdict?: (verdict: HostVerdict) => void
  /** What was not let in, and why. */
  readonly onRefused?: (refusal: HostRefusal) => void
  /** The value behind `env:NAME`, `file:path` or `secret:NAME`. Absent: the environment and files of this process. */
  readonly secret?: (reference: string) => string
  /** Absent: nothing is logged. `console` will do, and so will pino. */
  readonly log?: HostLog
}

/** Called as `warn(fields, message)`. `child`, where there is one, makes a log whose lines name their server. */
export type HostLog = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'> & Partial<Pick<Logger, 'child'>>

export interface HostMessage {
  readonly agent: string
  readonly server: string
  /** `<plugin>:<instance>` of the binding that let it in. */
  readonly binding: string
  /** The same for the same conversation and thread, here, after a restart and in the gateway. */
  readonly session: string
  readonly conversation: string
  readonly thread?: string
  readonly sender: { readonly id: string; readonly stable: boolean; readonly name?: string }
  /** Cut to max_content_chars. */
  readonly content: string
  readonly meta: Readonly<Record<string, string>>
  /** Keys of meta that were left out. */
  readonly dropped: readonly string[]
  /** What the model should see: `<channel source="…">`, with nothing in it that could leave it. */
  readonly wrapped: string
  readonly at: number
  /** Calls the server's outbound tool, in the conversation and thread of this message. */
  reply(text: string): Promise<SendResult>
}

export interface HostVerdict {
  readonly server: string
  readonly id: string
  readonly behavior: 'allow' | 'deny'
  /** False: nobody asked this server, or it came too late. */
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
      /** Why, where it is known at all. */
      readonly skip?: Skip
      readonly detail?: string | null
      readonly dropped?: number
    }

export interface AskOrder {
  readonly agent?: string
  readonly toolName: string
  readonly description: string
  /** The whole input: a text as it is, anything else as JSON. Throws `input_invalid` where it cannot be shown whole. */
  readonly input: unknown
  /** A prompt of one's own is in the race (`decide`): then it stays open also when no server could be asked. */
  readonly local?: boolean
  /** Until it counts as denied; 10 minutes when absent. */
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
  /** One's own prompt in the race: the first answer counts. False: somebody was first. */
  decide(behavior: 'allow' | 'deny'): boolean
  withdraw(): void
}

export interface ChannelHost {
  /** Connects; does not wait for servers to come up. */
  start(): Promise<void>
  list(agent?: string): {
    readonly binding_id: string
    readonly count: number
    readonly servers: readonly ListedServer[]
  }
  /** Throws with the seed's words; a failure of the tool itself is `is_error`. */
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
  /** Asks every server of the agent that relays permissions; the first answer counts. */
  ask(order: AskOrder): OpenAsk
  /** Another configuration, at once: what no longer passes stops, what now passes starts. Throws `config_invalid`. */
  update(config: HostingConfig): Promise<void>
  stop(): Promise<void>
}
