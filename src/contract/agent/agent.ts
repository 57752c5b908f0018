// The contract of an agent connector: an agent is delivered to and accepted from. It sees no platform.
import type { Clock, Random } from '../clock.ts'
import type { Logger } from '../log.ts'
import type { Attachment, Quoted, Urgency } from '../message/message.ts'
import type { NewTurnEvent } from '../message/turn-events.ts'
import type { HttpReply, RawRequest } from '../platform/endpoint.ts'
import type { IntegrationCredentials, NewFile, TokenList } from '../platform/platform.ts'
import type { AgentSettings } from '../settings.ts'
import type { HostEndpoint } from './hosts.ts'
import type { LentToolSource } from './service-tools.ts'
import type { OpenAtHost, ToolDesk } from './tool-desk.ts'
import type { TurnJournal } from './turn-steps.ts'

/** One turn, on its way to the agent. */
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
  /** How often it was handed over, this time included. */
  readonly attempt: number
  /** Handed before, maybe seen: marked `redelivery="true"` to the model. */
  readonly repeat: boolean
  /** The agent had seen it before the interruption: go on, do not replay. */
  readonly continuation: boolean
  /** What was said around it and is no turn, oldest first: for the agent to know, never an instruction. Absent: nothing. */
  readonly context?: readonly ContextLine[]
  /** Nothing can be answered there: neither the sender nor anybody else waits for a word. */
  readonly oneWay?: true
  /** What the channel server behind it says of how its messages are to be taken: its words, no instruction of ours. */
  readonly instructions?: { readonly server: string; readonly text: string }
  /** Credentials of ours for this turn alone, as the connector's `mints` ordered them. They are secrets. */
  readonly tokens?: readonly string[]
}

/** A credential of ours that goes out with a turn. */
export interface TokenOrder {
  readonly kind: string
  /** What the token begins with; absent: the kind. */
  readonly prefix?: string
  readonly ttlMs: number
}

/** How far back a turn's context reaches; what is older is forgotten. */
export const OVERHEARD_MS = 24 * 3_600_000

/**
 * One thing that somebody said in a group without mentioning the agent; `about: 'delivery'`: what Switchboard itself
 * tells of a message of the agent's that did not arrive after all; `about: 'takeover'`: what was said while a person held
 * the conversation in the agent's place, by them or to them.
 */
export interface ContextLine {
  readonly about?: 'delivery' | 'takeover'
  readonly speaker: { readonly id: string; readonly name?: string }
  readonly text: string
  readonly messageId: string
  readonly at: number
}

/**
 * What happens to a turn that was in flight when its connector or node went away. `wait`: the agent has it and lives
 * on without us, so it is never offered again; silence for `redeliver_after` gives it up as `agent_silent`.
 */
export interface Redelivery {
  /** Handed, no evidence yet. `wait`: what `deliver` resolved for; a hand-over that was cut short is tried again. */
  readonly handed: 'again' | 'give-up' | 'wait'
  /** Seen, not answered. `resume`: delivered with `continuation`. */
  readonly seen: 'again' | 'resume' | 'give-up' | 'wait'
  /**
   * With `wait`: the answer comes in the hand-over itself, so one that our own end cut is asked for again, whether it was seen
   * or not. Only an agent that said that its answer comes later (evidence with `working`) is waited for.
   */
  readonly cut?: 'again'
  /**
   * Seen, and acknowledged with `ack`. `rest`: neither waited for nor offered again, and no part of the window. Absent: like
   * any other that was seen.
   */
  readonly acknowledged?: 'rest'
  /** Whether silence for `redeliver_after` means that nothing is running. */
  readonly afterTimeout: boolean
  /** Nothing tells whether the agent took it: without evidence for `unseen_notice` the sender is told, once. */
  readonly unseenTold?: true
}

export interface Ask {
  readonly toolName: string
  readonly description: string
  /** The whole input, as display text. */
  readonly input: string
  /** The host's own id, shown as it came unless it collides with a pending one. */
  readonly requestId?: string
  /** Which of the agent's hosts asked: request ids of two may be alike, and an answer is for one of them. */
  readonly host?: string
  /** Description and input are gone, by retention or because the person was erased. */
  readonly pruned?: true
}

