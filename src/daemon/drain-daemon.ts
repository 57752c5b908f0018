// Ends a daemon. It refuses new messages and waits for answers in progress. Then it closes all connections and unwinds
// the steps of its start in reverse order.
import type { Logger } from '../contract/index.ts'
import type { UndoStack } from '../runtime/undo-stack.ts'
import type { Server } from '../server/create-server.ts'
import type { DaemonStatusFile } from './daemon-status-file.ts'
import type { Readiness } from './readiness.ts'
import type { SystemdNotify } from './systemd-notify.ts'

export interface Drain {
  /** Further calls wait for the same end. */
  stop(cause?: 'stopped' | 'idle'): Promise<void>
  /** Resolves with the exit code when the daemon has ended. */
  readonly done: Promise<number>
}

export function createDrain(deps: {
  readonly life: DaemonStatusFile
  readonly readiness: Readiness
  readonly server: Pick<Server, 'drain'>
  readonly service: Pick<SystemdNotify, 'stopping'>
  readonly undo: UndoStack
  /** Waits for answers in progress while the rest keeps running. */
  readonly finish: () => Promise<void>
  readonly log: Logger
}): Drain {
  const { life, readiness, server, service, undo, finish, log } = deps
  let stopping: Promise<void> | null = null
  let end: (code: number) => void = () => undefined
  const done = new Promise<number>((resolve) => {
    end = resolve
  })
  return {
    done,
    stop(cause = 'stopped') {
      // Recorded first and once: a shim must not revive a daemon that is being stopped, however the stop goes.
      if (!readiness.isDraining()) life.ended(cause)
      readiness.drain()
      server.drain('new')
      stopping ??= (async () => {
        log.info({}, 'draining')
        const heard = service.stopping()
        await finish()
        server.drain('all')
        await undo.unwind()
        await heard
        log.info({}, 'stopped')
        end(0)
      })()
      return stopping
    },
  }
}
