// Until when an integration is known to have missed nothing, as status, doctor, metrics and the console show it.
import { type Completeness, type HistoryLinkRow, withoutNulls } from '../../contract/index.ts'

const NOT_YET = 'not compared yet'
/** Three background walks should have ended by then. */
const STALE_MS = 1_800_000

/**
 * Returns the completeness of an integration. `row` is absent where the platform has no readable history, or before
 * the first comparison.
 */
export function completenessOf(
  row: HistoryLinkRow | undefined,
  keepsHistory: boolean,
  now: number,
): Completeness {
  if (!row)
    return keepsHistory
      ? { state: 'behind', until: null, detail: NOT_YET }
      : { state: 'unchecked', until: null }
  const { until } = row
  const detail = row.detail ?? (row.state === 'behind' ? NOT_YET : null)
  if (until !== null && until > now)
    return { state: 'behind', until: null, detail: 'not compared since the clock was set back' }
  if (row.state === 'complete' && until !== null && now - until > STALE_MS)
    return { state: 'behind', until, detail: 'not compared lately' }
  return { state: row.state, until, ...withoutNulls({ detail }) }
}
