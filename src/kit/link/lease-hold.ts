// Holds a link lease and renews it in parallel with the work. The lease counts as held only as long as that is certain.
// A failed renewal changes nothing while the last one is valid. A renewal that hangs adds nothing, because another node
// may have the lease by then.
import type { Cancel, Clock, LinkLease } from '../../contract/index.ts'

/** `unknown`: the store did not answer, or too late. */
export type LeaseAnswer = 'held' | 'elsewhere' | 'unknown'

export interface LeaseHold {
  /** Requests the lease. A held lease is renewed automatically. Never throws. */
  take(): Promise<LeaseAnswer>
  isHeld(): boolean
  /** Stops the renewal. The lease runs out unless it is taken again. */
  rest(): void
  /** Releases it after a query in progress, without calling `onLost`. Throws the store's errors. */
  release(): Promise<void>
}

export interface LeaseHoldOptions {
  readonly clock: Pick<Clock, 'after'>
  readonly leaseMs: number
  readonly renewMs: number
  /** How long the work takes to end. The lease counts as lost this much before its end. */
  readonly endingMs?: number
  /** Called when the work must end now. */
  readonly onLost: () => void
}

export function createLeaseHold(lease: LinkLease, options: LeaseHoldOptions): LeaseHold {
  const { clock, leaseMs, renewMs, endingMs = 0, onLost } = options
  /** Cancels the timer that counts it as lost. Null: it is not held. */
  let deadline: Cancel | null = null
  let stopRenewing: Cancel = () => undefined
  let asking: Promise<LeaseAnswer> | null = null
  let renews = false

  const forget = () => {
    deadline?.()
    deadline = null
    stopRenewing()
  }
  const lose = () => {
    if (deadline === null) return
    forget()
    onLost()
  }

  const ask = async (): Promise<LeaseAnswer> => {
    let late = false
    // Counted from before the query. The store counts from later, so our estimate ends before the real lease.
    const fresh = clock.after(leaseMs - endingMs, () => {
      late = true
      if (deadline === fresh) lose()
    })
    const held = await lease.take(leaseMs).catch(() => null)
    if (held === true && !late) {
      deadline?.()
      deadline = fresh
      return 'held'
    }
    fresh()
    if (held === false) lose()
    return held === false ? 'elsewhere' : 'unknown'
  }

  const question = (): Promise<LeaseAnswer> => {
    asking ??= ask().finally(() => {
      asking = null
      if (deadline === null || !renews) return
      stopRenewing()
      stopRenewing = clock.after(renewMs, () => void question())
    })
    return asking
  }

  return {
    take() {
      renews = true
      return question()
    },
    isHeld: () => deadline !== null,
    rest() {
      renews = false
      stopRenewing()
    },
    async release() {
      renews = false
      forget()
      // If the query succeeded after the release, this node would hold the lease without knowing it.
      await asking
      forget()
      await lease.release()
    },
  }
}
