// Iterates over all rows, page by page, newest first, so that no limit cuts the result silently.
import { defined } from '../defined.ts'

const PAGE = 500

/** Rows added meanwhile are newer than the first page and are skipped. Changed rows keep their position. */
export async function* everyRow<Row extends { readonly seq: number }>(
  read: (page: { readonly limit: number; readonly beforeSeq?: number }) => Promise<readonly Row[]>,
  pageSize = PAGE,
): AsyncGenerator<Row, void, undefined> {
  let beforeSeq: number | undefined
  for (;;) {
    const rows = await read({ limit: pageSize, ...defined({ beforeSeq }) })
    yield* rows
    beforeSeq = rows.at(-1)?.seq
    if (beforeSeq === undefined || rows.length < pageSize) return
  }
}
