// Channel servers for status and doctor: each connection once, however many agents use it.
import {
  type ChannelServers,
  isoOrNull,
  type ServerFacts,
  type ServerView,
  withoutNulls,
} from '../contract/index.ts'

/** Empty where none is hosted. */
export function serverViews(pool: ChannelServers | undefined): { readonly servers?: readonly ServerView[] } {
  const servers = pool?.all() ?? []
  return servers.length === 0 ? {} : { servers: servers.map((server) => viewOf(server.facts())) }
}

function viewOf(facts: ServerFacts): ServerView {
  return {
    name: facts.name,
    transport: facts.transport,
    state: facts.state,
    ...withoutNulls({ detail: facts.detail }),
    connected_at: isoOrNull(facts.connectedAt),
    restarts: facts.restarts,
    noise: facts.noise,
    program: facts.program === null ? null : `${facts.program.name} ${facts.program.version}`,
    prefix: facts.prefix,
    permission_relay: facts.permissionRelay,
    plugin_source: facts.stamp.source,
    verified: facts.stamp.verified,
  }
}
