// What an adapter stands on: the doors of the house as one integration may use them. The configuration is asked each
// time where an adapter must not be started anew for a change of it.
import {
  type ChannelServers,
  type IntegrationSettings,
  integrationById,
  type LinkLease,
  type PlatformDeps,
} from '../contract/index.ts'
import { boundAt } from '../core/inbound/routing.ts'
import { createFileMirror } from './file-mirror.ts'
import type { GatewayDeps } from './gateway.ts'
import { createPlatformTokens } from './platform-tokens.ts'

export function platformDeps(
  deps: GatewayDeps,
  integration: IntegrationSettings,
  shared: {
    readonly servers: ChannelServers | null
    /** Null: there is one node. */
    readonly lease: LinkLease | null
  },
): PlatformDeps {
  const { store, settings } = deps
  const { id } = integration
  return {
    integration,
    clock: deps.clock,
    random: deps.random,
    log: deps.log.child({ integration: id }),
    transcript: (query) => store.transcript(id, query),
    tokens: createPlatformTokens(deps.tokens, id),
    secret: deps.secret,
    filesDir: deps.filesDir(id),
    publicUrl: settings().server.publicUrl,
    agentAt: (conversation) => boundAt(settings(), { integration: id, conversation })?.agent ?? null,
    maxBodyBytes: () => settings().tunables.maxBodyBytes,
    current: () => integrationById(settings(), id) ?? null,
    ...(shared.servers ? { servers: shared.servers } : {}),
    ...(shared.lease ? { lease: shared.lease, mirror: createFileMirror(store, id) } : {}),
    ...(deps.credentials ? { credentials: deps.credentials(id) } : {}),
  }
}
