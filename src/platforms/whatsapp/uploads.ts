// Outgoing files. A file is uploaded first, which shows nothing, and then sent by its id as picture, sound, video or
// document, within WhatsApp's limits for each.
import { SwitchboardError } from '../../contract/index.ts'
import { multipartForm } from '../../kit/index.ts'
import type { WhatsAppClient } from './client.ts'
import type { WhatsAppConfig } from './config.ts'
import { type Fields, textOf } from './fields.ts'

const MB = 1_048_576
const CAPTION = 1_024

interface Kind {
  readonly type: 'image' | 'audio' | 'video' | 'document'
  readonly mimes: readonly string[] | null
  readonly most: number
}
const DOCUMENT: Kind = { type: 'document', mimes: null, most: 100 * MB }
const KINDS: readonly Kind[] = [
  { type: 'image', mimes: ['image/jpeg', 'image/png'], most: 5 * MB },
  { type: 'video', mimes: ['video/mp4', 'video/3gpp'], most: 16 * MB },
  {
    type: 'audio',
    mimes: ['audio/aac', 'audio/amr', 'audio/mpeg', 'audio/mp4', 'audio/ogg'],
    most: 16 * MB,
  },
]

export interface OutgoingFile {
  readonly name: string
  readonly mime: string
  readonly bytes: Uint8Array
  readonly caption?: string | undefined
}

/** Returns the part of a message that shows the uploaded file. Throws `platform_rejected` naming the limit. */
export async function uploaded(
  client: WhatsAppClient,
  config: Pick<WhatsAppConfig, 'phoneNumberId'>,
  { name, mime, bytes, caption }: OutgoingFile,
): Promise<Fields> {
  const kind = kindOf(mime, bytes.length, caption)
  if (bytes.length === 0) throw new SwitchboardError('platform_rejected', 'WhatsApp takes no empty file')
  if (bytes.length > kind.most)
    throw new SwitchboardError('platform_rejected', `WhatsApp takes files of at most ${kind.most / MB} MB`)
  const form = multipartForm([
    { name: 'messaging_product', value: 'whatsapp' },
    { name: 'type', value: mime },
    { name: 'file', value: bytes, filename: name, type: mime },
  ])
  const answer = await client.call(`${config.phoneNumberId}/media`, { form, repeatable: true })
  const id = textOf(answer.id)
  if (id === undefined) throw new SwitchboardError('platform_unavailable', 'WhatsApp gave no id for the file')
  const words =
    caption === undefined || caption === '' || kind.type === 'audio' ? {} : { caption: cut(caption) }
  const named = kind.type === 'document' ? { filename: name } : {}
  return { type: kind.type, [kind.type]: { id, ...words, ...named } }
}

/** A file that is too large for its kind becomes a document. A sound cannot carry text. */
function kindOf(mime: string, size: number, caption: string | undefined): Kind {
  const kind = KINDS.find(({ mimes }) => mimes?.includes(mime.toLowerCase().split(';')[0]?.trim() ?? ''))
  if (kind === undefined || size > kind.most) return DOCUMENT
  return kind.type === 'audio' && caption !== undefined && caption !== '' ? DOCUMENT : kind
}

function cut(text: string): string {
  if (text.length <= CAPTION) return text
  const code = text.charCodeAt(CAPTION - 2)
  return `${text.slice(0, code >= 0xd800 && code <= 0xdbff ? CAPTION - 2 : CAPTION - 1)}…`
}
