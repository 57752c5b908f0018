// A turn as a Chorus delivery: where, who and what, with a callback and a tool endpoint that are good for it alone.
import { CALLBACK_KIND, type ConnectorDeps, type Delivery, parseAddress } from '../../contract/index.ts'
import { type ChorusDelivery, type ChorusMcpServer, mcpServers } from '../../kit/index.ts'
import type { ChorusAgentConfig } from './config.ts'

export const CALLBACK_LIFE_MS = 24 * 3_600_000

export async function composeDelivery(
  delivery: Delivery,
  config: ChorusAgentConfig,
  deps: ConnectorDeps,
): Promise<ChorusDelivery> {
  const { agent, session, turn } = delivery
  const base = config.publicBase()
  const [callback, bearer] = await Promise.all([
    config.tokens.mint({
      kind: CALLBACK_KIND,
      prefix: 'cb',
      scope: { agent, session, turn },
      ttlMs: CALLBACK_LIFE_MS,
    }),
    config.tokens.mint({ kind: 'agent', scope: { agent, session, turn }, ttlMs: CALLBACK_LIFE_MS }),
  ])
  const own = { url: `${base}/mcp`, headers: { Authorization: `Bearer ${bearer.token}` } }
  const given = handedOn(delivery, deps)
  const context = contextOf(delivery, deps)
  const name = delivery.meta.channel_name ?? delivery.meta.chat_title
  return {
    channel: {
      id: session,
      ...(name === undefined ? {} : { name }),
      service: delivery.platform,
      ...(context === undefined ? {} : { context }),
    },
    message: {
      id: turn,
      sender: delivery.sender.name ?? delivery.sender.id,
      content: contentOf(delivery),
      ...(delivery.attachments.length === 0 ? {} : { attachments: delivery.attachments.map(shownFile) }),
    },
    callback: `${base}/callback/${callback.token}`,
    // One server in the seed's shape; several need names.
    mcp: given.length === 0 ? own : [{ name: 'switchboard', ...own }, ...given],
  }
}

/** Tool servers that a Chorus service in front of us gave for this turn. They are read here, never shown to a model. */
function handedOn(delivery: Delivery, deps: ConnectorDeps): readonly ChorusMcpServer[] {
  const reference = delivery.meta.mcp_servers_ref
  // Meta is what a platform says. Only what its own integration was given may be named: no other secret, nobody else's.
  if (!reference?.startsWith(`secret:given.${delivery.integration}.`)) return []
  try {
    const servers = mcpServers(JSON.parse(deps.secret(reference)) as ChorusDelivery['mcp'])
    return servers.map((server, index) => ({ ...server, name: server.name ?? `service${index + 1}` }))
  } catch {
    return [] // The service's turn is over there, and its credentials are forgotten.
  }
}

function contextOf(delivery: Delivery, deps: ConnectorDeps): string | undefined {
  const { conversation, thread } = parseAddress(delivery.chatId)
  const places = [conversation, `${conversation}/${thread}`]
  const bindings = deps.agent.bindings.filter((binding) => binding.instance === delivery.integration)
  const named = bindings.find((binding) => binding.conversations?.some((one) => places.includes(one)))
  return (named ?? bindings.find((binding) => binding.conversations === undefined))?.context
}

/** The seed requires content; a file without words is named. */
function contentOf({ text, attachments }: Delivery): string {
  if (text !== '' || attachments.length === 0) return text
  return attachments.map((file) => `(attachment: ${file.name ?? file.kind})`).join('\n')
}

function shownFile({ id, name, mime, size }: Delivery['attachments'][number]) {
  return {
    id,
    ...(name === undefined ? {} : { name }),
    ...(mime === undefined ? {} : { mime }),
    ...(size === undefined ? {} : { size }),
  }
}
