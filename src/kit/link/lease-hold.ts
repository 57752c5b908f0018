// A link lease that is held: renewed beside the work that it allows, and held for as long as that is known, no longer. A
// renewal that fails takes nothing away while the last one still counts; one that hangs adds nothing, for by then another
// node may have it.
import type { Cancel, Clock, LinkLease } from '../../contract/index.ts'

/** `unknown`: the store did not answer, or too late to count. */
export type LeaseAnswer = 'held' | 'elsewhere' | 'unknown'

export interface LeaseHold {
  /** Asks for it. Once held it is renewed by itself. Never throws. */
  take(): Promise<LeaseAnswer>
  isHeld(): boolean
  /** No longer renewed: it runs out, unless it is taken again. */
  rest(): void
  /** Gives it back, after a question that is under way; `onLost` is not told. Throws what the store throws. */
  release(): Promise<void>
}

export interface LeaseHoldOptions {
  readonly clock: Pick<Clock, 'after'>
  readonly leaseMs: number
  readonly renewMs: number
  /** What the work under it takes to end: so much before its end it counts as lost. */
  readonly endingMs?: number
  /** The work must end now. */
  readonly onLost: () => void
}

export function createLeaseHold(lease: LinkLease, options: LeaseHoldOptions): LeaseHold {
  const { clock, leaseMs, renewMs, endingMs = 0, onLost } = options
  /** There while it is held: calls off the moment at which it counts as lost. */
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
    // From before the question: the store counts from later, so what we think we hold never outlasts what we do hold.
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
      // Answered afterwards it would be held by nobody who knows.
      await asking
      forget()
      await lease.release()
    },
  }
}
