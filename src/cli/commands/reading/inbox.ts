// `switchboard inbox`: the turns that are not settled yet, so that an operator sees what waits and for whom.
import { OPEN_TURN_STATES, TURN_STATES, type TurnState } from '../../../contract/index.ts'
import type { Run } from '../../context.ts'
import { type FilterOptions, listFilter, oneMore, printList } from '../../list.ts'
import { turnColumns } from './turns.ts'

export const inbox: Run<FilterOptions> = async (context, _args, options) => {
  const asked = listFilter<TurnState>(context, options, TURN_STATES)
  const filter = asked.states === undefined ? { ...asked, states: OPEN_TURN_STATES } : asked
  return context.reading(async (reader) => {
    await printList(context, reader.turns(oneMore(filter)), turnColumns(context), {
      limit: filter.limit,
      empty: 'Nothing waits.',
    })
    return 0
  })
}
