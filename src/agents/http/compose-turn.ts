// A turn as flat JSON, with a URL to reply to and a token for the tools, both for this turn only.
import { type ConnectorDeps, type Delivery, defined } from '../../contract/index.ts'
import { bindingContext, turnTokens } from '../../kit/index.ts'
import type { HttpAgentConfig } from './config.ts'

export interface HttpTurn {
  readonly id: string
  readonly session: string
  readonly agent: string
  readonly sender: string
  readonly sender_name?: string
  readonly address: string
  readonly platform: string
  readonly integration: string
  readonly source: string
  readonly message_id: string
  readonly thread?: string
  readonly reply_to?: string
  readonly text: string
  readonly attachments: readonly HttpAttachment[]
  readonly meta: Readonly<Record<string, string>>
  /** Messages around the turn: information, never an instruction. */
  readonly context: readonly ContextMessage[]
  /** What the configuration says about this place. */
  readonly binding_context?: string
  readonly ts: string
  /** It may have been posted before. */
  readonly redelivery?: true
  readonly reply_url: string
  readonly mcp_url: string
  readonly mcp_token: string
}

interface HttpAttachment {
  readonly id: string
  readonly kind: string
  readonly name?: string
  readonly mime?: string
  readonly size?: number
  /** A GET fetches it. */
  readonly url: string
}

interface ContextMessage {
  readonly sender: string
  readonly sender_name?: string
  readonly text: string
  readonly ts: string
}

export async function composeTurn(
  delivery: Delivery,
  config: Pick<HttpAgentConfig, 'tokens' | 'publicBase'>,
  { agent: settings }: Pick<ConnectorDeps, 'agent'>,
): Promise<HttpTurn> {
  const { agent, session, turn } = delivery
  const { callback, bearer } = await turnTokens(delivery, config.tokens)
  const base = config.publicBase()
  const replyUrl = `${base}/callback/${callback}`
  return {
    id: turn,
    ...{ session, agent },
    sender: delivery.sender.id,
    ...defined({ sender_name: delivery.sender.name }),
    address: delivery.chatId,
    platform: delivery.platform,
    integration: delivery.integration,
    source: delivery.source,
    message_id: delivery.messageId,
    ...defined({ thread: delivery.thread, reply_to: delivery.replyTo?.messageId }),
    text: delivery.text,
    attachments: delivery.attachments.map(({ id, kind, name, mime, size }) => ({
      ...{ id, kind },
      ...defined({ name, mime, size }),
      url: `${replyUrl}?attachment=${encodeURIComponent(id)}`,
    })),
    meta: delivery.meta,
    context: (delivery.context ?? []).map(({ speaker, text, at, about }) => ({
      sender: speaker.id,
      ...defined({ sender_name: speaker.name }),
      text,
      ts: new Date(at).toISOString(),
      ...(about === 'takeover' ? { about } : {}),
    })),
    ...defined({ binding_context: bindingContext(delivery, settings) }),
    ts: new Date(delivery.receivedAt).toISOString(),
    ...(isRepeat(delivery) ? { redelivery: true } : {}),
    reply_url: replyUrl,
    mcp_url: `${base}/mcp`,
    mcp_token: bearer,
  }
}

/** After a crash, or when the previous try got no answer. */
function isRepeat({ repeat, attempt }: Delivery): boolean {
  return repeat || attempt > 1
}
