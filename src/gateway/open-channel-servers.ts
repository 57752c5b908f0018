// The daemon's pool of channel servers, loaded when the first one is configured. Several nodes agree by a lease which
// of them runs a server.
import type { ChannelServers, Clock, Logger, Random, Store } from '../contract/index.ts'
import { channelServers } from '../modules/registry.ts'
import { VERSION } from '../runtime/version.ts'
import { createLinkLease } from './link-lease.ts'

export interface OpenChannelServersDeps {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly store: Store
  readonly secret: (reference: string) => string
  readonly variables: Readonly<Record<string, string | undefined>>
}

export async function openChannelServers(deps: OpenChannelServersDeps): Promise<ChannelServers> {
  const { clock, random, log, store, secret, variables } = deps
  const [create, { childEnvironment }, { readInstalledPlugin }, { kind }] = await Promise.all([
    channelServers(),
    import('../config/instance/child-environment.ts'),
    import('../config/installed-plugin.ts'),
    store.durability(),
  ])
  return create({
    clock,
    random,
    log,
    secret,
    version: VERSION,
    environment: childEnvironment(variables),
    plugin: (plugin, server) => readInstalledPlugin(plugin, server, { variables }),
    ...(kind === 'postgres' ? { lease: (server: string) => createLinkLease(store, `server:${server}`) } : {}),
  })
}