/** A tap on the nth label comes back as a message: its text is the number, counted from 1, and `meta.picked` is `of`. */
export interface PickList {
  /** Letters, digits, - and _: at most 40. */
  readonly of: string
  readonly labels: readonly string[]
}

export type AgentOutput =
  /** A reply in the conversation of `turn`, or (no turn) in the conversation of `session`. */
  | {
      readonly kind: 'say'
      readonly session: string
      readonly turn?: string
      readonly text: string
      readonly urgency?: Urgency
      /** Not before this much time has passed: a reminder survives a restart. */
      readonly afterMs?: number
      readonly idempotencyKey?: string
      /** The answer to `turn`: evidence of `answered`, in the same commit. */
      readonly final?: boolean
      /** Only while `turn` is open: `conflict` where it was answered or ended. The same key again is the same answer. */
      readonly sole?: true
      /** With `final`: where the agent replied to `turn` by the tool, the turn ends and this is not said as well. */
      readonly unlessReplied?: true
      /** What the person may pick of it: buttons where the platform has them. The text names them, by number. */
      readonly pick?: PickList
      /** Messages of their own that come before the text, in the same commit. */
      readonly before?: readonly string[]
      /** Sent after the text. Throws `execution_failed` where the platform takes none. */
      readonly files?: readonly NewFile[]
    }
  /**
   * The answer to `turn` as far as it is written: the whole text so far, never a piece. Lossy: it may be shown, late, in part
   * or not at all, and is never waited for. It is evidence that the turn was seen, and answers nothing: the final `say`
   * does, and what that says is what stands in the chat in the end, in the same message.
   */
  | { readonly kind: 'partial'; readonly session: string; readonly turn: string; readonly text: string }
  /** Without a text: a sign of life alone. `call`: an event tells the same, for platforms that show tool calls. */
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
      /** The connector only supposes that it is about `turn`: no evidence that the turn was seen. */
      readonly guessed?: boolean
      /** What is open at the host that asks: only who all of it admits is asked. */
      readonly at?: OpenAtHost
      readonly ask: Ask
    }
  /** A host that attached still waits for the answers to these requests of its own: a verdict may be there already. */
  | { readonly kind: 'waits'; readonly host: string; readonly requests: readonly string[] }
  | {
      readonly kind: 'evidence'
      readonly turn: string
      readonly of: 'seen' | 'answered'
      /** With `answered`: an answer to a later message of the same chat covers it; nobody is told "without replying". */
      readonly covered?: boolean
      /** With `seen`: the agent will say when it is done. Kept with the turn, for every node. */
      readonly working?: boolean
      /** With `seen`: nobody waits for it from then on, and why. */
      readonly rests?: 'one_way' | 'acknowledged'
    }
  /** They came one way and their host has them: nobody waits for them any more, though nothing shows that they were read. */
  | { readonly kind: 'rests'; readonly turns: readonly string[] }
  /** Offered again, and the agent has it from before: nothing was handed over now, so this was no attempt. */
  | { readonly kind: 'kept'; readonly turn: string; readonly seen: boolean }
  /** Handed over, and not being worked on any more: offered again, in order, marked as a repeat. */
  | {
      readonly kind: 'returned'
      readonly turns: readonly string[]
      /** False: nobody ever took it, so the attempt does not count. */
      readonly counted: boolean
      readonly detail: string
      /** Whoever has it may well come back with it: it is not given up now, however often it was offered. */
      readonly kept?: true
      /** The agent could not be reached: no attempt, and tried again with backoff. */
      readonly unreachable?: true
    }
  /** A tool that the agent ran by itself: kept beside the turn, for the console. */
  | { readonly kind: 'event'; readonly event: NewTurnEvent }
  | {
      readonly kind: 'failed'
      readonly turn: string
      readonly reason: 'agent_failed' | 'agent_rejected' | 'agent_silent' | 'answer_cut' | 'cancelled'
      readonly detail: string
      /** What it had said until then: sent in the same commit, marked as incomplete. */
      readonly text?: string
      /** The agent's own name for what went wrong. */
      readonly code?: string
      /** It is not the end for an agent that said, here or to another node, that it will say when it is done. */
      readonly unlessWorking?: boolean
    }

