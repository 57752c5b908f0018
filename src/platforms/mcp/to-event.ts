// Turns a parsed push into an inbound event: place, sender, and the meta that the model sees beside our own.
import {
  defined,
  type InboundBarred,
  type InboundEvent,
  type InboundMessage,
  type IntegrationSettings,
  RELAY_PLACE,
  type ServerPush,
} from '../../contract/index.ts'
import { EMPTY_MESSAGE, truncate, versionOf } from '../../kit/index.ts'
import { type ChannelOptions, isNarrow } from './channel-options.ts'
import {
  type ChannelMessage,
  type ChannelSender,
  clean,
  parseMessage,
  parseVerdict,
  senderOf,
} from './parse.ts'
import { placeOf, WHOLE_SERVER } from './thread.ts'
import type { Barred } from './verify.ts'

// Our names in the meta. The server's values of these names are passed under another name. `user`, `user_id` and
// `message_id` are the sources of ours.
const OURS = ['chat_id', 'thread_id', 'ts', 'platform', 'integration', 'redelivery'] as const
const CARRIED: readonly string[] = ['user', 'user_id', 'message_id']
/** Ids are keys in the store, which limits them. */
const LONGEST_ID_BYTES = 600

export interface EventPlace {
  readonly integration: IntegrationSettings
  readonly options: ChannelOptions
  readonly now: number
}

export function toEvent(news: ServerPush, place: EventPlace): InboundEvent {
  const { server, channels } = place.options
  if (news.kind === 'verdict') {
    const parsed = parseVerdict(news)
    if (!parsed.ok) return unparsable(place, parsed.error.text)
    return { ...fromServer(place), kind: 'verdict', conversation: RELAY_PLACE, ...parsed.value }
  }
  const parsed = parseMessage(server, news)
  if (!parsed.ok) return unparsable(place, parsed.error.text)
  return message(parsed.value, place, channels?.maxContentChars ?? 0)
}

export function barredEvent(place: EventPlace, { reason, key }: Barred): InboundBarred {
  return { ...fromServer(place), kind: 'barred', reason, key }
}

function message({ content, meta, dropped }: ChannelMessage, place: EventPlace, cap: number): InboundEvent {
  const { integration, options, now } = place
  const { conversation, thread } = placeOf(meta)
  const { message_id: messageId = '' } = meta
  const sender = senderOf(options.server, meta)
  const ids = [conversation, thread ?? '', messageId, sender.stable ? sender.id : clean(sender.id)]
  // A cleaned id would be another id, and the answer would go to another chat.
  if (ids.some((id) => clean(id) !== id))
    return unparsable(place, 'an id in params.meta holds characters that no store can keep')
  if (ids.some((id) => Buffer.byteLength(id) > LONGEST_ID_BYTES))
    return unparsable(place, `an id in params.meta is longer than ${LONGEST_ID_BYTES} bytes`)
  if (!sender.stable && isNarrow(integration)) {
    // Only an id identifies a person. Anybody can use a name.
    return barredEvent(place, {
      reason: 'sender_not_allowed',
      key: `${integration.origin}.access.allow_from`,
    })
  }
  const named = sender.name === undefined ? {} : { name: clean(sender.name) }
  const event: InboundMessage = {
    kind: 'message',
    conversation,
    ...defined({ thread }),
    chat: 'direct',
    sender: { id: clean(idOf(sender)), ...named, ...(sender.stable ? {} : { isSource: true as const }) },
    at: now,
    // Servers may count ids per thread, or again after each start. So only the same text again is a repeat.
    ...(messageId === '' ? {} : { messageId, editVersion: versionOf(thread ?? '', content) }),
    // A message may have all its content in the meta.
    text: content.trim() === '' ? EMPTY_MESSAGE : clean(truncate(content, cap)),
    meta: visible(meta, dropped.length),
  }
  return event
}

/** An approver is known by an id, so a name must not look like one. */
function idOf({ id, stable, name }: ChannelSender): string {
  return stable || name === undefined ? id : `name:${id}`
}

function visible(meta: ChannelMessage['meta'], dropped: number): Readonly<Record<string, string>> {
  // Built from entries, because assigning `__proto__` would lose it.
  const shown = Object.fromEntries(
    Object.entries(meta)
      .filter(([key]) => !CARRIED.includes(key))
      .map(([key, value]) => [OURS.some((one) => one === key) ? `server_${key}` : key, clean(value)]),
  )
  return dropped === 0 ? shown : { ...shown, dropped_keys: String(dropped) }
}

function unparsable(place: EventPlace, problem: string): InboundEvent {
  return { ...fromServer(place), kind: 'unparsable', problem }
}

function fromServer({ options, now }: EventPlace) {
  return {
    conversation: WHOLE_SERVER,
    chat: 'direct' as const,
    sender: { id: options.server },
    at: now,
  }
}
