// Applies what an operator changes at another node by command: secrets, integrations and grants. A hint reports a
// change at once. A slow poll finds the changes without a hint.
import { type Cancel, type Clock, createSerial, type Logger, type Store } from '../contract/index.ts'

const LOOK_EVERY_MS = 60_000

export function followSharedChanges(deps: {
  readonly store: Pick<Store, 'onHint' | 'shared'>
  readonly clock: Clock
  readonly log: Logger
  /** Reads secrets and added integrations again, and restarts what they change. */
  readonly refreshConfig: () => Promise<void>
  readonly refreshAccess: () => Promise<void>
}): Cancel {
  const { store, clock, log } = deps
  let stopped = false
  let cancel: Cancel = () => undefined
  const inOrder = createSerial()

  const soon = (work: () => Promise<void>) => {
    inOrder(() => (stopped ? undefined : work())).catch((thrown) =>
      log.warn({ error: String(thrown) }, 'what other nodes changed could not be read; trying again later'),
    )
  }
  const look = () => {
    soon(deps.refreshAccess)
    soon(deps.refreshConfig)
  }
  const keepLooking = () => {
    cancel = clock.after(LOOK_EVERY_MS, () => {
      look()
      keepLooking()
    })
  }

  if (store.shared) {
    store.onHint((hint, from) => {
      if (hint.kind === 'config' && from !== null) soon(deps.refreshConfig)
      if (hint.kind === 'missed') look()
    })
    keepLooking()
  }
  return () => {
    stopped = true
    cancel()
  }
}
