// Revisits positions that a reader of a transcript passed before their rows were ready.
//
// Rows become ready in the order of their positions, also during the reads. So several pages are read backwards first,
// and rows that are not ready by then wait for the next time. Thus no row is visited before an earlier one.

export interface PassedPositions<Row> {
  /** Returns rows between the two positions, both excluded. */
  read(after: number, before: number): Promise<readonly Row[]>
  /** The row is undefined if it no longer exists. */
  isReady(row: Row | undefined): boolean
  /** Called in the order of positions. False ends the visit. */
  visit(position: number, row: Row | undefined): Promise<boolean>
}

/** `pageSize`: the most positions that one read covers. */
export async function visitPassed<Row extends { readonly seq: number }>(
  positions: Iterable<number>,
  pageSize: number,
  { read, isReady, visit }: PassedPositions<Row>,
): Promise<void> {
  const pages = pagesOf(positions, pageSize)
  const rowsOf = async (page: readonly number[]) => {
    const rows = await read((page[0] ?? 1) - 1, (page.at(-1) ?? 0) + 1)
    return new Map(rows.map((row) => [row.seq, row]))
  }
  const ready = new Set<number>()
  for (const page of pages.length > 1 ? pages.toReversed() : []) {
    const rows = await rowsOf(page)
    for (const position of page) if (isReady(rows.get(position))) ready.add(position)
  }
  for (const page of pages) {
    if (pages.length > 1 && !page.some((position) => ready.has(position))) continue
    const rows = await rowsOf(page)
    for (const position of page) {
      const row = rows.get(position)
      const wanted = pages.length === 1 ? isReady(row) : ready.has(position)
      if (wanted && !(await visit(position, row))) return
    }
  }
}

/** Returns the positions in order, in runs that fit one page. */
function pagesOf(positions: Iterable<number>, pageSize: number): readonly (readonly number[])[] {
  const pages: number[][] = []
  for (const position of [...positions].sort((a, b) => a - b)) {
    const page = pages.at(-1)
    if (page?.[0] !== undefined && position - page[0] < pageSize) page.push(position)
    else pages.push([position])
  }
  return pages
}
