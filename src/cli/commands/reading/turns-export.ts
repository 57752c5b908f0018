// `switchboard turns export`: what the filters of the list let through, as NDJSON or CSV.
import { TURN_STATES, type TurnState } from '../../../contract/index.ts'
import type { Run } from '../../context.ts'
import { usage } from '../../failure.ts'
import { type FilterOptions, listFilter } from '../../list.ts'

export const exportTurns: Run<FilterOptions & { readonly format: string }> = async (
  context,
  _args,
  options,
) => {
  const { format } = options
  if (format !== 'ndjson' && format !== 'csv')
    throw usage(`--format: "${format}" is not a format`, 'write ndjson or csv')
  const filter = listFilter<TurnState>(context, options, TURN_STATES)
  const daemon = await context.daemon()
  const time = (at: number | undefined) => (at === undefined ? undefined : new Date(at).toISOString())
  const chunks = await daemon.stream('/api/turns/export', {
    format,
    state: filter.states?.join(','),
    agent: filter.agent,
    integration: filter.integration,
    session: filter.session,
    source: filter.source,
    sender: filter.sender,
    since: time(filter.sinceMs),
    until: time(filter.untilMs),
  })
  for await (const chunk of chunks) await context.terminal.out(chunk)
  return 0
}
