// A turn as a Chorus delivery: where, who and what, with a callback and a tool endpoint that are good for it alone.
import {
  asSwitchboardError,
  CALLBACK_KIND,
  type ConnectorDeps,
  type Delivery,
  parseAddress,
  SwitchboardError,
} from '../../contract/index.ts'
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
  const given = await handedOn(delivery, deps)
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
    mcp: given.length === 0 ? own : named([{ name: 'switchboard', ...own }, ...given]),
  }
}

/**
 * Tool servers that a Chorus service in front of us gave for this turn. They are read here, never shown to a model. Throws
 * what is tried again while they cannot be read: a service's tools are not left out because a node was slow.
 */
async function handedOn(delivery: Delivery, deps: ConnectorDeps): Promise<readonly ChorusMcpServer[]> {
  const { integration, turn, attempt } = delivery
  const reference = delivery.meta.mcp_servers_ref
  const prefix = `secret:given.${integration}.`
  // Meta is what a platform says. Only what its own integration was given may be named: no other secret, nobody else's.
  if (!reference?.startsWith(prefix)) return []
  try {
    const text = (await deps.credentials?.(integration).get(reference.slice(prefix.length))) ?? null
    if (text !== null) return mcpServers(JSON.parse(text) as ChorusDelivery['mcp'])
  } catch (thrown) {
    const error = asSwitchboardError(thrown)
    if (error.nature.retryable) throw error
  }
  // They are written beside the turn, and may be a moment behind it.
  if (attempt < 2) {
    throw new SwitchboardError('platform_unavailable', 'the tool servers of the service are not there yet')
  }
  // The service's turn is over there, and its credentials are forgotten.
  deps.log.warn({ turn }, 'the tool servers of the service are gone: the agent is asked without them')
  return []
}

/** Tools are told apart by the names of their servers. */
function named(servers: readonly ChorusMcpServer[]): readonly ChorusMcpServer[] {
  const taken = new Set<string>()
  return servers.map((server, index) => {
    const wanted = server.name || `service${index}`
    let name = wanted
    for (let n = 2; taken.has(name); n++) name = `${wanted}-${n}`
    taken.add(name)
    return { ...server, name }
  })
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
