// A turn as a Chorus delivery, with a callback and a tool endpoint for this delivery only.
import { type ConnectorDeps, type ContextLine, type Delivery, defined } from '../../contract/index.ts'
import { bindingContext, type ChorusDelivery, turnTokens } from '../../kit/index.ts'
import type { ChorusAgentConfig } from './config.ts'

export async function composeDelivery(
  delivery: Delivery,
  config: ChorusAgentConfig,
  deps: ConnectorDeps,
): Promise<ChorusDelivery> {
  const { session, turn } = delivery
  const base = config.publicBase()
  const { callback, bearer } = await turnTokens(delivery, config.tokens)
  const own = { url: `${base}/mcp`, headers: { Authorization: `Bearer ${bearer}` } }
  const context = contextOf(delivery, deps)
  const name = delivery.meta.channel_name ?? delivery.meta.chat_title
  return {
    channel: {
      id: session,
      ...defined({ name }),
      service: inFront(delivery, 'service') ?? delivery.platform,
      ...defined({ context }),
    },
    message: {
      id: turn,
      sender: delivery.sender.name ?? delivery.sender.id,
      content: contentOf(delivery),
      ...(delivery.repeat ? { redelivery: true } : {}),
      ...(delivery.context === undefined ? {} : { context: delivery.context.map(shownLine) }),
      ...(delivery.attachments.length === 0 ? {} : { attachments: delivery.attachments.map(shownFile) }),
    },
    callback: `${base}/callback/${callback}`,
    // Always the seed's one object. Tools of a service in front are reached through the same endpoint.
    mcp: own,
  }
}

function contextOf(delivery: Delivery, deps: ConnectorDeps): string | undefined {
  const all = [bindingContext(delivery, deps.agent), inFront(delivery, 'context')].filter(
    (one) => one !== undefined,
  )
  return all.length === 0 ? undefined : all.join('\n')
}

/** Returns what a Chorus service in front of us said of its channel, so that it passes through the chain. */
function inFront({ platform, meta }: Delivery, fact: 'service' | 'context'): string | undefined {
  return platform === 'chorus' ? meta[fact] : undefined
}

/** The seed requires content. A message without text names its files. */
function contentOf({ text, attachments }: Delivery): string {
  if (text !== '' || attachments.length === 0) return text
  return attachments.map((file) => `(attachment: ${file.name ?? file.kind})`).join('\n')
}

/** Separate from the content, because it was not addressed to the agent. */
function shownLine({ speaker, text, at, about }: ContextLine) {
  const held = about === 'takeover' ? { about } : {}
  return { sender: speaker.name ?? speaker.id, content: text, ts: new Date(at).toISOString(), ...held }
}

function shownFile({ id, name, mime, size }: Delivery['attachments'][number]) {
  return {
    id,
    ...defined({ name, mime, size }),
  }
}
