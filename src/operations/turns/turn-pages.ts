// Turns in pages that read a bounded number of rows, and as a download made of such pages.
import type { HttpReply, StreamSink, TurnFilter, TurnView } from '../../contract/index.ts'
import type { OperationContext } from '../context.ts'
import { csvCell } from '../csv-cell.ts'
import { waitingTurnView } from './turn-view.ts'

type Reading = Pick<OperationContext, 'store' | 'live'>
type Format = 'ndjson' | 'csv'

const PAGE = 500
const SPAN = 50_000
const COLUMNS = [
  ...(['id', 'received_at', 'updated_at', 'state', 'reason', 'attempts', 'agent', 'source'] as const),
  ...(['integration', 'address', 'sender', 'sender_name', 'session', 'message_id', 'late', 'text'] as const),
] satisfies readonly (keyof TurnView)[]

/** Reads at most `span` turns. A short page may therefore have a next one. */
export async function boundedPage(
  { store, live }: Reading,
  filter: TurnFilter,
  span: number,
): Promise<{ readonly items: readonly TurnView[]; readonly next: number | null }> {
  const [[last], [first]] = await Promise.all([
    store.turns({ limit: 1 }),
    store.turns({ limit: 1, oldestFirst: true }),
  ])
  if (!last || !first) return { items: [], next: null }
  const top = Math.min(filter.beforeSeq ?? Number.MAX_SAFE_INTEGER, last.seq + 1)
  const floor = Math.max(first.seq, top - span)
  const rows = await store.turns({ ...filter, beforeSeq: top, afterSeq: floor - 1 })
  const full = rows.length >= filter.limit ? (rows.at(-1)?.seq ?? null) : null
  return {
    items: rows.map((row) => waitingTurnView(row, live)),
    next: full ?? (floor > first.seq ? floor : null),
  }
}

export function exportTurns(reading: Reading, filter: Omit<TurnFilter, 'limit'>, format: Format): HttpReply {
  const type = format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson; charset=utf-8'
  return {
    status: 200,
    headers: {
      'content-type': type,
      'content-disposition': `attachment; filename="switchboard-turns.${format}"`,
      'cache-control': 'no-store',
    },
    stream: (sink) => writeAll(reading, filter, format, sink),
  }
}

async function writeAll(
  reading: Reading,
  filter: Omit<TurnFilter, 'limit'>,
  format: Format,
  sink: StreamSink,
): Promise<void> {
  const line = format === 'csv' ? csvLine : (turn: TurnView) => `${JSON.stringify(turn)}\n`
  if (format === 'csv') sink.write(`${COLUMNS.join(',')}\r\n`)
  let before: number | null | undefined
  do {
    const place = before === undefined ? {} : { beforeSeq: before as number }
    const page = await boundedPage(reading, { ...filter, ...place, limit: PAGE }, SPAN)
    if (page.items.length > 0) sink.write(page.items.map(line).join(''))
    await sink.drained()
    before = page.next
  } while (before !== null && !sink.closed)
  sink.end()
}

function csvLine(turn: TurnView): string {
  return `${COLUMNS.map((column) => csvCell(String(turn[column] ?? ''))).join(',')}\r\n`
}
