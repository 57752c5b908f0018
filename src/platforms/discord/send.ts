// Sends one call for each op. It resolves when Discord confirmed. Every post carries a nonce from its outbox row, which
// suppresses a repeat for some minutes. After that the history is searched.
import { type OutboundOp, type Receipt, type SendRequest, SwitchboardError } from '../../contract/index.ts'
import type { FileStore } from '../../kit/index.ts'
import { type ChannelCache, type ChannelFacts, DEFAULT_BYTES, FORUMS, isThread } from './api/channel-cache.ts'
import type { DiscordAnswer, DiscordClient, Upload } from './api/client.ts'
import { explain } from './api/missing-rights.ts'
import {
  ADD_REACTIONS,
  ATTACH_FILES,
  type Permission,
  SEND_IN_THREADS,
  SEND_MESSAGES,
  VIEW_CHANNEL,
} from './api/permissions.ts'
import { isRefusal } from './api/refusals.ts'
import type { Self } from './api/self.ts'
import { isSnowflake } from './api/snowflakes.ts'
import { componentsOf, cutOf, fileMessage, NO_MENTIONS, nonceOf, urgencyOf, wholeOf } from './render.ts'
import type { Targets } from './targets.ts'
import type { Threads } from './threads.ts'

export interface SendDeps {
  readonly client: DiscordClient
  readonly targets: Targets
  readonly threads: Threads
  readonly cache: ChannelCache
  readonly self: () => Promise<Self>
  readonly files: Pick<FileStore, 'read'>
  readonly replyToMode: 'off' | 'first' | 'all'
}

type Op<K extends OutboundOp['kind']> = Extract<OutboundOp, { kind: K }>
type Fields = Readonly<Record<string, unknown>>

export interface Sending {
  send(request: SendRequest): Promise<Receipt>
  /** Changes a message that is still being written. */
  revise(request: SendRequest & { readonly shown: readonly string[] }): Promise<void>
}

