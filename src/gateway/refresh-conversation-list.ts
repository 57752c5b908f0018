// The list of conversations is told of new rows in the background, so that whoever looks finds little left to tell.
import type { Cancel, Clock, Logger, Store } from '../contract/index.ts'
import { keepDoing } from '../core/keep-doing.ts'

const EVERY_MS = 60_000

export function keepGathering(deps: {
  readonly store: Pick<Store, 'gatherConversations'>
  readonly clock: Clock
  readonly log: Logger
}): Cancel {
  return keepDoing(
    deps.clock,
    EVERY_MS,
    async (stopped) => {
      while (!stopped() && (await deps.store.gatherConversations()));
    },
    (thrown) => deps.log.warn({ error: String(thrown) }, 'conversations could not be listed'),
  )
}