export interface Accepted {
  /** Outbox id of a say, approval id of an ask. */
  readonly id: string | null
  /** Of a failure: the turn was answered before it came, so nobody has heard of it. */
  readonly late?: true
  /** Of a failure with `unlessWorking`: it was not taken for the end. */
  readonly working?: true
}

/**
 * Why an agent that is attached does not answer. `unreachable`: no request reaches it. `failing`: it is reached, and what it
 * answers cannot be used.
 */
export interface AgentTrouble {
  readonly state: 'unreachable' | 'failing'
  readonly detail: string
  readonly since: number
  /** When it was tried last: nothing has waited for it since, so that it is not tried any more. Absent: it is tried. */
  readonly past?: number
}

/** `absent`: nothing is attached. */
export type AgentState = 'attached' | 'absent' | AgentTrouble['state']

/** The agent's way back: one closed union through one door. */
export interface AgentOutlet {
  accept(output: AgentOutput): Promise<Accepted>
  /** Whether turns can be handed over now. */
  presence(attached: boolean, detail?: string): void
  /** There may be room where there was none: what waits for it is looked at. */
  roomy(): void
  /**
   * The agent answered, so it can be reached. `failing`: why its answers cannot be used, shown in `status` and `doctor`;
   * null: they can. Absent: neither is known yet.
   */
  reached(failing?: string | null): void
  /**
   * For agents that fetch: how an approval of this turn stands, here or at another node. To get a verdict is to be told
   * it. Throws `not_found` for one of another turn, `gone` when it was given up.
   */
  fetchVerdict(approval: string, turn: string): Promise<Verdict | 'pending'>
  /** Milliseconds since `since` in which a person was asked for this turn, at any node. */
  askedMs(turn: string, since: number): Promise<number>
}

export interface Verdict {
  readonly approval: string
  readonly session: string
  readonly turn: string | null
  readonly behavior: 'allow' | 'deny'
  readonly decidedBy: string
  /** Why it is denied when no person said so: `expired`, `unreachable`. */
  readonly cause: 'person' | 'expired' | 'unreachable'
  readonly ask: Ask
  /** Of one that is fetched: the agent was told before. */
  readonly repeat?: true
}

/** The kind of token that opens `/callback/TOKEN`; its scope names agent, session and turn. */
export const CALLBACK_KIND = 'chorus-callback'

