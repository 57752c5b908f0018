// Keeps a running daemon at what is configured: a changed file is applied, and so is what operators change at other nodes.

import type { Gateway } from '../gateway/gateway.ts'
import { type ConfigReload, createConfigReload } from './config-reload.ts'
import type { Instance } from './open-instance.ts'
import { followSharedChanges } from './shared-changes.ts'

/** From now on, until the instance's undo stack is unwound. */
export function followConfiguration(
  instance: Instance,
  gateway: Pick<Gateway, 'apply' | 'grants'>,
): ConfigReload {
  const { config, settings, store, clock, log, secrets, shelf, undo } = instance
  const reloading = createConfigReload({ config, settings, store, log, apply: gateway.apply })
  undo.push(
    followSharedChanges({
      store,
      clock,
      log,
      refreshAccess: gateway.grants.load,
      refreshConfig: async () => {
        await secrets.refresh()
        await shelf.refresh()
        await gateway.apply()
      },
    }),
  )
  return reloading
}
