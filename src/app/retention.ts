// Retention: bodies older than configured are dropped, a page at a time; rows, counters and the ledger stay.
import type { Cancel, Clock, Logger, Store } from '../contract/index.ts'

const EVERY_MS = 10 * 60_000
const PAGE = 1_000
/** An expired callback is answered 410 for so long; then it is as unknown as any other. */
const EXPIRED_TOKENS_STAY_MS = 24 * 3_600_000

export function keepPruning(deps: {
  readonly store: Pick<Store, 'pruneBodies' | 'pruneTokens'>
  readonly clock: Clock
  readonly log: Logger
  /** 0 keeps everything. Asked each time: a reload holds at once. */
  readonly retentionMs: () => number
}): Cancel {
  let stopped = false
  let cancel: Cancel = () => undefined
  const prune = async () => {
    while ((await deps.store.pruneTokens(EXPIRED_TOKENS_STAY_MS, PAGE)) === PAGE && !stopped);
    const retentionMs = deps.retentionMs()
    if (retentionMs <= 0) return
    let total = 0
    for (;;) {
      const pruned = await deps.store.pruneBodies(retentionMs, PAGE)
      total += pruned
      if (pruned < PAGE || stopped) break
    }
    if (total > 0) deps.log.info({ bodies: total }, 'old bodies were dropped')
  }
  const again = () => {
    cancel = deps.clock.after(EVERY_MS, () => {
      prune()
        .catch((thrown) => deps.log.warn({ error: String(thrown) }, 'old bodies could not be dropped'))
        .finally(() => {
          if (!stopped) again()
        })
    })
  }
  again()
  return () => {
    stopped = true
    cancel()
  }
}
