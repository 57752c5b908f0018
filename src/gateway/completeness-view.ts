// Completeness of each integration for status and doctor. It comes from the store's rows, so every node shows the same.
import {
  defined,
  type HistoryLinkRow,
  isoOrNull,
  type RestoredFrom,
  type StatusReport,
} from '../contract/index.ts'
import { completenessOf } from '../core/history/completeness-of.ts'

/** After this time, a restored database no longer counts as behind. */
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
  // Without a history, messages since the restored backup cannot be checked.
  if (state === 'unchecked' && restored !== null && now - restored.at <= BEHIND_FOR_MS)
    return { state: 'behind', until: isoOrNull(restored.takenAt), detail: 'restored from a backup' }
  return { state, until: isoOrNull(until), ...defined({ detail }) }
}
