// Which adapter answers behind /hooks/ID and /chat. For a configured integration that does not run yet (the daemon
// starts, or a secret is missing), the answer is to retry later, because senders treat 404 as final.
import { type Endpoint, integrationById, type Settings, SwitchboardError } from '../contract/index.ts'
import type { Gateway } from './gateway.ts'

export interface Endpoints {
  hook(integration: string): Endpoint | null
  chat(): Endpoint | null
}

const NOT_YET_MS = 1_000

export function createEndpoints(deps: {
  readonly gateway: () => Pick<Gateway, 'links'>
  readonly settings: () => Settings
}): Endpoints {
  return {
    hook(id) {
      const link = deps.gateway().links.get(id)
      if (link) return link.adapter.endpoint?.at === 'inbox' ? null : (link.adapter.endpoint ?? null)
      const configured = integrationById(deps.settings(), id)
      return configured?.enabled ? NOT_YET : null
    },
    chat() {
      const link = deps
        .gateway()
        .links.all()
        .find((one) => one.platform === 'web')
      if (link) return link.adapter.endpoint ?? null
      const awaited = deps.settings().integrations.some((one) => one.enabled && one.platform === 'web')
      return awaited ? NOT_YET : null
    },
  }
}

const notYet = (): never => {
  throw new SwitchboardError('draining', 'the integration behind this is not running yet; try again later', {
    retryAfterMs: NOT_YET_MS,
  })
}
const NOT_YET: Endpoint = { headDecides: () => true, verify: notYet, handle: async () => notYet() }
