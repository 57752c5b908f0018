// Watches whether the database takes writes: what senders are told with a 503, readiness, status and the log tell too.
// The file under an embedded database is watched beside that (file-watch.ts). Once it refused a message it is tried every second, so that a disk that has room again is noticed without a sender.
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
  /** The store, with its intake watched. */
  readonly store: Store
  /** Why messages cannot be taken now; null when they can. */
  problem(): string | null
  stop(): Promise<void>
}

const TRY_EVERY_MS = 1_000
/** A lease is the smallest write there is: one row, no ledger entry. */
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

  /** True when the store is to blame. */
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
