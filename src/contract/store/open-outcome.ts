// What is known of a send whose outcome is open: a try was written out, and the platform never said what became of it.
// It is stored with the row, so that a crash keeps the count, the times and the label.
import type { ReasonCode } from '../message/reasons.ts'

export interface OpenOutcome {
  /** When the first try began whose outcome is open. */
  readonly since: number
  /** When the newest such try ended. */
  readonly endedAt: number
  /** How many labelled resends were made. */
  readonly resends: number
  /** How often the platform was asked since `endedAt`. */
  readonly looks: number
  /** The queued resend shows nothing twice until then (a nonce); absent: it carries the label, or nothing else is needed. */
  readonly harmlessUntil?: number
  /** How often it was sent again because the platform said that it is not there; absent: never. */
  readonly absences?: number
  /** The platform said so after the newest try: no copy of it arrived. */
  readonly provenAbsent?: true
  /** It is not sent again, for this reason. The platform is only asked whether it arrived. */
  readonly givenUp?: { readonly reason: ReasonCode; readonly quiet: boolean }
}

/** Whether some try of it may have arrived. */
export function mayHaveArrived(open: OpenOutcome | undefined): boolean {
  return open !== undefined && open.provenAbsent !== true
}

/** "Not there" counts only when it was asked so long after the try ended: a request may still be on its way. */
export const ABSENT_COUNTS_AFTER_MS = 30_000
/** How long after the last try a labelled resend follows, where the platform cannot be asked. */
export const RESEND_AFTER_MS = [5_000, 30_000, 120_000, 600_000] as const
/** So long after another call to the platform succeeded, later sends of the conversation go first. */
export const LATER_SENDS_WAIT_MS = 600_000
