// The ledger as a download, page by page, so that a million entries need no million in memory.
import type { HttpReply, LedgerEntry, Store, StreamSink } from '../contract/index.ts'
import { csvCell } from './csv-cell.ts'

const PAGE = 500
const COLUMNS = [
  ...(['seq', 'chain', 'n', 'at', 'kind', 'ref', 'integration'] as const),
  ...(['from', 'to', 'reason', 'count', 'digest', 'detail', 'mac'] as const),
] satisfies readonly (keyof LedgerEntry)[]

export function exportAudit(store: Pick<Store, 'ledger'>, format: 'ndjson' | 'csv'): HttpReply {
  const type = format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson; charset=utf-8'
  return {
    status: 200,
    headers: {
      'content-type': type,
      'content-disposition': `attachment; filename="switchboard-audit.${format}"`,
      'cache-control': 'no-store',
    },
    stream: (sink) => writeAll(store, format, sink),
  }
}

async function writeAll(
  store: Pick<Store, 'ledger'>,
  format: 'ndjson' | 'csv',
  sink: StreamSink,
): Promise<void> {
  const line = format === 'csv' ? csvLine : (entry: LedgerEntry) => `${JSON.stringify(entry)}\n`
  if (format === 'csv') sink.write(`${COLUMNS.join(',')}\r\n`)
  for (let after = 0; !sink.closed; ) {
    const entries = await store.ledger({ afterSeq: after, limit: PAGE })
    if (entries.length > 0) sink.write(entries.map(line).join(''))
    await sink.drained()
    if (entries.length < PAGE) break
    // A reader that keeps up is never waited for, and an embedded database answers at once: without a pause nothing else
    // would run until the last entry.
    await new Promise<void>((resolve) => setImmediate(resolve))
    after = entries.at(-1)?.seq ?? after
  }
  sink.end()
}

function csvLine(entry: LedgerEntry): string {
  return `${COLUMNS.map((column) => csvCell(String(entry[column]))).join(',')}\r\n`
}
