// The words for how complete a link's messages are.
import { oneLine } from './text.ts'
import { words } from './words.ts'

export interface Complete {
  readonly state: string
  readonly until: string | null
  readonly detail?: string
}

/** The words of `switchboard status`, with this browser's clock and locale. */
export function completeWords({ state, until, detail }: Complete): string {
  const { complete } = words
  if (state === 'unchecked') return complete.unchecked
  const time = until === null ? null : new Date(until).toLocaleString()
  if (state === 'complete') return complete.until({ time })
  const since = complete.behind({ time })
  return detail === undefined ? since : `${since}: ${oneLine(detail, 300)}`
}