export function createSend(deps: SendDeps): Sending {
  const { client, targets, threads, cache } = deps

  /**
   * The outlet cut it to fit. Our own texts that did not pass the outlet are cut here. An agent's are sent whole or not
   * at all.
   */
  const contentOf = ({ cause }: SendRequest, op: Op<'text'> | Op<'prompt'> | Op<'edit'>): string =>
    cause === 'notice' || cause === 'prompt' ? cutOf(op) : wholeOf(op)

  /** Returns the place: the thread, if there is one. */
  const placeOf = async (request: SendRequest): Promise<ChannelFacts> => {
    const channel = await targets.channelOf(request.to.conversation)
    return threads.placeOf(request, channel)
  }

  const needed = (channel: ChannelFacts, more: readonly Permission[] = []): readonly Permission[] => [
    VIEW_CHANNEL,
    isThread(channel) ? SEND_IN_THREADS : SEND_MESSAGES,
    ...more,
  ]

  const withReason = async <T>(
    channel: ChannelFacts,
    permissions: readonly Permission[],
    act: () => Promise<T>,
  ): Promise<T> => {
    try {
      return await act()
    } catch (thrown) {
      if (isRefusal(thrown, 10003)) cache.forget(channel.id)
      throw await explain(thrown, channel, permissions, deps)
    }
  }

  const quote = ({ part = 0 }: SendRequest, op: OutboundOp): Fields => {
    if (op.kind !== 'text' || !isSnowflake(op.replyTo) || deps.replyToMode === 'off') return {}
    if (deps.replyToMode === 'first' && part > 0) return {}
    // The answer is sent even if the quoted message is gone.
    return { message_reference: { message_id: op.replyTo, fail_if_not_exists: false } }
  }

  const post = async (
    request: SendRequest,
    message: Fields,
    {
      files = [],
      more = [],
    }: { readonly files?: readonly Upload[]; readonly more?: readonly Permission[] } = {},
  ): Promise<Receipt> => {
    const channel = await placeOf(request)
    const body = { allowed_mentions: NO_MENTIONS, ...message }
    const answer = await withReason(channel, needed(channel, more), () =>
      FORUMS.has(channel.type)
        ? threads.openPost(channel, body, files)
        : sendTo(channel, { ...body, nonce: nonceOf(request.key), enforce_nonce: true }, files),
    )
    const receipt = receiptOf(answer, request, channel)
    await threads.sent(request, channel, receipt.platformIds[0] ?? '')
    return receipt
  }

  const sendTo = async (
    channel: ChannelFacts,
    body: Fields,
    files: readonly Upload[],
  ): Promise<DiscordAnswer> => {
    const path = `/channels/${channel.id}/messages`
    try {
      return await client.call('POST', path, { body, files })
    } catch (thrown) {
      // Quoting may be refused where posting is allowed.
      if (body.message_reference === undefined || !isRefusal(thrown, 160002, 50035)) throw thrown
      const { message_reference: _, ...rest } = body
      return client.call('POST', path, { body: rest, files })
    }
  }

  const change = async (request: SendRequest, on: string, message: Fields): Promise<Receipt> => {
    const channel = await placeOf(request)
    if (!isSnowflake(on))
      throw new SwitchboardError(
        'platform_rejected',
        `10008: "${on.slice(0, 60)}" is not the id of a message`,
      )
    const body = { allowed_mentions: NO_MENTIONS, components: [], ...message }
    const path = `/channels/${channel.id}/messages/${on}`
    await withReason(channel, needed(channel), () => client.call('PATCH', path, { body, repeatable: true }))
    return receiptOf({ id: on }, request, channel)
  }

  const finish = async (request: SendRequest, op: Op<'text'>, on: string): Promise<Receipt> => {
    try {
      const components = componentsOf(op.choices, false)
      return await change(request, on, { content: contentOf(request, op), components })
    } catch (thrown) {
      if (isRefusal(thrown, 10003, 10008, 30046, 50005, 50083))
        throw new SwitchboardError('not_found', `Discord: ${thrown.message}`)
      throw thrown
    }
  }

  const react = async (request: SendRequest, op: Op<'react'>): Promise<Receipt> => {
    const channel = await placeOf(request)
    const put = (emoji: string) =>
      client.call(
        'PUT',
        `/channels/${channel.id}/messages/${op.on}/reactions/${encodeURIComponent(emoji)}/@me`,
        { repeatable: true },
      )
    if (!isSnowflake(op.on))
      throw new SwitchboardError(
        'platform_rejected',
        `10008: "${op.on.slice(0, 60)}" is not the id of a message`,
      )
    const emoji = emojiOf(op.emoji)
    await withReason(channel, [VIEW_CHANNEL, ADD_REACTIONS], () =>
      put(emoji).catch((thrown: unknown) => {
        // Some emoji need the variation selector, others refuse it.
        if (!isRefusal(thrown, 10014)) throw thrown
        return put(emoji.includes('\uFE0F') ? emoji.replaceAll('\uFE0F', '') : `${emoji}\uFE0F`)
      }),
    )
    return receiptOf({ id: op.on }, request, channel)
  }

  const upload = async (
    request: SendRequest,
    file: Upload,
    caption: string | undefined,
  ): Promise<Receipt> => {
    const channel = await placeOf(request)
    const { guild } = channel
    const most =
      guild === null
        ? DEFAULT_BYTES
        : await cache.guild(guild).then(
            ({ mostBytes }) => mostBytes,
            () => DEFAULT_BYTES,
          )
    if (file.bytes.length > most)
      throw new SwitchboardError(
        'platform_rejected',
        `40005: files of up to ${Math.floor(most / 1_048_576)} MB can be sent there, this one has ${file.bytes.length} bytes`,
      )
    return post(request, fileMessage(caption), { files: [file], more: [ATTACH_FILES] })
  }

  return {
    async send(request) {
      const { op, shown } = request
      switch (op.kind) {
        case 'text':
          if (op.asFile !== undefined) {
            const { name, caption } = op.asFile
            return upload(
              request,
              { name, mime: 'text/plain; charset=utf-8', bytes: Buffer.from(op.text) },
              caption,
            )
          }
          if (shown?.[0] !== undefined) return finish(request, op, shown[0])
          return post(request, {
            content: contentOf(request, op),
            components: componentsOf(op.choices, false),
            ...urgencyOf(op),
            ...quote(request, op),
          })
        case 'prompt':
          return post(request, {
            content: contentOf(request, op),
            components: componentsOf(op.choices, true),
          })
        case 'edit':
          return change(request, op.on, { content: contentOf(request, op) })
        case 'react':
          return react(request, op)
        case 'file': {
          const { name, mime, caption, ref } = op
          return upload(request, { name, mime, bytes: await deps.files.read(ref) }, caption)
        }
        case 'call':
          throw new SwitchboardError('platform_rejected', 'Discord has no tools to call')
      }
    },
    async revise(request) {
      const { op, shown } = request
      if (op.kind === 'text' && shown[0] !== undefined)
        await change(request, shown[0], { content: cutOf(op) })
    },
  }
}

/** A custom emoji is `name:id`; people copy it as `<:name:id>`. */
function emojiOf(given: string): string {
  const custom = /^<?a?:?(\w{2,32}):(\d{1,20})>?$/.exec(given.trim())
  return custom === null ? given.trim() : `${custom[1]}:${custom[2]}`
}

/** "ok" without a message does not confirm one. For a person as the target, the receipt names the channel. */
function receiptOf(answer: Fields, { to }: SendRequest, channel: ChannelFacts): Receipt {
  if (!isSnowflake(answer.id))
    throw new SwitchboardError('outcome_unknown', 'Discord’s answer names no message')
  const isElsewhere = channel.guild === null && channel.id !== to.conversation && to.thread === undefined
  return { platformIds: [answer.id], ...(isElsewhere ? { conversation: channel.id } : {}) }
}
