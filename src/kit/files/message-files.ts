// The files of a message for a model: pictures and PDFs are sent if it accepts them, short texts are inlined, the rest
// is named.
import type { Attachment, ConnectorDeps, Delivery } from '../../contract/index.ts'

const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']
const MOST_FILES = 8
const TEXT_CHARS = 32_768

/** The files that a model accepts. */
export interface TakenFiles {
  readonly images: boolean
  readonly pdf: boolean
}

export interface CarriedFile {
  readonly mime: string
  readonly name: string
  readonly base64: string
}

interface MessageFiles {
  readonly files: readonly CarriedFile[]
  /** The words for the message itself. */
  readonly words: readonly string[]
}

export async function filesOf(
  { attachments, agent, session, turn }: Delivery,
  takes: TakenFiles,
  deps: Pick<ConnectorDeps, 'tools' | 'log'>,
): Promise<MessageFiles> {
  const files: CarriedFile[] = []
  const words: string[] = []
  for (const [at, file] of attachments.entries()) {
    const wanted = at < MOST_FILES && isTaken(file, takes)
    if (!wanted || !deps.tools) {
      words.push(named(file))
      continue
    }
    const caller = { agent, session, turn, user: null, idempotencyKey: null }
    const outcome = await deps.tools().downloadAttachment(caller, { fileId: file.id })
    const carried = outcome.isError ? undefined : outcome.files?.[0]
    if (!carried) {
      deps.log.warn({ turn, problem: outcome.text }, 'a file does not go to the model')
      words.push(named(file))
    } else if (isText(carried.mime)) words.push(written(file, new TextDecoder().decode(carried.bytes)))
    else {
      files.push({
        mime: carried.mime,
        name: carried.name,
        base64: Buffer.from(carried.bytes).toString('base64'),
      })
      words.push(`(attachment: ${nameOf(file)})`)
    }
  }
  return { files, words }
}

function isTaken({ mime = '' }: Attachment, { images, pdf }: TakenFiles): boolean {
  return isText(mime) || (images && IMAGES.includes(mime)) || (pdf && mime === 'application/pdf')
}

function isText(mime: string): boolean {
  return mime.startsWith('text/') || mime === 'application/json'
}

function nameOf({ name, kind }: Attachment): string {
  return (name ?? kind).replace(/[\s\p{Cc}()]+/gu, ' ').slice(0, 200)
}

function named(file: Attachment): string {
  return `(attachment: ${nameOf(file)}, ${file.mime ?? file.kind}; its content is not shown)`
}

/** Indents the text, so that the file cannot forge its own end. */
function written(file: Attachment, text: string): string {
  const shown = text.length > TEXT_CHARS ? `${text.slice(0, TEXT_CHARS)}…` : text
  return `(attachment: ${nameOf(file)})\n    ${shown.replace(/\r\n?|\n/g, '\n    ')}`
}
