// Sending: one call of the Web API for each op, resolved when Slack confirmed. Every post carries the outbox id and part of
// its row as metadata, so that it can be found again when the answer was lost.
import { type OutboundOp, type Receipt, type SendRequest, SwitchboardError } from '../../contract/index.ts'
import type { FileShelf } from '../../kit/index.ts'
import type { SlackClient } from './client.ts'
import type { DirectChats } from './direct-chats.ts'
import { emojiName } from './emoji.ts'
import { isRefusal } from './refusals.ts'
import { actionsOf, type Block, cutToFit, type Part, textBlocks, urgencyOf, wholeOf } from './render.ts'
import { isStamp } from './stamps.ts'

/** Letters and underscores alone: with a dot Slack drops it without a word. */
export const METADATA_TYPE = 'switchboard_outbox'

export interface SendDeps {
  readonly client: SlackClient
  readonly chats: DirectChats
  readonly files: FileShelf
}

type Op<K extends OutboundOp['kind']> = Extract<OutboundOp, { kind: K }>

export interface Sending {
  send(request: SendRequest): Promise<Receipt>
  /** Changes a message that is still being written. */
  revise(request: SendRequest & { readonly shown: readonly string[] }): Promise<void>
}

export function createSend({ client, chats, files }: SendDeps): Sending {
  /** The outlet cut it to fit. Words of our own that did not come that way are cut here; an agent's are whole or not sent. */
  const partOf = ({ cause }: SendRequest, op: Op<'text'> | Op<'prompt'> | Op<'edit'>): Part =>
    cause === 'notice' || cause === 'prompt' ? cutToFit(op) : wholeOf(op)

  const post = async (request: SendRequest, op: Op<'text'> | Op<'prompt'>): Promise<Receipt> => {
    const part = partOf(request, op)
    const channel = await chats.channelOf(request.to.conversation)
    const actions = actionsOf(op.choices, op.kind === 'prompt')
    const rich = actions.length > 0 ? [...textBlocks(part), ...actions] : part.blocks
    const message = {
      channel,
      ...threadOf(request),
      text: part.text,
      metadata: metadataOf(request),
      unfurl_links: false,
      unfurl_media: false,
      ...urgencyOf(op),
    }
    const { answer } = await withBlocks(rich, actions, (blocks) =>
      client.call('chat.postMessage', { ...message, ...(blocks === null ? {} : { blocks }) }),
    )
    return receiptOf(answer.ts, request, typeof answer.channel === 'string' ? answer.channel : channel)
  }

  /** With the blocks, then with simpler ones: they were refused for certain, so nothing is shown twice. */
  const withBlocks = async <T>(
    rich: readonly Block[] | null,
    actions: readonly Block[],
    call: (blocks: readonly Block[] | null) => Promise<T>,
  ): Promise<T> => {
    try {
      return await call(rich)
    } catch (thrown) {
      const refused = isRefusal(
        thrown,
        'invalid_blocks',
        'invalid_blocks_format',
        'msg_blocks_too_long',
        'block_mismatch',
      )
      if (!refused || rich === null) throw thrown
      return call(actions.length === 0 ? null : actions)
    }
  }

  const update = async (
    request: SendRequest,
    on: string,
    part: Part,
    more: Readonly<Record<string, unknown>> = {},
  ) => {
    const channel = await chats.channelOf(request.to.conversation)
    const message = { channel, ts: messageId(on), text: part.text, ...more }
    // Always both: with text alone the blocks that stood there would stay, and their buttons.
    await withBlocks(textBlocks(part), [], (blocks) =>
      client.call('chat.update', { ...message, blocks: blocks ?? [] }, { repeatable: true }),
    )
    return receiptOf(on, request, channel)
  }

  const finish = async (request: SendRequest, op: Op<'text'>, on: string): Promise<Receipt> => {
    const part = partOf(request, op)
    const actions = actionsOf(op.choices, false)
    try {
      const channel = await chats.channelOf(request.to.conversation)
      const blocks = [...textBlocks(part), ...actions]
      const metadata = metadataOf(request)
      await withBlocks(blocks, actions, (shown) =>
        client.call(
          'chat.update',
          { channel, ts: messageId(on), text: part.text, blocks: shown ?? [], metadata },
          { repeatable: true },
        ),
      )
      return receiptOf(on, request, channel)
    } catch (thrown) {
      if (
        isRefusal(
          thrown,
          'message_not_found',
          'cant_update_message',
          'edit_window_closed',
          'channel_not_found',
        )
      )
        throw new SwitchboardError('not_found', `Slack: ${thrown.message}`)
      throw thrown
    }
  }

  const react = async (request: SendRequest, op: Op<'react'>): Promise<Receipt> => {
    const channel = await chats.channelOf(request.to.conversation)
    const name = emojiName(op.emoji)
    if (name === null)
      throw new SwitchboardError(
        'platform_rejected',
        `invalid_name: Slack has no name for "${op.emoji.slice(0, 20)}"`,
        {
          hint: 'give the name of the emoji, such as eyes or white_check_mark',
        },
      )
    await client
      .call('reactions.add', { channel, timestamp: messageId(op.on), name }, { repeatable: true })
      .catch((thrown: unknown) => {
        if (!isRefusal(thrown, 'already_reacted')) throw thrown
      })
    return receiptOf(op.on, request, channel)
  }

  /** Three steps, of which only the last shows anything to anybody. */
  const file = async (request: SendRequest, op: Op<'file'>): Promise<Receipt> => {
    const channel_id = await chats.channelOf(request.to.conversation)
    const bytes = await files.read(op.ref)
    if (bytes.length === 0) throw new SwitchboardError('platform_rejected', 'Slack takes no empty file')
    const place = { filename: op.name, length: bytes.length }
    const { answer } = await client.call('files.getUploadURLExternal', place, { repeatable: true })
    const { upload_url, file_id } = answer
    if (typeof upload_url !== 'string' || typeof file_id !== 'string')
      throw new SwitchboardError(
        'platform_unavailable',
        'Slack: files.getUploadURLExternal gave no place for the file',
      )
    await client.upload(upload_url, bytes)
    const comment = op.caption ? { initial_comment: cutToFit({ text: op.caption }).text } : {}
    const whole = { files: [{ id: file_id, title: op.name }], channel_id, ...threadOf(request), ...comment }
    await client.call('files.completeUploadExternal', whole)
    return { ...receiptOf(file_id, request, channel_id) }
  }

  return {
    async send(request) {
      const { op, shown } = request
      switch (op.kind) {
        case 'text':
          return shown?.[0] === undefined ? post(request, op) : finish(request, op, shown[0])
        case 'prompt':
          return post(request, op)
        case 'edit':
          return update(request, op.on, partOf(request, op))
        case 'react':
          return react(request, op)
        case 'file':
          return file(request, op)
        case 'call':
          throw new SwitchboardError('platform_rejected', 'Slack has no tools to call')
      }
    },
    async revise(request) {
      const { op, shown } = request
      if (op.kind === 'text' && shown[0] !== undefined) await update(request, shown[0], cutToFit(op))
    },
  }
}

/** What a post is known by: the row that it was made from. One row is one message. */
function metadataOf({ key }: SendRequest): object {
  return { event_type: METADATA_TYPE, event_payload: { id: key, part: 0 } }
}

/** "ok" without a message is no confirmation of one. Where it landed is told, when the target was a person. */
function receiptOf(ts: unknown, { to }: SendRequest, channel: string): Receipt {
  if (typeof ts !== 'string' || ts === '')
    throw new SwitchboardError('outcome_unknown', 'Slack’s answer names no message')
  return { platformIds: [ts], ...(channel === to.conversation ? {} : { conversation: channel }) }
}

function threadOf({ to }: SendRequest): { readonly thread_ts?: string } {
  if (to.thread === undefined) return {}
  if (isStamp(to.thread)) return { thread_ts: to.thread }
  throw new SwitchboardError('platform_rejected', `"${to.thread.slice(0, 60)}" is not a thread of Slack`, {
    hint: 'a thread is the ts of its first message, such as 1712345678.123456',
  })
}

function messageId(id: string): string {
  if (isStamp(id)) return id
  throw new SwitchboardError(
    'platform_rejected',
    `message_not_found: "${id.slice(0, 60)}" is not the id of a Slack message`,
  )
}
