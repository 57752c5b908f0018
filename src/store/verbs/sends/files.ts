// keepFile and pruneFiles: uploaded and sent files, for all nodes. A file is written in parts in one transaction, so it
// exists whole or not at all.
import type { KeptFile } from '../../../contract/index.ts'
import { rows, run, type Steps, text, whole } from '../../statement.ts'
import { oneByOne, recordFact, type VerbContext } from '../../verb-context.ts'
import type { OlderThan } from '../upkeep/upkeep.ts'

const PART_BYTES = 1_048_576

/** Not a verb of the group: a shared database writes it beside the commits. */
export function* keepFile({ integration, name, bytes }: KeptFile, now: number): Steps<void> {
  const parts = Math.max(1, Math.ceil(bytes.byteLength / PART_BYTES))
  for (let part = 0; part < parts; part++) {
    // Names are assigned once, so a repeated name is the same file.
    yield* run(
      `INSERT INTO files (integration, name, part, parts, bytes, at) VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (integration, name, part) DO NOTHING`,
      [integration, name, part, parts, bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES), now],
    )
  }
}

/** Deletes at most `limit` parts. A file may take two rounds, and is unreadable after the first. */
export const pruneFiles = oneByOne(function* (
  context: VerbContext,
  { olderThanMs, limit }: OlderThan,
): Steps<number> {
  const before = context.now - olderThanMs
  // Skips rows that another node is deleting.
  const old = yield* rows(
    'SELECT integration, name, part FROM files WHERE at < $1 ORDER BY at LIMIT $2 @skip',
    [before, limit],
  )
  for (const row of old) {
    yield* run('DELETE FROM files WHERE integration = $1 AND name = $2 AND part = $3', [
      text(row, 'integration'),
      text(row, 'name'),
      whole(row, 'part'),
    ])
  }
  if (old.length > 0)
    recordFact(
      context,
      { kind: 'audit', ref: 'files', to: 'pruned' },
      { parts: String(old.length), before: String(before) },
    )
  return old.length
})
