// `channel_status` of the library: one row per server that the agent knows, registered or with the reason.
import { SwitchboardError, withoutNulls } from '../contract/index.ts'
import type { HostedAgent, Registrations } from './registrations.ts'
import type { ChannelHost, ServerStatus } from './types.ts'

export function statusOf(
  server: string | undefined,
  agent: HostedAgent,
  deps: { readonly registrations: Registrations; readonly dropped: (server: string) => number },
): ReturnType<ChannelHost['status']> {
  const binding = deps.registrations.bindingOf(agent)
  const row = (name: string): ServerStatus => {
    const now = deps.registrations.standing(name, agent)
    if (now.registration === null) {
      const { skip, detail } = now
      const dropped = deps.dropped(name)
      return {
        binding_id: binding,
        server_name: name,
        registered: false,
        ...withoutNulls({ skip, detail }),
        ...(dropped === 0 ? {} : { dropped }),
      }
    }
    const { stamp, outboundToolName, permissionRelay, registeredAt } = now.registration
    return {
      binding_id: now.registration.binding,
      server_name: name,
      registered: true,
      plugin_source: stamp.source,
      plugin_source_verified: stamp.verified,
      outbound_tool_name: outboundToolName,
      permission_relay: permissionRelay,
      registered_at_ms: registeredAt,
      dropped: deps.dropped(name),
    }
  }
  if (server === undefined) {
    const servers = deps.registrations.of(agent).map((one) => row(one.server))
    return { binding_id: binding, count: servers.length, servers }
  }
  if (server.trim() === '')
    throw new SwitchboardError('input_invalid', "channel_status: 'server' must be non-empty")
  return row(server.trim())
}
