// The facts about a send with an open outcome: an attempt was written, and the platform never reported its result. They
// are stored with the row, so a crash keeps the count, the times and the label.
import type { ReasonCode } from '../message/reasons.ts'

export interface OpenOutcome {
  /** Start of the first attempt with an open outcome. */
  readonly since: number
  /** End of the newest such attempt. */
  readonly endedAt: number
  /** The number of labelled resends. */
  readonly resends: number
  /** How often the platform was asked since `endedAt`. */
  readonly looks: number
  /** Until then the queued resend shows no second copy (a nonce); absent: it carries the label, or needs none. */
  readonly harmlessUntil?: number
  /** How often it was sent again because the platform reported it absent; absent: never. */
  readonly absences?: number
  /** The platform reported it absent after the newest attempt, so no copy arrived. */
  readonly provenAbsent?: true
  /** It is not sent again, for this reason. The platform is only asked whether it arrived. */
  readonly givenUp?: { readonly reason: ReasonCode; readonly quiet: boolean }
}

/** Whether some attempt may have arrived. */
export function mayHaveArrived(open: OpenOutcome | undefined): boolean {
  return open !== undefined && open.provenAbsent !== true
}

/** "Not there" counts only this long after the attempt ended, because a request may still be on its way. */
export const ABSENT_COUNTS_AFTER_MS = 30_000
/** The delays before labelled resends, where the platform cannot be asked. */
export const RESEND_AFTER_MS = [5_000, 30_000, 120_000, 600_000] as const
/** This long after another call to the platform succeeded, later sends of the conversation go first. */
export const LATER_SENDS_WAIT_MS = 600_000
