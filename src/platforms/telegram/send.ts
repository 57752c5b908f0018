// Sends one outbound op as one message: as HTML first, and as plain text if Telegram refuses the markup. `sent` means
// that Telegram confirmed it.
import { InputFile } from 'grammy'
import { type OutboundOp, type Receipt, type SendRequest, SwitchboardError } from '../../contract/index.ts'
import { isRefusal } from '../../kit/index.ts'
import { MovedChatError, type TelegramClient } from './client.ts'
import type { FileStore } from './files.ts'
import {
  captionOf,
  cutOf,
  isPhoto,
  keyboardOf,
  loudness,
  marked,
  messageNumber,
  type Part,
  type Place,
  placeOf,
  wholeOf,
} from './render.ts'

export interface SendDeps {
  readonly client: TelegramClient
  readonly files: FileStore
}

export type Send = (request: SendRequest) => Promise<Receipt>

type Op<K extends OutboundOp['kind']> = Extract<OutboundOp, { kind: K }>

export function createSend({ client, files }: SendDeps): Send {
  const text = async (request: SendRequest, op: Op<'text'> | Op<'prompt'>): Promise<Receipt> => {
    const part = marked(shown(request, op), op)
    const place = placeOf(request.to)
    const reply = op.kind === 'text' && op.replyTo !== undefined ? messageNumber(op.replyTo) : null
    const options = {
      ...loudness(op),
      ...(reply === null
        ? {}
        : { reply_parameters: { message_id: reply, allow_sending_without_reply: true } }),
      ...keyboardOf(op.choices),
      link_preview_options: { is_disabled: true },
    }
    const message = await readable(place, (at, markup) =>
      client.call('sendMessage', {
        ...at,
        ...options,
        ...(markup ? { text: part.html, parse_mode: 'HTML' as const } : { text: part.plain }),
      }),
    )
    return { platformIds: [String(idOf(message))] }
  }

  /**
   * The outlet cut it to fit. Our own texts that did not pass the outlet are cut here. An agent's are sent whole or not
   * at all.
   */
  const shown = ({ cause }: SendRequest, op: Op<'text'> | Op<'prompt'> | Op<'edit'>): Part =>
    cause === 'notice' || cause === 'prompt' ? cutOf(op) : wholeOf(op)

  const edit = async (request: SendRequest, op: Op<'edit'>): Promise<Receipt> => {
    // A decided prompt must lose its buttons, whatever its length.
    const part = shown(request, op)
    const { chat_id } = placeOf(request.to)
    const message_id = messageNumber(op.on)
    try {
      await readable({ chat_id }, (at, markup) =>
        client.call(
          'editMessageText',
          {
            ...at,
            message_id,
            link_preview_options: { is_disabled: true },
            ...(markup ? { text: part.html, parse_mode: 'HTML' as const } : { text: part.plain }),
          },
          { repeatable: true },
        ),
      )
    } catch (thrown) {
      if (!(thrown instanceof SwitchboardError && /message is not modified/i.test(thrown.message)))
        throw thrown
    }
    return { platformIds: [op.on] }
  }

  /** Changes the message that showed the beginning of an answer. */
  const made = (request: SendRequest, op: Op<'text'>, [on = '']: readonly string[]): Promise<Receipt> =>
    edit(request, { kind: 'edit', on, text: op.text, ...(op.plain ? { plain: true } : {}) })

  const react = async (request: SendRequest, op: Op<'react'>): Promise<Receipt> => {
    const { chat_id } = placeOf(request.to)
    try {
      await client.call(
        'setMessageReaction',
        {
          chat_id,
          message_id: messageNumber(op.on),
          reaction: op.emoji === '' ? [] : [{ type: 'emoji', emoji: op.emoji as never }],
        },
        { repeatable: true },
      )
    } catch (thrown) {
      if (
        thrown instanceof SwitchboardError &&
        /REACTION_INVALID|REACTION_NOT_ALLOWED/i.test(thrown.message)
      ) {
        throw new SwitchboardError(
          'platform_rejected',
          `Telegram does not take "${op.emoji}" as a reaction here`,
          {
            hint: 'Telegram has a fixed list: 👍 👎 ❤ 🔥 🎉 👀 🤔 ✍ 🙏 👌 and some more',
          },
        )
      }
      throw thrown
    }
    return { platformIds: [op.on] }
  }

  const file = async (request: SendRequest, op: Op<'file'>): Promise<Receipt> => {
    const place = placeOf(request.to)
    const known = files.platformFile(op.ref)
    const bytes = known === null ? await files.read(op.ref) : null
    const caption = op.caption ? captionOf(op.caption) : null
    const message = await readable<{ readonly message_id: number }>(place, (at, markup) => {
      const input = bytes === null ? (known ?? '') : new InputFile(bytes, op.name)
      const said =
        caption === null
          ? {}
          : markup
            ? { caption: caption.html, parse_mode: 'HTML' as const }
            : { caption: caption.plain }
      return isPhoto(op.mime, bytes?.length ?? 0)
        ? client.call('sendPhoto', { ...at, ...said, photo: input })
        : client.call('sendDocument', { ...at, ...said, document: input })
    })
    return { platformIds: [String(idOf(message))] }
  }

  /**
   * Tries with markup, then without, and with the group's new id if it moved. Each refusal was certain, so nothing
   * shows twice.
   */
  const readable = async <T>(place: Place, send: (at: Place, markup: boolean) => Promise<T>): Promise<T> => {
    const plainly = (at: Place) => (thrown: unknown) => {
      if (isRefusal(thrown, 'markup')) return send(at, false)
      throw thrown
    }
    try {
      return await send(place, true).catch(plainly(place))
    } catch (thrown) {
      if (!(thrown instanceof MovedChatError)) throw thrown
      const moved = { ...place, chat_id: thrown.to }
      return send(moved, true).catch(plainly(moved))
    }
  }

  return (request) => {
    const { op } = request
    switch (op.kind) {
      case 'text':
        return request.shown ? made(request, op, request.shown) : text(request, op)
      case 'prompt':
        return text(request, op)
      case 'edit':
        return edit(request, op)
      case 'react':
        return react(request, op)
      case 'file':
        return file(request, op)
      case 'call':
        throw new SwitchboardError('platform_rejected', 'Telegram has no tools to call')
    }
  }
}

/** "ok" without a message does not confirm one. */
function idOf(message: { readonly message_id: number } | undefined): number {
  if (typeof message?.message_id === 'number') return message.message_id
  throw new SwitchboardError('outcome_unknown', 'Telegram’s answer names no message')
}
