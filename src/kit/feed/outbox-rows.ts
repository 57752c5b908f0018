// Queries of outbox readers: the newest row, and the pending rows.
import type { TranscriptEntry, TranscriptQuery } from '../../contract/index.ts'

/** Reads outbox rows of one conversation, or of all. */
export type ReadOutbox = (
  range: Omit<TranscriptQuery, 'conversation' | 'direction'>,
) => Promise<readonly TranscriptEntry[]>

/** The position of the newest row. Rows that a commit holds back count too. */
export async function newestSeq(read: ReadOutbox): Promise<number> {
  // The query has an upper end. Without one, the newest rows are held back while an earlier commit is in progress.
  const [newest] = await read({ beforeSeq: Number.MAX_SAFE_INTEGER, limit: 1 })
  return newest?.seq ?? 0
}

/** Returns all pending rows up to a position, in order. Without a position: up to the end. */
export async function rowsOnTheirWay(
  read: ReadOutbox,
  pageSize: number,
  upTo?: number,
): Promise<readonly TranscriptEntry[]> {
  const end = upTo === undefined ? {} : { beforeSeq: upTo + 1 }
  const rows: TranscriptEntry[] = []
  for (let afterSeq = 0; ; ) {
    const page = await read({ onItsWay: true, ...end, afterSeq, limit: pageSize })
    rows.push(...page)
    if (page.length < pageSize) return rows
    afterSeq = page.at(-1)?.seq ?? afterSeq
    // An embedded database answers at once. Without a pause nothing else would run until the last page.
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
}
