// The contract of an agent connector. Turns are delivered to an agent, and its output is accepted from it. An agent
// sees no platform.
import type { Clock, Random } from '../clock.ts'
import type { Logger } from '../log.ts'
import type { Attachment, Quoted, Urgency } from '../message/message.ts'
import type { NewTurnEvent } from '../message/turn-events.ts'
import type { HttpReply, RawRequest } from '../platform/endpoint.ts'
import type { NewFile } from '../platform/platform.ts'
import type { IntegrationCredentials, TokenList } from '../platform/platform-deps.ts'
import type { AgentSettings } from '../settings.ts'
import type { HostEndpoint } from './hosts.ts'
import type { ServiceToolSource } from './service-tools.ts'
import type { OpenAtHost, ToolActions } from './tool-actions.ts'
import type { TurnJournal } from './turn-steps.ts'

/** One turn on its way to the agent. */
export interface Delivery {
  readonly turn: string
  readonly session: string
  readonly agent: string
  /** The address string: opaque, unique across integrations. */
  readonly chatId: string
  readonly integration: string
  readonly platform: string
  readonly source: string
  readonly sender: { readonly id: string; readonly name?: string }
  readonly messageId: string
  readonly thread?: string
  readonly text: string
  readonly meta: Readonly<Record<string, string>>
  readonly attachments: readonly Attachment[]
  readonly replyTo?: Quoted
  readonly receivedAt: number
  /** The number of hand-overs, including this one. */
  readonly attempt: number
  /** Handed over before and maybe seen. The model sees `redelivery="true"`. */
  readonly repeat: boolean
  /** The agent saw the turn before an interruption: continue, do not replay. */
  readonly continuation: boolean
  /**
   * Messages around the turn that are no turns, oldest first. They are information for the agent, never instructions.
   * Absent: none.
   */
  readonly context?: readonly ContextLine[]
  /** No answer is possible there, and neither the sender nor anyone else waits for one. */
  readonly oneWay?: true
  /** How the channel server wants its messages to be read. These are the server's words, not instructions of ours. */
  readonly instructions?: { readonly server: string; readonly text: string }
  /** Switchboard credentials for this turn only, as the connector's `mints` ordered them. They are secrets. */
  readonly tokens?: readonly string[]
}

/** A Switchboard credential that goes out with a turn. */
export interface TokenOrder {
  readonly kind: string
  /** The token's prefix; absent: the kind. */
  readonly prefix?: string
  readonly ttlMs: number
}

/** How far back a turn's context reaches. Older messages are forgotten. */
export const OVERHEARD_MS = 24 * 3_600_000

/**
 * One context line: a group message without a mention of the agent. `about: 'delivery'`: a note from Switchboard that
 * a message of the agent did not arrive. `about: 'takeover'`: a message by or to a person who held the conversation in
 * the agent's place.
 */
export interface ContextLine {
  readonly about?: 'delivery' | 'takeover'
  readonly speaker: { readonly id: string; readonly name?: string }
  readonly text: string
  readonly messageId: string
  readonly at: number
}

/**
 * What happens to a turn in flight when its connector or node goes away. `wait`: the agent has the turn and outlives
 * the daemon, so it is never offered again. Silence for `redeliver_after` gives it up as `agent_silent`.
 */
export interface Redelivery {
  /**
   * Handed over without evidence. `wait`: applies once `deliver` resolved; an interrupted hand-over is tried again.
   */
  readonly handed: 'again' | 'give-up' | 'wait'
  /** Seen, not answered. `resume`: delivered with `continuation`. */
  readonly seen: 'again' | 'resume' | 'give-up' | 'wait'
  /**
   * With `wait`: the answer arrives within the hand-over itself. If our end cuts it off, it is requested again,
   * whether or not the turn was seen. Only an agent that announced a later answer (evidence with `working`) is waited
   * for.
   */
  readonly cut?: 'again'
  /**
   * Seen, and acknowledged with `ack`. `rest`: no longer waited for, not offered again, and not counted in the window.
   * Absent: like any other seen turn.
   */
  readonly acknowledged?: 'rest'
  /** Whether silence for `redeliver_after` means that no work is running. */
  readonly afterTimeout: boolean
  /**
   * The connector cannot tell whether the agent took the turn. Without evidence for `unseen_notice`, the sender is
   * informed once.
   */
  readonly unseenTold?: true
}

