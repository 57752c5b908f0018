// Turns a post of WhatsApp into inbound events: entries, changes, messages and statuses in their order. What cannot be
// read is recorded, and the rest is received.
import { defined, type InboundEvent, type Quoted, withoutNulls } from '../../contract/index.ts'
import { valueOfChoice } from './choices.ts'
import { type Content, contentOf } from './content.ts'
import { type Fields, fieldsOf, listOf, textOf, timeOf } from './fields.ts'
import type { People, Person } from './people.ts'

export interface ParseContext {
  readonly phoneNumberId: string
  readonly people: People
  readonly now: number
}

/** One status of a message of ours, before its send is known. */
export interface Status {
  readonly wamid: string
  readonly status: 'sent' | 'delivered' | 'read' | 'failed'
  readonly at: number
  readonly recipient: string
  /** The key that we sent along, if it came back. */
  readonly key: string | null
  readonly detail: string
}

export type Parsed =
  | { readonly kind: 'event'; readonly event: InboundEvent }
  | { readonly kind: 'status'; readonly status: Status }
  /** For another number of the same app. */
  | { readonly kind: 'elsewhere'; readonly phoneNumberId: string }
  /** Not a message. It is counted and logged. */
  | { readonly kind: 'aside'; readonly event: InboundEvent; readonly about: string }

const MOST_ID = 500
const MOST_DETAIL = 500
const STATUSES: Readonly<Record<string, Status['status']>> = {
  sent: 'sent',
  delivered: 'delivered',
  read: 'read',
  // A voice message was played.
  played: 'read',
  failed: 'failed',
}

export function parsePost(body: unknown, context: ParseContext): readonly Parsed[] {
  const { object, entry } = fieldsOf(body)
  const changes = listOf(entry).flatMap((one) => listOf(fieldsOf(one).changes))
  if (object !== 'whatsapp_business_account' || !Array.isArray(entry) || changes.length === 0)
    return [unparsable('it is no post of a WhatsApp business account', context)]
  return changes.flatMap((change) => parseChange(fieldsOf(change), context))
}

function parseChange({ field, value: given }: Fields, context: ParseContext): readonly Parsed[] {
  const value = fieldsOf(given)
  const name = textOf(field) ?? ''
  // Echoes of the owner's phone, and news of templates and accounts, are no messages to us.
  if (name !== 'messages') return [aside(`the field ${name.slice(0, 100)}`, context)]
  const number = textOf(fieldsOf(value.metadata).phone_number_id)
  if (number === undefined) return [unparsable('a change names no phone number id', context)]
  if (number !== context.phoneNumberId) return [{ kind: 'elsewhere', phoneNumberId: number.slice(0, 64) }]
  const messages = listOf(value.messages).map((one) => parseMessage(fieldsOf(one), value, context))
  const statuses = listOf(value.statuses).map((one) => parseStatus(fieldsOf(one), context))
  const errors = listOf(value.errors).map((one) => aside(`an error: ${errorText(fieldsOf(one))}`, context))
  const all = [...messages, ...statuses, ...errors]
  return all.length === 0 ? [unparsable('a change has neither messages nor statuses', context)] : all
}

function parseMessage(message: Fields, value: Fields, context: ParseContext): Parsed {
  const id = textOf(message.id)
  const type = textOf(message.type) ?? ''
  if (id === undefined || id.length > MOST_ID) return unparsable('a message has no id', context)
  if (type === 'system')
    return aside(`a system message: ${textOf(fieldsOf(message.system).type) ?? ''}`, context, id)
  const person = context.people.of(message, value.contacts)
  if (person === null) return unparsable('a message has no sender', context, id)
  const base = baseOf(message, person, context)
  const inside = fieldsOf(message[type])
  if (type === 'reaction') return reaction(inside, id, base)
  if (type === 'revoke') {
    const gone = textOf(inside.original_message_id)
    if (gone === undefined) return unparsable('a deletion names no message', context, id)
    return { kind: 'event', event: { kind: 'delete', ...base, messageId: gone } }
  }
  if (type === 'edit') return edit(inside, id, { message, value, person, base, context })
  if (type === 'interactive') {
    const tap = tapOf(inside, message, id, base)
    if (tap !== null) return tap
  }
  const content = contentOf(message)
  if (content === null)
    return unparsable(`a message of type "${type.slice(0, 60)}" could not be read`, context, id)
  const event = messageEvent(content, { message, value, person, base })
  return { kind: 'event', event: { ...event, kind: 'message', messageId: id } }
}

type Base = ReturnType<typeof baseOf>

function baseOf(message: Fields, person: Person, { now }: ParseContext) {
  const group = textOf(message.group_id)
  return {
    conversation: (group ?? person.id).slice(0, MOST_ID),
    chat: group === undefined ? ('direct' as const) : ('group' as const),
    sender: { id: person.id, ...defined({ name: person.name }) },
    at: timeOf(message.timestamp, now),
  }
}

interface Frame {
  readonly message: Fields
  readonly value: Fields
  readonly person: Person
  readonly base: Base
}

function messageEvent(content: Content, { message, value, person, base }: Frame) {
  const context = fieldsOf(message.context)
  const replyTo = quotedOf(context)
  return {
    ...base,
    text: content.text,
    mentioned: base.chat === 'direct' || isMentioned(content.text, context, fieldsOf(value.metadata)),
    ...withoutNulls({ replyTo }),
    ...defined({ attachments: content.attachments }),
    meta: { ...metaOf(message, context, person), ...content.meta },
  }
}

