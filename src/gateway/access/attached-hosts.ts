// Where shims attach to this daemon, and a daemon that ends when it is no longer needed.
import { type AttachServer, createAttachServer } from '../../attach/index.ts'
import type {
  Cancel,
  Clock,
  FramePipe,
  FrameReader,
  HostEndpoint,
  Logger,
  Settings,
  Store,
} from '../../contract/index.ts'
import { VERSION } from '../../runtime/version.ts'
import { hostAbilities } from './host-abilities.ts'

export interface Attachments {
  /** For connectors. */
  readonly door: HostEndpoint
  listen(path: string): Promise<void>
  /** Takes frames of a host that connected another way. */
  accept(pipe: FramePipe): FrameReader
  turnedAway: AttachServer['turnedAway']
  close(): Promise<void>
  /** Calls `exit` once no shim was attached and nothing happened for `idleMs`. The returned function stops that. */
  exitWhenIdle(idleMs: number, store: Pick<Store, 'onHint'>, exit: () => void): () => void
}

export function createAttachments(deps: {
  readonly clock: Clock
  readonly log: Logger
  readonly settings: () => Settings
  /** Whether a person watches the console or events. */
  readonly watched: () => boolean
}): Attachments {
  const { clock, log } = deps
  const server: AttachServer = createAttachServer({
    clock,
    log,
    version: VERSION,
    abilities: (agent) => hostAbilities(deps.settings(), agent),
  })
  return {
    door: server,
    listen: (path) => server.listen(path),
    accept: (pipe) => server.accept(pipe),
    turnedAway: () => server.turnedAway(),
    close: () => server.close(),
    exitWhenIdle(idleMs, store, exit) {
      let busyAt = clock.now()
      let stopped = false
      let cancel: Cancel = () => undefined
      store.onHint(() => {
        busyAt = clock.now()
      })
      const look = () => {
        cancel = clock.after(Math.max(50, Math.min(idleMs / 4, 15_000)), () => {
          if (stopped) return
          if (server.attached() > 0 || deps.watched()) busyAt = clock.now()
          if (clock.now() - busyAt < idleMs) return look()
          log.info({ idleMs }, 'no host is attached and nothing happened: ending')
          exit()
        })
      }
      look()
      return () => {
        stopped = true
        cancel()
      }
    },
  }
}