export interface Ask {
  readonly toolName: string
  readonly description: string
  /** The whole input, as display text. */
  readonly input: string
  /** The host's own id. It is shown unchanged unless it collides with a pending one. */
  readonly requestId?: string
  /** The agent's host that asked. Two hosts may use the same request id, and an answer is for one of them. */
  readonly host?: string
  /** Description and input were removed, by retention or because the person was erased. */
  readonly pruned?: true
}

/**
 * Choices for the person. A tap on the nth label returns as a message: its text is the number, counted from 1, and
 * `meta.picked` is `of`.
 */
export interface PickList {
  /** Letters, digits, - and _: at most 40. */
  readonly of: string
  readonly labels: readonly string[]
}

export type AgentOutput =
  /** A reply in the conversation of `turn`, or, without a turn, in the conversation of `session`. */
  | {
      readonly kind: 'say'
      readonly session: string
      readonly turn?: string
      readonly text: string
      readonly urgency?: Urgency
      /** The earliest time of sending, from now. A reminder survives a restart. */
      readonly afterMs?: number
      readonly idempotencyKey?: string
      /** This is the answer to `turn`: evidence of `answered`, in the same commit. */
      readonly final?: boolean
      /**
       * Only while `turn` is open. Throws `conflict` if it was answered or has ended. The same key again is the same
       * answer.
       */
      readonly sole?: true
      /**
       * With `final`: if the agent replied to `turn` by the tool, the turn ends and this text is not sent as well.
       */
      readonly unlessReplied?: true
      /** Choices for the person: buttons where the platform has them. The text lists them by number. */
      readonly pick?: PickList
      /** Separate messages that come before the text, in the same commit. */
      readonly before?: readonly string[]
      /** Sent after the text. Throws `execution_failed` where the platform takes no files. */
      readonly files?: readonly NewFile[]
    }
  /**
   * The answer to `turn` so far: always the whole text, never a piece. Lossy: it may be shown late, in part or not at
   * all, and is never waited for. It is evidence that the turn was seen, but no answer. The final `say` is the answer,
   * and its text replaces this one in the same message.
   */
  | { readonly kind: 'partial'; readonly session: string; readonly turn: string; readonly text: string }
  /** Without a text: only a sign of life. `call`: an event reports the same, for platforms that show tool calls. */
  | {
      readonly kind: 'status'
      readonly session: string
      readonly turn?: string
      readonly text: string
      readonly call?: true
    }
  | {
      readonly kind: 'ask'
      readonly session: string
      readonly turn?: string
      /**
       * The connector only assumes that the question is about `turn`, so it is no evidence that the turn was seen.
       */
      readonly guessed?: boolean
      /** The open turns at the asking host. Only people who are admitted by all of them are asked. */
      readonly at?: OpenAtHost
      readonly ask: Ask
    }
  /** A host that attached still waits for the answers to these requests. A verdict may exist already. */
  | { readonly kind: 'waits'; readonly host: string; readonly requests: readonly string[] }
  | {
      readonly kind: 'evidence'
      readonly turn: string
      readonly of: 'seen' | 'answered'
      /**
       * With `answered`: an answer to a later message of the same chat covers this one, so no notice about a missing
       * reply is sent.
       */
      readonly covered?: boolean
      /** With `seen`: the agent will report when it is done. Stored with the turn, for every node. */
      readonly working?: boolean
      /** With `seen`: the turn is no longer waited for, for this reason. */
      readonly rests?: 'one_way' | 'acknowledged'
    }
  /** One-way turns that their host has. They are no longer waited for, although nothing shows that they were read. */
  | { readonly kind: 'rests'; readonly turns: readonly string[] }
  /** The agent already has this offered turn. It was not handed over now, so the attempt does not count. */
  | { readonly kind: 'kept'; readonly turn: string; readonly seen: boolean }
  /** Handed over, but no longer in work: offered again in order, marked as a repeat. */
  | {
      readonly kind: 'returned'
      readonly turns: readonly string[]
      /** False: no agent took the turn, so the attempt does not count. */
      readonly counted: boolean
      readonly detail: string
      /** The host may return with the turn, so it is not given up now, however often it was offered. */
      readonly kept?: true
      /** The agent could not be reached. The attempt does not count, and is repeated with backoff. */
      readonly unreachable?: true
    }
  /** A tool that the agent ran by itself. It is stored beside the turn, for the console. */
  | { readonly kind: 'event'; readonly event: NewTurnEvent }
  | {
      readonly kind: 'failed'
      readonly turn: string
      readonly reason: 'agent_failed' | 'agent_rejected' | 'agent_silent' | 'answer_cut' | 'cancelled'
      readonly detail: string
      /** The agent's text until the failure: sent in the same commit, marked as incomplete. */
      readonly text?: string
      /** The agent's own name for the error. */
      readonly code?: string
      /** Not an end for an agent that announced, at any node, that it will report when it is done. */
      readonly unlessWorking?: boolean
    }

