// Retention: bodies older than configured, and files that no body names any more, are dropped, a page at a time; rows,
// counters and the ledger stay.
import type { Cancel, Clock, Logger, Store, Tunables } from '../contract/index.ts'
import { keepDoing } from '../core/keep-doing.ts'

const EVERY_MS = 10 * 60_000
const PAGE = 1_000
/** Parts of files, of a MiB each: deleting more of them at once would hold up commits. */
const FILE_PAGE = 16
/** An expired callback is answered 410 for so long; then it is as unknown as any other. */
const EXPIRED_TOKENS_STAY_MS = 24 * 3_600_000

export function keepPruning(deps: {
  readonly store: Pick<Store, 'pruneBodies' | 'pruneFiles' | 'pruneTokens'>
  readonly clock: Clock
  readonly log: Logger
  /** A retention of 0 keeps everything. Asked each time: a reload holds at once. */
  readonly tunables: () => Pick<Tunables, 'bodyRetentionMs' | 'queueExpiryMs'>
}): Cancel {
  const prune = async (stopped: () => boolean) => {
    while ((await deps.store.pruneTokens(EXPIRED_TOKENS_STAY_MS, PAGE)) === PAGE && !stopped());
    const { bodyRetentionMs, queueExpiryMs } = deps.tunables()
    if (bodyRetentionMs <= 0) return
    let total = 0
    for (;;) {
      const pruned = await deps.store.pruneBodies(bodyRetentionMs, PAGE)
      total += pruned
      if (pruned < PAGE || stopped()) break
    }
    if (total > 0) deps.log.info({ bodies: total }, 'old bodies were dropped')
    // A body is kept from when its turn was settled, and that may have waited so long: its files stay as long as it does.
    const filesMs = bodyRetentionMs + queueExpiryMs
    while ((await deps.store.pruneFiles(filesMs, FILE_PAGE)) === FILE_PAGE && !stopped());
  }
  return keepDoing(deps.clock, EVERY_MS, prune, (thrown) =>
    deps.log.warn({ error: String(thrown) }, 'old bodies could not be dropped'),
  )
}
