// `switchboard turns export`: what the filters of the list let through, as NDJSON or CSV.
import { TURN_STATES } from '../../../contract/index.ts'
import type { Run } from '../../context.ts'
import { usage } from '../../failure.ts'
import { type FilterOptions, listQuery } from '../../list.ts'

export const exportTurns: Run<FilterOptions & { readonly format: string }> = async (
  context,
  _args,
  options,
) => {
  const { format } = options
  if (format !== 'ndjson' && format !== 'csv')
    throw usage(`--format: "${format}" is not a format`, 'write ndjson or csv')
  const { query } = listQuery(context, options, TURN_STATES)
  const { before: _before, ...filter } = query
  const daemon = await context.daemon()
  for await (const chunk of daemon.stream('GET /api/turns/export', { ...filter, format }))
    await context.terminal.out(chunk)
  return 0
}