export interface Accepted {
  /** Outbox id of a say, approval id of an ask. */
  readonly id: string | null
  /** For a failure: the turn was answered before, so no one was informed. */
  readonly late?: true
  /** For a failure with `unlessWorking`: the turn goes on. */
  readonly working?: true
}

/**
 * Why an attached agent does not answer. `unreachable`: no request reaches it. `failing`: it can be reached, but its
 * answers are unusable.
 */
export interface AgentTrouble {
  readonly state: 'unreachable' | 'failing'
  readonly detail: string
  readonly since: number
  /**
   * The time of the last try. No turn has waited for the agent since, so it is not tried any more. Absent: it is
   * tried.
   */
  readonly past?: number
}

/** `absent`: no process is attached. */
export type AgentState = 'attached' | 'absent' | AgentTrouble['state']

/** Takes the output of an agent, as one closed union. */
export interface AgentOutlet {
  accept(output: AgentOutput): Promise<Accepted>
  /** Reports whether turns can be handed over now. */
  presence(attached: boolean, detail?: string): void
  /** Reports free capacity, so that waiting lanes are checked. */
  roomy(): void
  /**
   * Reports that the agent answered and can be reached. `failing`: why its answers are unusable, for `status` and
   * `doctor`; null: they are usable. Absent: unknown so far.
   */
  reached(failing?: string | null): void
  /**
   * For agents that fetch verdicts: returns the state of an approval of this turn, from any node. Fetching a verdict
   * counts as receiving it. Throws `not_found` for an approval of another turn, `gone` when it was given up.
   */
  fetchVerdict(approval: string, turn: string): Promise<Verdict | 'pending'>
  /** Returns the milliseconds since `since` in which a person was asked for this turn, at any node. */
  askedMs(turn: string, since: number): Promise<number>
}

export interface Verdict {
  readonly approval: string
  readonly session: string
  readonly turn: string | null
  readonly behavior: 'allow' | 'deny'
  readonly decidedBy: string
  /** The reason for a denial without a person's decision: `expired`, `unreachable`. */
  readonly cause: 'person' | 'expired' | 'unreachable'
  readonly ask: Ask
  /** For a fetched verdict: the agent got it before. */
  readonly repeat?: true
}

/** The kind of token that opens `/callback/TOKEN`. Its scope names agent, session and turn. */
export const CALLBACK_KIND = 'chorus-callback'

