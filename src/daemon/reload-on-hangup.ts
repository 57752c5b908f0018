// SIGHUP reads the configuration again, and the service manager is told when that is done.
import type { Logger } from '../contract/index.ts'
import type { ConfigReload } from './config-reload.ts'
import type { SupervisorNotices } from './systemd-notify.ts'

interface HangupDeps extends ConfigReload {
  readonly service: Pick<SupervisorNotices, 'reloading'>
  readonly log: Logger
  tellReady(): Promise<void>
}

/** Until the returned function is called. */
export function reloadOnHangup(deps: HangupDeps): () => void {
  const onHangup = () => {
    deps.service
      .reloading()
      .then(() => deps.reload('SIGHUP'))
      .then(deps.settled)
      .catch((thrown) => deps.log.error({ error: String(thrown) }, 'could not be reloaded'))
      .finally(deps.tellReady)
  }
  process.on('SIGHUP', onHangup)
  return () => void process.off('SIGHUP', onHangup)
}
