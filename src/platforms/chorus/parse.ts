// Turns a Chorus delivery into events. A batch with one malformed delivery is refused as a whole.
import { createHash } from 'node:crypto'
import {
  type Attachment,
  type InboundEvent,
  type InboundMessage,
  MCP_SERVERS_REF,
} from '../../contract/index.ts'
import {
  type ChorusAttachment,
  type ChorusDelivery,
  EMPTY_MESSAGE,
  jsonValues,
  readDelivery,
  urlRefusal,
} from '../../kit/index.ts'

export type Parsed =
  | { readonly ok: true; readonly deliveries: readonly ChorusDelivery[] }
  | { readonly ok: false; readonly problem: string; readonly event: InboundEvent }

const MAX_BATCH = 100

/**
 * Never throws. An unreadable delivery becomes an event, so that it is recorded. A callback that would be refused is
 * rejected now, because the agent's answer could not be delivered.
 */
export function parseBody(body: Uint8Array, now: number, allowPrivate: boolean): Parsed {
  const values = jsonValues(body)
  if (values === null) return unreadable('the body is not JSON', now)
  if (values.length === 0) return unreadable('the batch is empty', now)
  if (values.length > MAX_BATCH) return unreadable(`a batch holds at most ${MAX_BATCH} deliveries`, now)
  const deliveries: ChorusDelivery[] = []
  for (const [index, value] of values.entries()) {
    const at = values.length === 1 ? '' : `[${index}].`
    const read = readDelivery(value, at)
    if (!read.ok) return unreadable(read.problems.join('; '), now, value)
    const refusal = urlRefusal({ url: read.delivery.callback, allowPrivate, allowHttp: false })
    if (refusal) return unreadable(`${at}callback: ${refusal.message}`, now, value)
    deliveries.push(read.delivery)
  }
  return { ok: true, deliveries }
}

/** Names sender and channel as far as they are readable. */
function unreadable(problem: string, now: number, value?: unknown): Parsed {
  const { channel, message } = (value ?? {}) as { channel?: { id?: unknown }; message?: { sender?: unknown } }
  const event: InboundEvent = {
    kind: 'unparsable',
    conversation: named(channel?.id) ?? 'unknown',
    chat: 'direct',
    sender: { id: named(message?.sender) ?? 'unknown' },
    at: now,
    problem,
  }
  return { ok: false, problem, event }
}

function named(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? clean(value).slice(0, 256) : null
}

/** `mcpReference`: the reference to the tool servers. The credentials themselves stay out of the turn. */
export function toEvent(delivery: ChorusDelivery, now: number, mcpReference: string | null): InboundMessage {
  const { channel, message } = delivery
  const attachments = (Array.isArray(message.attachments) ? message.attachments : []).flatMap(toAttachment)
  // An empty content is valid: what it is about may be in the service's tools.
  const bare = message.content.trim() === '' && attachments.length === 0
  return {
    kind: 'message',
    conversation: clean(channel.id),
    chat: 'direct',
    sender: { id: clean(message.sender), name: clean(message.sender) },
    at: now,
    messageId: clean(message.id),
    text: bare ? EMPTY_MESSAGE : clean(message.content),
    mentioned: true,
    ...(attachments.length === 0 ? {} : { attachments }),
    meta: {
      ...fact('channel_name', channel.name),
      ...fact('service', channel.service),
      ...fact('context', channel.context),
      ...(mcpReference === null ? {} : { [MCP_SERVERS_REF]: mcpReference }),
    },
  }
}

function fact(key: string, value: string | null | undefined): Record<string, string> {
  return typeof value === 'string' && value !== '' ? { [key]: clean(value) } : {}
}

function toAttachment(given: ChorusAttachment, index: number): Attachment[] {
  if (typeof given !== 'object' || given === null) return []
  const { id, name, mime, size } = given
  const [family = ''] = typeof mime === 'string' ? mime.split('/') : []
  const kind = family === 'image' || family === 'audio' || family === 'video' ? family : 'file'
  return [
    {
      id: typeof id === 'string' && id !== '' ? clean(id) : String(index),
      kind,
      ...(typeof name === 'string' ? { name: clean(name) } : {}),
      ...(typeof mime === 'string' ? { mime: clean(mime) } : {}),
      ...(typeof size === 'number' ? { size } : {}),
      // The URL may be a credential, so it is not stored. The file is fetched through the service's tools.
      ref: '',
    },
  ]
}

/** Removes U+0000 and unpaired surrogates, which not every store can hold. */
export function clean(text: string): string {
  return text.replaceAll('\0', '\uFFFD').replace(LONE_SURROGATE, '\uFFFD')
}

const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g

/** The name under which a delivery's credentials are stored. */
export function deliveryName(conversation: string, messageId: string): string {
  return createHash('sha256')
    .update(JSON.stringify([conversation, messageId]))
    .digest('hex')
    .slice(0, 40)
}
