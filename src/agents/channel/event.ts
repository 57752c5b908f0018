// Turns a delivery into the host's event: content and meta, all strings, with keys that every host accepts.
import { type Attachment, type Delivery, defined, type HostEvent } from '../../contract/index.ts'
import { contextBlock, EMPTY_MESSAGE, neutraliseChannelTags } from '../../kit/index.ts'
import type { FileMeta } from './first-file.ts'

// Claude Code silently drops other keys. One value that is not a string drops the whole message.
const SAFE_KEY = /^[A-Za-z_][A-Za-z0-9_]*$/

/** `file`: where the first file of the message lies, for a host that can read it from disk. */
export function eventOf(delivery: Delivery, file: FileMeta = {}): HostEvent {
  const meta: Record<string, string> = {}
  for (const [key, value] of Object.entries(delivery.meta)) if (SAFE_KEY.test(key)) meta[key] = String(value)
  // The host adds `source` itself. A second one would make it ambiguous.
  delete meta.source
  delete meta.image_path
  delete meta.file_path
  const quoted = delivery.replyTo?.text
  return {
    turn: delivery.turn,
    session: delivery.session,
    chatId: delivery.chatId,
    messageId: delivery.messageId,
    // The host puts the content into a <channel> element. Claude Code neutralises tags in it; other hosts do not.
    content: neutraliseChannelTags(
      contextBlock(delivery.context) + (delivery.text || inWords(delivery.attachments)),
    ),
    meta: {
      ...meta,
      // These keys are ours. They replace values of the platform.
      chat_id: delivery.chatId,
      message_id: delivery.messageId,
      ...defined({ reply_to_text: quoted }),
      ...file,
      ...(delivery.repeat ? { redelivery: 'true' } : {}),
    },
  }
}

/** Describes a message without text. File names go into meta only, because a sender could forge them in the text. */
function inWords(attachments: readonly Attachment[]): string {
  const [first, ...more] = attachments
  if (first === undefined) return EMPTY_MESSAGE
  const kind = { image: 'image', audio: 'audio', video: 'video', file: 'document' }[first.kind]
  return more.length === 0 ? `(${kind})` : `(${attachments.length} attachments)`
}
