// The dependencies of an adapter, restricted to one integration. Settings whose change must not restart an adapter are
// read each time.
import {
  type ChannelServers,
  type IntegrationSettings,
  integrationById,
  type LinkLease,
  type PlatformDeps,
} from '../contract/index.ts'
import type { Cluster } from '../core/cluster/cluster.ts'
import type { Links } from '../core/links.ts'
import { type GrantList, isOwnerOf } from '../core/people/approvers.ts'
import { closedGate } from '../core/people/gate.ts'
import { boundAt } from '../core/people/routing.ts'
import { OWN_DEPS } from '../modules/registry.ts'
import { reachableAddress } from '../runtime/reachable-address.ts'
import { createPlatformTokens } from './access/platform-tokens.ts'
import { completenessView } from './completeness-view.ts'
import { createFileMirror } from './files/file-mirror.ts'
import type { GatewayDeps } from './gateway.ts'
import { shownPlaces } from './shown-places.ts'

export function platformDeps(
  deps: GatewayDeps,
  integration: IntegrationSettings,
  shared: {
    readonly servers: ChannelServers | null
    /** Null: there is one node. */
    readonly lease: LinkLease | null
    readonly grants: GrantList
    readonly links: Pick<Links, 'get' | 'all'>
    readonly cluster: Pick<Cluster, 'reaches'>
  },
): PlatformDeps {
  const { store, settings } = deps
  const { id } = integration
  const own = Object.hasOwn(OWN_DEPS, integration.platform) ? OWN_DEPS[integration.platform] : undefined
  const agentAt = (conversation: string) =>
    boundAt(settings(), { integration: id, conversation })?.agent ?? null
  const current = () => integrationById(settings(), id) ?? null
  return {
    integration: withPresentPolicy(integration, current),
    clock: deps.clock,
    random: deps.random,
    log: deps.log.child({ integration: id }),
    transcript: (query) => store.transcript(id, query),
    onItsWay: () => store.onItsWay(id),
    tokens: createPlatformTokens(deps.tokens, id),
    secret: deps.secret,
    filesDir: deps.filesDir(id),
    publicUrl: settings().server.publicUrl,
    current,
    mayTalk: (sender) => {
      const now = integrationById(settings(), id)
      return (
        now !== undefined &&
        closedGate(now, shared.grants, { sender, conversation: sender, chat: 'direct' }) === null
      )
    },
    tries: {
      begin: (input) => store.beginTry(id, input),
      end: (input) => store.endTry(id, input),
    },
    ...(deps.signer ? { sign: deps.signer(id) } : {}),
    ...own?.({
      servers: shared.servers,
      shownPlaces: (server) => shownPlaces(server, { store, links: shared.links }),
      agentAt,
      agentHere: (conversation) => {
        const agent = agentAt(conversation)
        return agent !== null && shared.cluster.reaches(agent)
      },
      reachable: () => reachableAddress(deps.publicBase?.() ?? 'http://127.0.0.1'),
      maxBodyBytes: () => settings().tunables.maxBodyBytes,
      async connections(sender) {
        const now = integrationById(settings(), id)
        if (!now || !isOwnerOf(settings(), shared.grants, now, sender)) return null
        const [rows, restored] = await Promise.all([store.historyLinks(), store.restored()])
        const facts = { rows, restored, now: deps.clock.now() }
        return settings().integrations.map((one) => {
          const keepsHistory = shared.links.get(one.id)?.adapter.history !== undefined
          return {
            id: one.id,
            platform: one.platform,
            complete: completenessView(one.id, keepsHistory, facts),
          }
        })
      },
    }),
    ...(shared.lease ? { lease: shared.lease, mirror: createFileMirror(store, id) } : {}),
    ...(deps.credentials ? { credentials: deps.credentials(id) } : {}),
  }
}

/** A change of these restarts no adapter, so readers get the present values. */
function withPresentPolicy(
  made: IntegrationSettings,
  current: () => IntegrationSettings | null,
): IntegrationSettings {
  const now = () => current() ?? made
  return {
    ...made,
    get access() {
      return now().access
    },
    get scope() {
      return now().scope
    },
    get default() {
      return now().default
    },
  }
}
