// The contract between an adapter and the loop of its link. `start-link.ts` is the loop.
import type { Clock, LinkLease, LinkState, Logger, Random } from '../../contract/index.ts'
import type { BackoffRange } from './backoff.ts'

/** A connection that works. */
export interface LiveConnection {
  /** What a person should know although the link is up. */
  readonly detail?: string
  /** Asks the other end for a sign of life. False, a failure and no answer in time mean that it is deaf. */
  readonly probe?: () => Promise<boolean>
  /**
   * The next connection stands, so this one ends as soon as nothing is on its way. Absent: its signal is aborted at
   * once.
   */
  readonly leave?: () => void
}

/** Why a connection ended, and what that means for the next one. */
export interface LinkEnding {
  /** For a person. */
  readonly why: string
  /** The next one is made after this time at the earliest. */
  readonly waitMs?: number
  /** The link is shown as `down` at once, and this counts as a failure, even after a long connection. */
  readonly down?: true
  /** The waits for this failure. Absent: the usual ones. */
  readonly retry?: BackoffRange
}

/** One try to connect, and the connection that comes of it. */
export interface LinkAttempt {
  /** Aborted when this connection must end now. */
  readonly signal: AbortSignal
  /** The connection works. The connection before it is left. Throws when this one must end. A repeat does nothing. */
  up(connection?: LiveConnection): void
  /** The platform wants another connection. This one goes on until the next one stands (with `overlaps`). */
  replace(ending: LinkEnding): void
}

export interface LinkOptions {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Only the node that holds it connects. Absent: this node always may. */
  readonly lease?: LinkLease | undefined
  /**
   * Connects, calls `up`, and stays until the connection ended. Returns why it ended, or throws what went wrong. It
   * must end soon after its signal is aborted.
   */
  readonly connect: (attempt: LinkAttempt) => Promise<LinkEnding | undefined>
  /** Receives each change of the state. `retry` comes with a failure. */
  readonly report: (
    link: LinkState,
    retry?: { readonly failures: number; readonly waitMs: number; readonly why: string },
  ) => void
  /** A connection works: `intake.connected` belongs here. */
  readonly connected?: () => void
  /** The waits after failures. */
  readonly retry: BackoffRange
  /** The longest wait that a refusal may ask for by `retryAfterMs`. A rate limit is always obeyed. */
  readonly refusedMs?: number
  /** A connection that lasted this long makes the next failure a first one again. */
  readonly steadyMs?: number
  /** So many failures in a row are shown as `down`, fewer as `connecting`. */
  readonly downAfter?: number
  /** By then `connect` must have called `up`. Null: it keeps time itself. */
  readonly connectMs?: number | null
  /** How long to wait for `connect` to end after its signal was aborted. */
  readonly endMs?: number
  /** The deadline of a probe. */
  readonly probeMs?: number
  /** How often the connection is probed by the link itself. Two probes without an answer end it. Absent: never. */
  readonly probeEveryMs?: number
  /** `renew` makes the next connection before it ends the present one. */
  readonly overlaps?: true
  readonly leaseRules?: LeaseRules
  readonly words?: Partial<LinkWords>
}

export interface LeaseRules {
  readonly leaseMs?: number
  readonly renewMs?: number
  /** How long the work under the lease takes to end. It counts as lost this much earlier. */
  readonly endingMs?: number
  /** The lease is not renewed between connections, so that another node can try. */
  readonly restWhileDown?: true
}

export interface LinkWords {
  /** For the log: the first failure in a row. Empty: it is not logged. */
  readonly failed: string
  readonly lost: string
  readonly elsewhere: string
  readonly unknown: string
}

export interface Link {
  /** A new connection is needed. One that is being made anyway counts, and a wait is cut short. */
  renew(cause: string): void
  /** Throws `platform_unavailable` when there is no connection, or none that can be probed. */
  probe(): Promise<'hears' | 'deaf'>
  /** Resolves when all connections ended and the lease was given back. */
  stop(): Promise<void>
}
