// Hosts: processes that attach for an agent (a Claude Code, another MCP host). `src/attach` carries the frames, and the
// channel connector decides what goes where. These types connect the two.
import type { Authorization } from './principal.ts'
import type { ToolOutcome } from './tool-actions.ts'

/** A turn on its way to a host, as the host's pipe carries it. */
export interface HostEvent {
  readonly turn: string
  readonly session: string
  readonly chatId: string
  readonly messageId: string
  readonly content: string
  readonly meta: Readonly<Record<string, string>>
}

/** A turn that was written to the pipe of this host process. */
export interface HeldTurn extends Pick<HostEvent, 'turn' | 'session' | 'chatId' | 'messageId'> {
  /** The host gave evidence of it. */
  readonly seen?: boolean
}

/**
 * The number of turns a host may hold unanswered, and the number its shim remembers, so that none is handed over
 * twice.
 */
export const MOST_HELD = 10_000

/** A host's description of itself when it attaches. */
export interface HostFacts {
  readonly agent: string
  readonly dialect: 'claude' | 'nexo'
  /** Identifies the host's session: the same key again is the same place of work. Null: no key. */
  readonly routingKey: string | null
  /** Identifies the shim. The same id replaces its connection; another id of the same session is its twin. */
  readonly shim: string
  /** Name and version of the program, for people. */
  readonly client: string | null
  /** Turns that were handed to it before a daemon went away, oldest first. They are not handed over again. */
  readonly held: readonly HeldTurn[]
  /** Its own permission requests that still wait. */
  readonly asks: readonly string[]
  /** It gave evidence before, so it takes channel messages. */
  readonly proven: boolean
  /** Its working folder on its own machine. Older shims send none. */
  readonly folder?: string
}

export interface HostVerdict {
  readonly requestId: string
  readonly behavior: 'allow' | 'deny'
}

/** One attachment. It ends once; a host that returns is a new attachment. */
export interface AttachedHost {
  readonly id: string
  readonly facts: HostFacts
  /** It runs on this machine, so paths mean the same to both. */
  readonly local: boolean
  /** How it connected: `local`, or the bearer that admitted it. */
  readonly origin: string
  /** Returns how many events could be written before it must confirm some. */
  room(): number
  /**
   * Writes an event to its connection before it returns. Resolves when the host's pipe took it, or when the host is
   * gone (then `detached` was called). Throws `too_large`, at once, for an event that no host can take.
   */
  deliver(event: HostEvent): Promise<'relayed' | 'gone'>
  verdict(verdict: HostVerdict): Promise<'relayed' | 'gone'>
  close(reason: string): void
}

export interface HostCall {
  readonly tool: string
  readonly input: unknown
  /** Stays the same over retries of one call. */
  readonly key: string
  /**
   * The call was sent before; this is what it was found to prove then (null: nothing). Absent: it was never sent
   * before.
   */
  readonly provedBefore?: string | null
}

export interface HostAsk {
  readonly requestId: string
  readonly toolName: string
  readonly description: string
  readonly inputPreview: string
}

/** The connector's side of one attachment. */
export interface HostSeat {
  /** Runs a tool call. Never throws. `proves` gets the turn that the call proves before anything is done for it. */
  call(call: HostCall, proves: (turn: string | null) => void): Promise<HostAnswer>
  ask(ask: HostAsk): Promise<void>
  detached(): void
}

export interface HostAnswer extends ToolOutcome {
  /** The host has given evidence by now. */
  readonly proven: boolean
  /** Turns that the host may forget: they were answered or acknowledged. */
  readonly done: readonly string[]
  /** Turns that this call gave evidence of. */
  readonly seen: readonly string[]
}

export interface HostPost {
  readonly dialect: 'claude' | 'nexo'
  admit(host: AttachedHost): HostSeat
}

/** Where connectors wait for hosts of their agent. */
export interface HostEndpoint {
  /** Admits hosts of this agent from now on. The returned function ends that and closes them. */
  open(agent: string, post: HostPost): () => void
}

/** Carries the frames of one peer: a local socket, a WebSocket. */
export interface FramePipe {
  /** The bearer that admitted the peer, by a name that does not reveal it. Absent: the pipe is the owner's own. */
  readonly origin?: string
  /** Sends one frame, with the end of its line. */
  send(text: string): void
  end(): void
  /** Whether this peer may attach for the agent. Absent: the pipe is the owner's own. */
  may?(agent: string): Authorization
}

export interface FrameReader {
  line(text: string): void
  /** The peer violated the pipe's format, or lost its permission. */
  broken(reason: string): void
  closed(): void
}
