// Completeness of each integration as status and doctor tell it: from the store's rows, so that every node says the same.
import {
  defined,
  type HistoryLinkRow,
  isoOrNull,
  type RestoredFrom,
  type StatusReport,
} from '../contract/index.ts'
import { completenessOf } from '../core/history/completeness-of.ts'

/** After that long nobody looks for what a restored database lacks. */
const BEHIND_FOR_MS = 30 * 24 * 3_600_000

export interface CompletenessFacts {
  readonly rows: readonly HistoryLinkRow[]
  readonly restored: RestoredFrom | null
  readonly now: number
}

/** `keepsHistory`: its adapter can read one; false where no adapter runs here. */
export function completenessView(
  integration: string,
  keepsHistory: boolean,
  { rows, restored, now }: CompletenessFacts,
): StatusReport['integrations'][number]['complete'] {
  const row = rows.find((one) => one.integration === integration)
  const { state, until, detail } = completenessOf(row, keepsHistory, now)
  // What no history can tell: the database was restored from a backup of then, and what came since is not in it.
  if (state === 'unchecked' && restored !== null && now - restored.at <= BEHIND_FOR_MS)
    return { state: 'behind', until: isoOrNull(restored.takenAt), detail: 'restored from a backup' }
  return { state, until: isoOrNull(until), ...defined({ detail }) }
}