/** A forward, or a question about a product, has a context without an id. */
function quotedOf({ id, from }: Fields): Quoted | null {
  const messageId = textOf(id)
  const sender = textOf(from)
  return messageId === undefined
    ? null
    : {
        messageId: messageId.slice(0, MOST_ID),
        ...(sender === undefined ? {} : { sender: sender.slice(0, 200) }),
      }
}

/** By a reply to our message, or by our number after an @. */
function isMentioned(text: string, context: Fields, metadata: Fields): boolean {
  const own = (textOf(metadata.display_phone_number) ?? '').replaceAll(/\D/g, '')
  return own !== '' && (textOf(context.from) === own || text.includes(`@${own}`) || text.includes(`@+${own}`))
}

function metaOf(message: Fields, context: Fields, { waId, userId }: Person): Record<string, string> {
  const referral = fieldsOf(message.referral)
  const product = fieldsOf(context.referred_product)
  const facts: Readonly<Record<string, unknown>> = {
    // The time of the message, in seconds. The window begins with it.
    timestamp: message.timestamp,
    wa_id: waId,
    wa_user_id: userId,
    forwarded:
      context.frequently_forwarded === true ? 'often' : context.forwarded === true ? 'true' : undefined,
    referral_url: referral.source_url,
    referral_headline: referral.headline,
    product_id: product.product_retailer_id,
    catalog_id: product.catalog_id,
  }
  const meta: Record<string, string> = {}
  for (const [key, value] of Object.entries(facts)) {
    const text = textOf(value)
    if (text !== undefined) meta[key] = text.slice(0, 256)
  }
  return meta
}

function reaction({ message_id, emoji }: Fields, id: string, base: Base): Parsed {
  const on = textOf(message_id) ?? ''
  // A removed reaction has no emoji. It is reported as an empty one.
  return {
    kind: 'event',
    event: { kind: 'reaction', ...base, messageId: id, on, emoji: textOf(emoji) ?? '' },
  }
}

/** An edit of a known message. Its time distinguishes it from the next. */
function edit(
  inside: Fields,
  id: string,
  { context, ...frame }: Frame & { readonly context: ParseContext },
): Parsed {
  const original = textOf(inside.original_message_id)
  const changed = fieldsOf(inside.message)
  const content = contentOf(changed)
  if (original === undefined || content === null) return unparsable('an edit could not be read', context, id)
  const event = messageEvent(content, {
    ...frame,
    message: { ...changed, timestamp: frame.message.timestamp },
  })
  return { kind: 'event', event: { ...event, kind: 'edit', messageId: original, editVersion: frame.base.at } }
}

/** Null: it is not one of our choices, so its text is a message. */
function tapOf(interactive: Fields, message: Fields, id: string, base: Base): Parsed | null {
  const type = textOf(interactive.type)
  if (type !== 'button_reply' && type !== 'list_reply') return null
  const value = valueOfChoice(textOf(fieldsOf(interactive[type]).id))
  const on = textOf(fieldsOf(message.context).id)
  if (value === null || on === undefined) return null
  return { kind: 'event', event: { kind: 'tap', ...base, messageId: `tap:${id}`, on, value } }
}

function parseStatus(given: Fields, context: ParseContext): Parsed {
  const wamid = textOf(given.id)
  const name = textOf(given.status) ?? ''
  const status = Object.hasOwn(STATUSES, name) ? STATUSES[name] : undefined
  if (wamid === undefined || wamid.length > MOST_ID) return unparsable('a status names no message', context)
  if (status === undefined) return aside(`the status ${name.slice(0, 60)}`, context)
  const [error] = listOf(given.errors).map(fieldsOf)
  const recipient = textOf(given.recipient_id) ?? textOf(given.recipient_user_id) ?? 'unreadable'
  return {
    kind: 'status',
    status: {
      wamid,
      status,
      at: timeOf(given.timestamp, context.now),
      recipient: recipient.slice(0, MOST_ID),
      key: textOf(given.biz_opaque_callback_data)?.slice(0, 512) ?? null,
      detail: error === undefined ? '' : errorText(error),
    },
  }
}

/** The code comes first, because people search for it. */
function errorText(error: Fields): string {
  const words =
    textOf(fieldsOf(error.error_data).details) ?? textOf(error.message) ?? textOf(error.title) ?? ''
  return `${textOf(error.code) ?? 'no code'}: ${words === '' ? 'no reason was given' : words}`.slice(
    0,
    MOST_DETAIL,
  )
}

function unparsable(problem: string, { now }: ParseContext, messageId?: string): Parsed {
  return {
    kind: 'event',
    event: {
      kind: 'unparsable',
      ...nobody(now),
      ...defined({ messageId }),
      problem: `a post of WhatsApp could not be read: ${problem}`,
    },
  }
}

function aside(about: string, { now }: ParseContext, messageId?: string): Parsed {
  const event = {
    kind: 'filtered',
    ...nobody(now),
    ...defined({ messageId }),
  } as const
  return { kind: 'aside', event, about }
}

function nobody(now: number) {
  return { conversation: 'unreadable', chat: 'direct' as const, sender: { id: 'unknown' }, at: now }
}