export interface AgentConnector {
  readonly redelivery: Redelivery
  /** How many turns of one session may be in flight. */
  readonly window: number
  /**
   * The agent comes for its verdicts (`fetchVerdict`), runs the call itself and answers for running it once: the same request
   * id with the same input gets the same verdict until the turn ends. Absent: a verdict is written to it, once.
   */
  readonly fetchesVerdicts?: true
  /** Whether an expired or unreachable approval is denied by Switchboard (false: the host keeps its own dialog). */
  readonly holdsDecisions: boolean
  /**
   * A hand-over lasts as long as the answer: a daemon that stops waits so long for those that are open, and begins no more.
   * Absent: a few seconds.
   */
  readonly finishMs?: number
  /** It tells itself when a turn ends: a `reply` in the middle is said, and the turn goes on. Absent: a reply ends it. */
  readonly endsTurns?: true
  /**
   * Hand-overs of one session may overlap: `deliver` is called in order, for the next turn as soon as it was called for the
   * one before, up to the window. Absent: the next waits until the one before was handed over.
   */
  readonly overlaps?: true
  /** What every delivery carries as `tokens`: made and kept by the commit that hands it over. Absent: nothing. */
  readonly mints?: readonly TokenOrder[]
  start(outlet: AgentOutlet): Promise<void>
  /**
   * How many turns of the session could be written at this moment. More are not taken: what waits for a place is queued, and
   * `roomy` is said when there is one. Absent: one, and the next when that one was handed over; or the window, with `overlaps`.
   */
  room?(session: string): number
  /** As `window`, of a session whose turns are one-way and wait for no answer. Absent: there is no difference. */
  windowOf?(session: string): number
  /** What keeps its turns waiting although it is attached, for `doctor`; null: nothing. */
  crowded?(): string | null
  /** Makes ready what a turn with attachments needs before it can be written. Called while it is queued; never throws. */
  prepare?(delivery: Delivery): Promise<void>
  /** Resolves when the turn was handed over. Throws when it was not; a retryable error puts it back. */
  deliver(delivery: Delivery): Promise<void>
  /**
   * A former owner of its lane left this turn in flight. True: an attached host still has it, so it goes on where it is;
   * it is neither offered again nor given up.
   */
  takeUp?(delivery: Delivery, seen: boolean): boolean
  /** Which host has it, for people; null: none here. */
  whereIs?(turn: string): { readonly host: string; readonly proven: boolean } | null
  /** Why a host that never took a message sees none, most likely, and what to do: `doctor` says it of turns that lie unseen. */
  readonly unseenBecause?: string
  /** Writes the verdict to the asking host. `gone`: there is nobody to tell. `fetched`: the agent will come for it. */
  verdict?(verdict: Verdict): Promise<'relayed' | 'gone' | 'fetched'>
  /** True if something was running and was told to stop. */
  cancel?(session: string, turn: string | null): Promise<boolean>
  /** The programs that it runs, for `doctor`. */
  processes?(): readonly ProcessView[]
  /** What comes to `/callback/TOKEN`, for the token's own scope. Throws what the caller is answered with. */
  callback?(scope: Readonly<Record<string, string>>, request: RawRequest): Promise<HttpReply>
  stop(): Promise<void>
}

export interface ConnectorDeps {
  readonly agent: AgentSettings
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly secret: (reference: string) => string
  /** What others gave an integration for its turns, also when another node took it. Absent: nothing is kept. */
  readonly credentials?: (integration: string) => Pick<IntegrationCredentials, 'get'>
  /** For connectors that hand out credentials of ours: callback URLs, bearers of the tool surface. */
  readonly tokens?: TokenList
  /** Where the agent reaches this server: the public URL, else the listener's own. No slash at the end. */
  readonly publicBase?: () => string
  /** What the agent's tools do. Asked for when a tool is called. */
  readonly tools?: () => ToolDesk
  /** Where a loop in this process keeps its steps. Absent: nowhere. */
  readonly journal?: TurnJournal
  /** Tools that the service in front lent to a session. Absent: there are none. */
  readonly lent?: LentToolSource
  /** Where programs may be started. Absent: nowhere. */
  readonly processes?: ProcessPlace
  /** For tests that end the process at a named point. */
  readonly crashPoint?: (name: string) => void
  /** Where hosts attach. Absent: they cannot. */
  readonly hosts?: HostEndpoint
  /** Another living node has hosts of this agent. Absent: there is none. */
  readonly isElsewhere?: () => boolean
  /** Where several nodes may run: the name of this one, and who lives. Absent: there is only this one. */
  readonly nodes?: { readonly self: string; isAlive(node: string): boolean }
}

/** Where a connector that starts programs keeps them. */
export interface ProcessPlace {
  /** What every program gets: PATH, HOME and the like. Whatever else it needs is listed in the configuration. */
  readonly environment: Readonly<Record<string, string>>
  /** The records of what runs: `createProcessKeeper` and `reapProcesses`, in `src/kit/processes/`. */
  readonly records: string
  /** A folder of this agent's own, for what has to outlive a restart: sessions, worktrees. Not made yet. */
  readonly folder: string
  /** Relative folders of the configuration start here. */
  readonly base: string
}

/** A program that runs for an agent, as `doctor` shows it. */
export interface ProcessView {
  readonly name: string
  readonly pid: number
  readonly startedAt: number
  /** With all that it started; null: not known. */
  readonly memoryBytes: number | null
  /** The last lines it wrote to stderr, masked. */
  readonly stderr: readonly string[]
}
