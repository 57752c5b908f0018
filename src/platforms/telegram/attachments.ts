// The attachments of a Telegram message as references. Nothing is fetched before the message passed the gate.
import type { Message } from 'grammy/types'
import type { Attachment } from '../../contract/index.ts'
import { safeFileName, safeMime } from '../../kit/index.ts'

interface FileFacts {
  readonly file_id: string
  readonly file_unique_id: string
  readonly file_size?: number
  readonly file_name?: string
  readonly mime_type?: string
}

export function attachmentsOf(message: Message): readonly Attachment[] {
  const photo = message.photo?.toSorted((a, b) => a.width * a.height - b.width * b.height).at(-1)
  if (photo) return [attachment('image', photo, 'image/jpeg')]
  // A GIF is an animation, and for old clients also a document.
  if (message.animation) return [attachment('video', message.animation, 'video/mp4')]
  if (message.document) return [attachment(kindOf(message.document.mime_type), message.document)]
  if (message.video) return [attachment('video', message.video, 'video/mp4')]
  if (message.video_note) return [attachment('video', message.video_note, 'video/mp4')]
  if (message.audio) return [attachment('audio', message.audio, 'audio/mpeg')]
  if (message.voice) return [attachment('audio', message.voice, 'audio/ogg')]
  if (message.sticker) return [attachment('image', message.sticker, stickerType(message.sticker))]
  return []
}

function attachment(kind: Attachment['kind'], file: FileFacts, mime?: string): Attachment {
  const type = file.mime_type ?? mime
  return {
    id: String(file.file_unique_id),
    kind,
    ...(file.file_name === undefined ? {} : { name: safeFileName(file.file_name) }),
    ...(type === undefined ? {} : { mime: safeMime(type) }),
    ...(file.file_size === undefined ? {} : { size: Number(file.file_size) }),
    ref: String(file.file_id),
  }
}

/** Returns the usual placeholder of Telegram agents for a message without text. */
export function placeholderOf(message: Message): string {
  if (message.photo) return '(photo)'
  if (message.animation) return '(animation)'
  if (message.document) return `(document: ${safeFileName(message.document.file_name ?? 'file')})`
  if (message.video) return '(video)'
  if (message.video_note) return '(video note)'
  if (message.audio)
    return `(audio: ${safeFileName(message.audio.title ?? message.audio.file_name ?? 'audio')})`
  if (message.voice) return '(voice message)'
  if (message.sticker) return `(sticker${message.sticker.emoji ? ` ${message.sticker.emoji}` : ''})`
  if (message.venue) return `(venue: ${oneLine(message.venue.title)}, ${oneLine(message.venue.address)})`
  if (message.location) return `(location: ${message.location.latitude}, ${message.location.longitude})`
  if (message.contact)
    return `(contact: ${oneLine(message.contact.first_name)} ${oneLine(message.contact.phone_number)})`
  if (message.poll) return `(poll: ${oneLine(message.poll.question)})`
  if (message.dice) return `(dice ${message.dice.emoji}: ${message.dice.value})`
  return ''
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').slice(0, 200)
}

function kindOf(mime: string | undefined): Attachment['kind'] {
  const type = mime?.split('/')[0]
  return type === 'image' || type === 'audio' || type === 'video' ? type : 'file'
}

function stickerType(sticker: { readonly is_animated: boolean; readonly is_video: boolean }): string {
  if (sticker.is_video) return 'video/webm'
  return sticker.is_animated ? 'application/x-tgsticker' : 'image/webp'
}
