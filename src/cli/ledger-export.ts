// The ledger as NDJSON or CSV when no daemon runs: read page by page, so that its size does not matter.
import type { LedgerEntry } from '../contract/index.ts'

export type ExportFormat = 'ndjson' | 'csv'

const COLUMNS = [
  'seq',
  'chain',
  'n',
  'at',
  'kind',
  'ref',
  'integration',
  'from',
  'to',
  'reason',
  'count',
  'digest',
  'detail',
  'mac',
] as const satisfies readonly (keyof LedgerEntry)[]

const PAGE = 1_000

/** Chunks of text, oldest entry first. */
export async function* createLedgerExport(
  read: (afterSeq: number, limit: number) => Promise<readonly LedgerEntry[]>,
  format: ExportFormat,
): AsyncIterable<string> {
  if (format === 'csv') yield `${COLUMNS.join(',')}\r\n`
  let afterSeq = 0
  while (true) {
    const entries = await read(afterSeq, PAGE)
    const last = entries.at(-1)
    if (last === undefined) return
    yield entries.map(format === 'csv' ? csvLine : jsonEntry).join('')
    if (entries.length < PAGE) return
    afterSeq = last.seq
  }
}

function jsonEntry(entry: LedgerEntry): string {
  return `${JSON.stringify(entry)}\n`
}

function csvLine(entry: LedgerEntry): string {
  return `${COLUMNS.map((column) => csvCell(String(entry[column]))).join(',')}\r\n`
}

// A cell that a spreadsheet would take for a formula gets a leading quote: names in the ledger come from strangers.
function csvCell(value: string): string {
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
