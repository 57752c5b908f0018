// A delivery as the host's pipe carries it: content and meta, all strings, with keys that every host takes.
import { type Attachment, type Delivery, defined, type HostEvent } from '../../contract/index.ts'
import { contextBlock, EMPTY_MESSAGE, neutraliseChannelTags } from '../../kit/index.ts'
import type { FileMeta } from './first-file.ts'

// Claude Code drops other keys without a word, and one value that is no string drops the whole message.
const SAFE_KEY = /^[A-Za-z_][A-Za-z0-9_]*$/

/** `file`: where the first file of the message lies, for a host that can read it there. */
export function eventOf(delivery: Delivery, file: FileMeta = {}): HostEvent {
  const meta: Record<string, string> = {}
  for (const [key, value] of Object.entries(delivery.meta)) if (SAFE_KEY.test(key)) meta[key] = String(value)
  // The host's own: twice in one element it would be anybody's guess which counts.
  delete meta.source
  delete meta.image_path
  delete meta.file_path
  const quoted = delivery.replyTo?.text
  return {
    turn: delivery.turn,
    session: delivery.session,
    chatId: delivery.chatId,
    messageId: delivery.messageId,
    // The host puts it into a <channel> element. Claude Code neutralises tags in it, others put it in as it is.
    content: neutraliseChannelTags(
      contextBlock(delivery.context) + (delivery.text || inWords(delivery.attachments)),
    ),
    meta: {
      ...meta,
      // Whatever a platform wrote there, these are ours.
      chat_id: delivery.chatId,
      message_id: delivery.messageId,
      ...defined({ reply_to_text: quoted }),
      ...file,
      ...(delivery.repeat ? { redelivery: 'true' } : {}),
    },
  }
}

/** A message without a text still says what it is. Names go into meta only: in the text anybody could forge them. */
function inWords(attachments: readonly Attachment[]): string {
  const [first, ...more] = attachments
  if (first === undefined) return EMPTY_MESSAGE
  const kind = { image: 'image', audio: 'audio', video: 'video', file: 'document' }[first.kind]
  return more.length === 0 ? `(${kind})` : `(${attachments.length} attachments)`
}
