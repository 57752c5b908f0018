// Watches whether the database accepts writes. Senders get a 503 otherwise, and readiness, status and the log say the
// same. The file of an embedded database is watched too (watch-database-file.ts). After a refusal the watch tries a
// write each second, so that free space on the disk is noticed without a sender.
import {
  asSwitchboardError,
  type Cancel,
  type Clock,
  type Logger,
  type Store,
  type SwitchboardError,
} from '../../contract/index.ts'
import { watchDatabaseFile } from './watch-database-file.ts'

export interface StoreWatch {
  /** The store, wrapped so that failures of the intake are noticed. */
  readonly store: Store
  /** Why messages cannot be accepted now, or null. */
  problem(): string | null
  stop(): Promise<void>
}

const TRY_EVERY_MS = 1_000
/** A lease is the smallest write: one row and no ledger entry. */
const PROBE = 'store-watch'

export function watchStore(
  store: Store,
  deps: { readonly clock: Clock; readonly log: Logger; readonly rescuePlaces?: readonly string[] },
): StoreWatch {
  const { clock, log } = deps
  const { file } = store
  const fileWatch = file
    ? watchDatabaseFile({ file, places: deps.rescuePlaces ?? [file.path], clock, log })
    : null
  let away: string | null = null
  let cancel: Cancel = () => undefined
  let stopped = false

  const lost = (error: SwitchboardError) => {
    const told = error.hint === undefined ? error.message : `${error.message} (${error.hint})`
    if (away === null) log.error({ problem: error.message, hint: error.hint }, 'messages cannot be stored')
    away = told
  }

  const back = () => {
    if (away === null) return
    away = null
    cancel()
    log.info({}, 'messages can be stored again')
  }

  const tryAgain = () => {
    cancel()
    if (stopped) return
    cancel = clock.after(TRY_EVERY_MS, () => {
      store.lease(PROBE, TRY_EVERY_MS).then(back, (thrown) => {
        noteFailure(thrown)
        tryAgain()
      })
    })
  }

  /** Returns whether the store caused the failure. */
  const noteFailure = (thrown: unknown): boolean => {
    const error = asSwitchboardError(thrown)
    if (!error.code.startsWith('store_')) return false
    lost(error)
    return true
  }

  return {
    store: {
      ...store,
      async receive(items, cursor, mark) {
        try {
          const received = await store.receive(items, cursor, mark)
          back()
          return received
        } catch (thrown) {
          if (noteFailure(thrown)) tryAgain()
          throw thrown
        }
      },
    },
    problem: () => fileWatch?.problem() ?? away,
    async stop() {
      stopped = true
      cancel()
      await fileWatch?.stop()
    },
  }
}
