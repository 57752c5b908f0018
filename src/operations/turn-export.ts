// Turns as a download, page by page.
import type { Desk, HttpReply, StreamSink, TurnFilter, TurnView } from '../contract/index.ts'
import { csvCell } from './csv-cell.ts'

const PAGE = 500
const SPAN = 50_000
const COLUMNS = [
  ...(['id', 'received_at', 'updated_at', 'state', 'reason', 'attempts', 'agent', 'source'] as const),
  ...(['integration', 'address', 'sender', 'sender_name', 'session', 'message_id', 'late', 'text'] as const),
] satisfies readonly (keyof TurnView)[]

export function exportTurns(
  desk: Desk,
  filter: Omit<TurnFilter, 'limit'>,
  format: 'ndjson' | 'csv',
): HttpReply {
  const type = format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson; charset=utf-8'
  return {
    status: 200,
    headers: {
      'content-type': type,
      'content-disposition': `attachment; filename="switchboard-turns.${format}"`,
      'cache-control': 'no-store',
    },
    stream: (sink) => writeAll(desk, filter, format, sink),
  }
}

async function writeAll(
  desk: Desk,
  filter: Omit<TurnFilter, 'limit'>,
  format: 'ndjson' | 'csv',
  sink: StreamSink,
): Promise<void> {
  const line = format === 'csv' ? csvLine : (turn: TurnView) => `${JSON.stringify(turn)}\n`
  if (format === 'csv') sink.write(`${COLUMNS.join(',')}\r\n`)
  let before: number | null | undefined
  do {
    const place = before === undefined ? {} : { beforeSeq: before as number }
    const page = await desk.turnPage({ ...filter, ...place, limit: PAGE }, SPAN)
    if (page.items.length > 0) sink.write(page.items.map(line).join(''))
    await sink.drained()
    before = page.next
  } while (before !== null && !sink.closed)
  sink.end()
}

function csvLine(turn: TurnView): string {
  return `${COLUMNS.map((column) => csvCell(String(turn[column] ?? ''))).join(',')}\r\n`
}
