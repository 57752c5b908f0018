// Hosts: processes that attach for an agent (a Claude Code, another MCP host). The attach room carries the frames, the
// channel connector decides what goes where; this is what they have to say to each other.
import type { Authorization } from './principal.ts'
import type { ToolOutcome } from './tool-desk.ts'

/** A turn on its way to a host, as the host's pipe carries it. */
export interface HostEvent {
  readonly turn: string
  readonly session: string
  readonly chatId: string
  readonly messageId: string
  readonly content: string
  readonly meta: Readonly<Record<string, string>>
}

/** A turn that was written to the host's pipe in this life of the host. */
export interface HeldTurn extends Pick<HostEvent, 'turn' | 'session' | 'chatId' | 'messageId'> {
  /** The host gave evidence of it. */
  readonly seen?: boolean
}

/** So many turns one host is given before it has answered some, and so many its shim remembers: none is handed over twice. */
export const MOST_HELD = 10_000

/** What a host says of itself when it attaches. */
export interface HostFacts {
  readonly agent: string
  readonly dialect: 'claude' | 'nexo'
  /** Names the host's own session: the same again is the same place to work. Null: it has no name. */
  readonly routingKey: string | null
  /** Which shim speaks: the same again replaces its line, another one of the same session is its twin. */
  readonly shim: string
  /** Name and version of the program, for people. */
  readonly client: string | null
  /** What was handed to it before a daemon went away: it is not handed over again. Oldest first. */
  readonly held: readonly HeldTurn[]
  /** Permission requests of its own that it still waits for. */
  readonly asks: readonly string[]
  /** It gave evidence before: it takes channel messages. */
  readonly proven: boolean
  /** Where it works, on its own machine; of an older shim none. */
  readonly folder?: string
}

export interface HostVerdict {
  readonly requestId: string
  readonly behavior: 'allow' | 'deny'
}

/** One attachment. It ends once; a host that comes back is another attachment. */
export interface AttachedHost {
  readonly id: string
  readonly facts: HostFacts
  /** It runs on this machine: paths mean the same to both. */
  readonly local: boolean
  /** By which way it came: `local`, or the bearer that let it in. */
  readonly origin: string
  /** How many events could be written before it must confirm some. */
  room(): number
  /**
   * Written to its line when this returns. Resolves when the host's pipe took it, or when the host is gone (then `detached`
   * was called). Throws `too_large`, at once, for one that no host can be handed.
   */
  deliver(event: HostEvent): Promise<'relayed' | 'gone'>
  verdict(verdict: HostVerdict): Promise<'relayed' | 'gone'>
  close(reason: string): void
}

export interface HostCall {
  readonly tool: string
  readonly input: unknown
  /** Carries over retries of one call. */
  readonly key: string
  /** Sent before: what the call was found to prove then (null: nothing). Absent: it was never sent before. */
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
  /** Never throws. `proves` is told which turn the call proves before anything is done for it. */
  call(call: HostCall, proves: (turn: string | null) => void): Promise<HostAnswer>
  ask(ask: HostAsk): Promise<void>
  detached(): void
}

export interface HostAnswer extends ToolOutcome {
  /** The host has given evidence by now. */
  readonly proven: boolean
  /** Turns that the host need not remember any more: they were answered or acknowledged. */
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
  /** Hosts of this agent are admitted from now on; the function that comes back ends that and closes them. */
  open(agent: string, post: HostPost): () => void
}

/** What carries the frames of one peer: a local socket, a WebSocket. */
export interface FramePipe {
  /** The bearer that let the peer in, by a name that tells nobody the bearer; absent: the pipe is the owner's own. */
  readonly origin?: string
  /** One frame, with the end of its line. */
  send(text: string): void
  end(): void
  /** Whether this peer may attach for the agent; absent: the pipe is the owner's own. */
  may?(agent: string): Authorization
}

export interface FrameReader {
  line(text: string): void
  /** The peer broke the form of the pipe itself, or may not be here any more. */
  broken(reason: string): void
  closed(): void
}
