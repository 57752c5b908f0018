// The attachments of a Discord message as references; nothing is fetched before the message passed the gate. Embeds,
// forwards and polls are read as text.
import { type Attachment, defined } from '../../contract/index.ts'
import { safeFileName, safeMime } from '../../kit/index.ts'
import { isSnowflake } from './api/snowflakes.ts'

export interface Carrying {
  readonly attachments?: unknown
  readonly embeds?: unknown
  readonly sticker_items?: unknown
  readonly message_snapshots?: unknown
  readonly poll?: unknown
}

type Fields = Readonly<Record<string, unknown>>

const MOST_FILES = 20
const MOST_EMBEDS = 10
const MOST_FIELDS = 25
const STICKER_ENDINGS: Readonly<Record<number, string>> = { 1: 'png', 2: 'png', 4: 'gif' }

/** `place`: the channel and the message, for requesting a fresh address. */
export function attachmentsOf(message: Carrying, place: string): readonly Attachment[] {
  const forwarded = snapshotsOf(message).flatMap((one) => listOf(one.attachments))
  const files = [...listOf(message.attachments), ...forwarded].slice(0, MOST_FILES)
  const stickers = listOf(message.sticker_items).slice(0, 3)
  return [...files.flatMap((file) => fileAttachment(file, place)), ...stickers.flatMap(stickerAttachment)]
}

function fileAttachment(file: Fields, place: string): readonly Attachment[] {
  const { id, filename, content_type, size, url } = file
  if (!isSnowflake(id) || typeof url !== 'string' || url.includes(' ')) return []
  const mime = typeof content_type === 'string' ? safeMime(content_type) : undefined
  return [
    {
      id,
      kind: kindOf(mime),
      ...(typeof filename === 'string' ? { name: safeFileName(filename) } : {}),
      ...defined({ mime }),
      ...(typeof size === 'number' && Number.isFinite(size) ? { size } : {}),
      ref: `${place} ${id} ${url.slice(0, 4_000)}`,
    },
  ]
}

/** Stickers have no address in the message. An animated one in Lottie's format cannot be shown. */
function stickerAttachment({ id, name, format_type }: Fields): readonly Attachment[] {
  const ending = STICKER_ENDINGS[Number(format_type)]
  if (!isSnowflake(id) || ending === undefined) return []
  const named = safeFileName(`${typeof name === 'string' ? name : 'sticker'}.${ending}`)
  return [{ id, kind: 'image', name: named, mime: `image/${ending}`, ref: `sticker ${id} ${ending}` }]
}

export interface FileRef {
  readonly channel: string
  readonly message: string
  readonly file: string
  readonly url: string
}

/** Returns what a reference names; null: a sticker. */
export function fileRef({ ref }: Pick<Attachment, 'ref'>): FileRef | null {
  const [channel = '', message = '', file = '', url = ''] = ref.split(' ')
  return channel === 'sticker' ? null : { channel, message, file, url }
}

export function stickerFile({ ref }: Pick<Attachment, 'ref'>): string {
  const [, id = '', ending = ''] = ref.split(' ')
  return `${id}.${ending}`
}

/** Returns rich embeds, forwards, polls and the names of stickers, one paragraph each, in Discord's notation. */
export function besideText(message: Carrying): readonly string[] {
  const forwarded = snapshotsOf(message).map(({ content, ...more }) => {
    const said = [typeof content === 'string' ? content : '', ...embedTexts(more)]
    return `(forwarded) ${said.filter((part) => part !== '').join('\n')}`
  })
  const stickers = listOf(message.sticker_items)
    .slice(0, 3)
    .map(({ name }) => `(sticker: ${typeof name === 'string' ? name.slice(0, 100) : '?'})`)
  return [...embedTexts(message), ...forwarded, ...pollText(message.poll), ...stickers]
}

/** Link previews only repeat the linked page, so only rich embeds count. */
function embedTexts({ embeds }: Carrying): readonly string[] {
  return listOf(embeds)
    .filter(({ type }) => type === undefined || type === 'rich' || type === 'poll_result')
    .slice(0, MOST_EMBEDS)
    .map((embed) => {
      const fields = listOf(embed.fields)
        .slice(0, MOST_FIELDS)
        .map(({ name, value }) => `${words(name)}: ${words(value)}`)
      return [words(embed.title), words(embed.description), ...fields, words(embed.url)]
        .filter((part) => part !== '')
        .join('\n')
    })
    .filter((text) => text !== '')
}

function pollText(poll: unknown): readonly string[] {
  const { question, answers } = (poll ?? {}) as Fields
  const asked = words((question as Fields | undefined)?.text)
  if (asked === '') return []
  const choices = listOf(answers)
    .slice(0, 10)
    .map((one) => `- ${words((one.poll_media as Fields | undefined)?.text)}`)
  return [[`(poll) ${asked}`, ...choices].join('\n')]
}

function snapshotsOf({ message_snapshots }: Carrying): readonly Fields[] {
  return listOf(message_snapshots)
    .slice(0, 3)
    .flatMap(({ message }) => (typeof message === 'object' && message !== null ? [message as Fields] : []))
}

function words(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function kindOf(mime: string | undefined): Attachment['kind'] {
  const type = mime?.split('/')[0]
  return type === 'image' || type === 'audio' || type === 'video' ? type : 'file'
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value)
    ? (value as readonly Fields[]).filter((one) => typeof one === 'object' && one !== null)
    : []
}
