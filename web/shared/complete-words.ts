// How far a link is known to have missed nothing, in words.
import { oneLine } from './text.ts'

export interface Complete {
  readonly state: string
  readonly until: string | null
  readonly detail?: string
}

/** As `switchboard status` says it, by this browser's clock and customs. */
export function completeWords({ state, until, detail }: Complete): string {
  if (state === 'unchecked') return 'cannot be checked'
  const time = until === null ? null : new Date(until).toLocaleString()
  if (state === 'complete') return `complete until ${time ?? 'now'}`
  const since = time === null ? 'behind' : `behind since ${time}`
  return detail === undefined ? since : `${since}: ${oneLine(detail, 300)}`
}