export interface AgentConnector {
  readonly redelivery: Redelivery
  /** How many turns of one session may be in flight. */
  readonly window: number
  /**
   * The agent fetches its verdicts (`fetchVerdict`), runs the call itself and guarantees that it runs once. The same
   * request id with the same input gets the same verdict until the turn ends. Absent: a verdict is written to the
   * agent, once.
   */
  readonly fetchesVerdicts?: true
  /** Whether Switchboard denies an expired or unreachable approval (false: the host keeps its own dialog). */
  readonly holdsDecisions: boolean
  /**
   * A hand-over lasts as long as the answer. A stopping daemon waits this long for open ones and starts no new ones.
   * Absent: a few seconds.
   */
  readonly finishMs?: number
  /**
   * The connector reports the end of a turn itself. A `reply` before that is sent, and the turn goes on. Absent: a
   * reply ends the turn.
   */
  readonly endsTurns?: true
  /**
   * Hand-overs of one session may overlap. `deliver` is called in order, for the next turn as soon as it was called
   * for the previous one, up to the window. Absent: the next turn waits until the previous one was handed over.
   */
  readonly overlaps?: true
  /** The `tokens` of every delivery. The commit that hands it over creates and stores them. Absent: none. */
  readonly mints?: readonly TokenOrder[]
  start(outlet: AgentOutlet): Promise<void>
  /**
   * Returns how many turns of the session could be written now. No more are taken; turns that wait for a place stay
   * queued, and `roomy` reports a free one. Absent: one, and the next when it was handed over, or the window with
   * `overlaps`.
   */
  room?(session: string): number
  /** Like `window`, for a session whose turns are one-way and wait for no answer. Absent: no difference. */
  windowOf?(session: string): number
  /** Why turns wait although the agent is attached, for `doctor`; null: no reason. */
  crowded?(): string | null
  /** Prepares a turn with attachments before it can be written. Called while the turn is queued; never throws. */
  prepare?(delivery: Delivery): Promise<void>
  /** Resolves when the turn was handed over. Throws when it was not; a retryable error puts it back. */
  deliver(delivery: Delivery): Promise<void>
  /**
   * A former owner of the lane left this turn in flight. True: an attached host still has it, so it continues and is
   * neither offered again nor given up.
   */
  takeUp?(delivery: Delivery, seen: boolean): boolean
  /** Returns the host that has the turn, for people; null: none here. */
  whereIs?(turn: string): { readonly host: string; readonly proven: boolean } | null
  /**
   * The most likely reason why a host that never took a message sees none, and what to do. `doctor` shows it for
   * unseen turns.
   */
  readonly unseenBecause?: string
  /** Writes the verdict to the asking host. `gone`: no host to write to. `fetched`: the agent will fetch it. */
  verdict?(verdict: Verdict): Promise<'relayed' | 'gone' | 'fetched'>
  /** Returns true if work was running and was told to stop. */
  cancel?(session: string, turn: string | null): Promise<boolean>
  /** The agent's running programs, for `doctor`. */
  processes?(): readonly ProcessView[]
  /** Handles a request to `/callback/TOKEN` within the token's scope. Throws the error for the caller. */
  callback?(scope: Readonly<Record<string, string>>, request: RawRequest): Promise<HttpReply>
  stop(): Promise<void>
}

export interface ConnectorDeps {
  readonly agent: AgentSettings
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly secret: (reference: string) => string
  /** Reads credentials that others gave an integration for its turns, at any node. Absent: none are stored. */
  readonly credentials?: (integration: string) => Pick<IntegrationCredentials, 'get'>
  /** For connectors that hand out Switchboard credentials: callback URLs, and bearer tokens of the tool surface. */
  readonly tokens?: TokenList
  /** Where the agent reaches this server: the public URL, else the listener's own. No slash at the end. */
  readonly publicBase?: () => string
  /** The agent's tools. Called when a tool is called. */
  readonly tools?: () => ToolActions
  /** Stores the steps of a loop in this process. Absent: they are not stored. */
  readonly journal?: TurnJournal
  /** Tools that the service in front lent to a session. Absent: none. */
  readonly lent?: ServiceToolSource
  /** Where programs may be started. Absent: nowhere. */
  readonly processes?: ProcessPlace
  /** For tests that end the process at a named point. */
  readonly crashPoint?: (name: string) => void
  /** Where hosts attach. Absent: they cannot. */
  readonly hosts?: HostEndpoint
  /** Whether another living node has hosts of this agent. Absent: there is no other node. */
  readonly isElsewhere?: () => boolean
  /** With several nodes: this node's name, and which nodes live. Absent: there is only this one. */
  readonly nodes?: { readonly self: string; isAlive(node: string): boolean }
}

/** The places of a connector that starts programs. */
export interface ProcessPlace {
  /** The environment of every program: PATH, HOME and the like. The configuration lists further variables. */
  readonly environment: Readonly<Record<string, string>>
  /** The records of running programs: `createProcessKeeper` and `reapProcesses`, in `src/kit/processes/`. */
  readonly records: string
  /** A folder of this agent for data that outlives a restart: sessions, worktrees. It is not created yet. */
  readonly folder: string
  /** The base of the configuration's relative folders. */
  readonly base: string
}

/** A program that runs for an agent, as `doctor` shows it. */
export interface ProcessView {
  readonly name: string
  readonly pid: number
  readonly startedAt: number
  /** Including all its child processes; null: unknown. */
  readonly memoryBytes: number | null
  /** Its last lines on stderr, masked. */
  readonly stderr: readonly string[]
}
