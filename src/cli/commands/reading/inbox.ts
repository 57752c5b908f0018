// `switchboard inbox`: the turns that are not settled yet, so that an operator sees what waits and for whom.
import { OPEN_TURN_STATES, TURN_STATES } from '../../../contract/index.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Run } from '../../context.ts'
import { type FilterOptions, listQuery, oneMore, printList } from '../../list.ts'
import { turnColumns } from './turns.ts'

export const inbox: Run<FilterOptions> = async (context, _args, options) => {
  const { query, limit } = listQuery(context, options, TURN_STATES)
  return context.reading(async (api) => {
    const open = { state: OPEN_TURN_STATES.join(','), ...query }
    await printList(context, api.list('GET /api/turns', open, oneMore(limit)), turnColumns(context), {
      limit,
      empty: wordsIn().commandLine.empty.inbox,
    })
    return 0
  })
}
