// The text for a person who answers an approval too late, in every chat, at the API and on the command line.

export interface EndedApproval {
  readonly state: string
  readonly cause: string | null
  readonly decidedBy: string | null
}

/** Returns the text. A `pending` approval past its time counts as expired, even before that is recorded. */
export function lateText({ state, cause, decidedBy }: EndedApproval): string {
  if (cause === 'person') return `already answered by ${decidedBy ?? 'somebody'}`
  if (state === 'withdrawn') return 'no longer asked'
  return cause === 'unreachable' ? 'denied, nobody could be reached' : 'expired'
}
