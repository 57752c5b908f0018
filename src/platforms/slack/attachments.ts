// The attachments of a Slack message as references; nothing is fetched before the message passed the gate. Forwarded
// messages and texts of bots are read as text.
import { type Attachment, defined } from '../../contract/index.ts'
import { safeFileName, safeMime } from '../../kit/index.ts'
import { blockText } from './block-text.ts'

interface SlackFile {
  readonly id?: unknown
  readonly name?: unknown
  readonly title?: unknown
  readonly mimetype?: unknown
  readonly size?: unknown
  readonly url_private_download?: unknown
  readonly url_private?: unknown
  readonly mode?: unknown
}

interface SharedPart {
  readonly is_share?: unknown
  readonly is_msg_unfurl?: unknown
  readonly author_name?: unknown
  readonly text?: unknown
  readonly fallback?: unknown
  readonly title?: unknown
  readonly files?: unknown
  readonly blocks?: unknown
}

const MOST_FILES = 20
const MOST_SHARED = 10

export interface Carrying {
  readonly files?: unknown
  readonly attachments?: unknown
}

export function attachmentsOf(message: Carrying): readonly Attachment[] {
  const shared = listOf<SharedPart>(message.attachments).flatMap(({ files }) => listOf<SlackFile>(files))
  const files = [...listOf<SlackFile>(message.files), ...shared].slice(0, MOST_FILES)
  return files.flatMap((file) => attachment(file) ?? [])
}

function attachment(file: SlackFile): Attachment | null {
  // A tombstone: the file was deleted.
  if (typeof file.id !== 'string' || file.mode === 'tombstone') return null
  const name =
    typeof file.name === 'string' ? file.name : typeof file.title === 'string' ? file.title : undefined
  const mime = typeof file.mimetype === 'string' ? safeMime(file.mimetype) : undefined
  const url = file.url_private_download ?? file.url_private
  return {
    id: file.id,
    kind: kindOf(mime),
    ...(name === undefined ? {} : { name: safeFileName(name) }),
    ...defined({ mime }),
    ...(typeof file.size === 'number' ? { size: file.size } : {}),
    ref: `${file.id} ${typeof url === 'string' ? url : ''}`,
  }
}

/** Returns what a reference names. */
export function fileOf({ ref }: Pick<Attachment, 'ref'>): {
  readonly id: string
  readonly url: string | null
} {
  const [id = '', url = ''] = ref.split(' ')
  return { id, url: url === '' ? null : url }
}

/** Returns forwarded messages and bots' attached texts, one paragraph each, in Slack's notation. */
export function sharedTexts(message: Carrying, alsoOthers: boolean): readonly string[] {
  return listOf<SharedPart>(message.attachments)
    .slice(0, MOST_SHARED)
    .flatMap((part) => {
      const text = [part.text, part.fallback, part.title].find((one) => typeof one === 'string' && one !== '')
      if (typeof text !== 'string') {
        // A pasted table, or a bot's blocks.
        const inBlocks = blockText(part.blocks)
        return inBlocks === '' ? [] : [inBlocks]
      }
      if (part.is_share === true || part.is_msg_unfurl === true) {
        const who = typeof part.author_name === 'string' ? ` from ${part.author_name}` : ''
        return [`(forwarded${who}) ${text}`]
      }
      return alsoOthers ? [text] : []
    })
}

function kindOf(mime: string | undefined): Attachment['kind'] {
  const type = mime?.split('/')[0]
  return type === 'image' || type === 'audio' || type === 'video' ? type : 'file'
}

function listOf<T>(value: unknown): readonly T[] {
  return Array.isArray(value)
    ? (value as readonly T[]).filter((one) => typeof one === 'object' && one !== null)
    : []
}
