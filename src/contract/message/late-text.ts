// What somebody is told who answers an approval too late: in every chat, at the API and on the command line alike.

export interface EndedApproval {
  readonly state: string
  readonly cause: string | null
  readonly decidedBy: string | null
}

/** Also for one that is still `pending` and past its time: it counts as expired before anybody wrote that down. */
export function lateText({ state, cause, decidedBy }: EndedApproval): string {
  if (cause === 'person') return `already answered by ${decidedBy ?? 'somebody'}`
  if (state === 'withdrawn') return 'no longer asked'
  return cause === 'unreachable' ? 'denied, nobody could be reached' : 'expired'
}
