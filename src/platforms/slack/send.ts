// Sends one call of the Web API for each op. It resolves when Slack confirmed. Every post carries the outbox id and its
// part number as metadata, so that it can be found after a lost answer.
import {
  type OutboundOp,
  type Receipt,
  type SendRequest,
  SwitchboardError,
  withoutNulls,
} from '../../contract/index.ts'
import type { SlackClient } from './api/client.ts'
import type { DirectChats } from './api/direct-chats.ts'
import { isRefusal } from './api/refusals.ts'
import type { Uploads } from './api/uploads.ts'
import { emojiName } from './emoji.ts'
import { actionsOf, type Block, cutOf, type Part, textBlocks, urgencyOf, wholeOf } from './render.ts'
import { messageId, receiptOf, threadOf } from './send-place.ts'

/** Letters and underscores only. With a dot, Slack silently drops the metadata. */
export const METADATA_TYPE = 'switchboard_outbox'

export interface SendDeps {
  readonly client: SlackClient
  readonly chats: DirectChats
  readonly uploads: Uploads
}

type Op<K extends OutboundOp['kind']> = Extract<OutboundOp, { kind: K }>

export interface Sending {
  send(request: SendRequest): Promise<Receipt>
  /** Changes a message that is still being written. */
  revise(request: SendRequest & { readonly shown: readonly string[] }): Promise<void>
}

export function createSend({ client, chats, uploads }: SendDeps): Sending {
  /**
   * The outlet cut it to fit. Our own texts that did not pass the outlet are cut here. An agent's are sent whole or not
   * at all.
   */
  const partOf = ({ cause }: SendRequest, op: Op<'text'> | Op<'prompt'> | Op<'edit'>): Part =>
    cause === 'notice' || cause === 'prompt' ? cutOf(op) : wholeOf(op)

  const post = (request: SendRequest, op: Op<'text'> | Op<'prompt'>): Promise<Receipt> =>
    postPart(request, op, partOf(request, op))

  const postPart = async (
    request: SendRequest,
    op: Op<'text'> | Op<'prompt'>,
    part: Part,
  ): Promise<Receipt> => {
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
      client.call('chat.postMessage', { ...message, ...withoutNulls({ blocks }) }),
    )
    const landed = typeof answer.channel === 'string' ? answer.channel : channel
    chats.learn(request.to.conversation, landed)
    return receiptOf(answer.ts, request, landed)
  }

  /** Tries the blocks, then simpler ones. Each refusal was certain, so nothing shows twice. */
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
    // Always both: with text alone the old blocks would stay, and their buttons.
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

  /** Without the scope for files it sends the beginning, and says where the rest is. */
  const asFile = async (request: SendRequest, op: Op<'text'>, file: NonNullable<Op<'text'>['asFile']>) => {
    try {
      return await uploads.snippet(request, { ...op, asFile: file })
    } catch (thrown) {
      if (!isRefusal(thrown, 'missing_scope')) throw thrown
      return postPart(request, op, cutOf({ text: `${file.caption}\n\n${op.text}`, plain: true }))
    }
  }

  return {
    async send(request) {
      const { op, shown } = request
      switch (op.kind) {
        case 'text':
          if (op.asFile !== undefined) return asFile(request, op, op.asFile)
          return shown?.[0] === undefined ? post(request, op) : finish(request, op, shown[0])
        case 'prompt':
          return post(request, op)
        case 'edit':
          return update(request, op.on, partOf(request, op))
        case 'react':
          return react(request, op)
        case 'file':
          return uploads.file(request, op)
        case 'call':
          throw new SwitchboardError('platform_rejected', 'Slack has no tools to call')
      }
    },
    async revise(request) {
      const { op, shown } = request
      if (op.kind === 'text' && shown[0] !== undefined) await update(request, shown[0], cutOf(op))
    },
  }
}

/** Identifies a post: its row, and its part of a longer text. */
function metadataOf({ key, part = 0 }: SendRequest): object {
  return { event_type: METADATA_TYPE, event_payload: { id: key, part } }
}
