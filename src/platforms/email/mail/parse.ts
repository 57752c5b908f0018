// Turns a mail into an event: its text without quoted history, its attachments as references. Pure except for the MIME
// library. What cannot be read is reported, never thrown.
import PostalMime, { type Email, type Attachment as MailPart } from 'postal-mime'
import type { Attachment } from '../../../contract/index.ts'
import { safeFileName, safeMime } from '../../../kit/files/file-names.ts'
import { MOST_HEADER_BYTES } from './headers.ts'
import { htmlText } from './html-text.ts'
import { stripQuotes } from './strip-quotes.ts'

/** A line costs the reader about 150 bytes. 100 MB in base64 have 1.4 million lines. */
const MOST_LINES = 2_000_000
const MOST_PARTS = 2_000
const MOST_NESTING = 50
export const MOST_ATTACHMENTS = 50
const MOST_TEXT = 200_000
/** The rest of a longer text is ignored. */
const MOST_CLEANED = 4 * MOST_TEXT
/**
 * Marks of direction, zero-width characters and tags, which people cannot see. Joiners stay, because emoji and scripts
 * need them.
 */
const UNSEEN =
  /[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\u{e0000}-\u{e007f}]/gu
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g

/** `isLong`: only its first lines were read. */
export type ReadMail = { readonly mail: Email; readonly isLong: boolean } | { readonly problem: string }

/** Never throws. A bomb (nesting, parts) is refused before it is unpacked. */
export async function readMail(given: Uint8Array): Promise<ReadMail> {
  const raw = firstLines(given)
  if (countParts(raw) > MOST_PARTS) return { problem: `the mail has more than ${MOST_PARTS} parts` }
  try {
    const mail = await PostalMime.parse(raw, {
      maxNestingDepth: MOST_NESTING,
      maxHeadersSize: MOST_HEADER_BYTES,
      forceRfc822Attachments: true,
      attachmentEncoding: 'arraybuffer',
    })
    return { mail, isLong: raw.length < given.length }
  } catch (thrown) {
    const said = thrown instanceof Error ? thrown.message.slice(0, 200) : 'unknown'
    return { problem: `the mail could not be read: ${said}` }
  }
}

function firstLines(raw: Uint8Array): Uint8Array {
  if (raw.length <= MOST_LINES) return raw
  let lines = 0
  for (let at = raw.indexOf(10); at >= 0; at = raw.indexOf(10, at + 1)) {
    lines += 1
    if (lines === MOST_LINES) return raw.subarray(0, at + 1)
  }
  return raw
}

/** Counts lines that may begin a part, up to the limit. */
function countParts(raw: Uint8Array): number {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  let count = 0
  for (let at = bytes.indexOf('\n--'); at >= 0 && count <= MOST_PARTS; at = bytes.indexOf('\n--', at + 3))
    count += 1
  return count
}

export interface Spoken {
  readonly text: string
  /** The text with history and signature, if something was removed. */
  readonly whole: string | null
}

/** Returns what the person wrote. A mail without a real text part is read from its HTML. */
export function spokenIn(mail: Email): Spoken {
  const text = clean((mail.text ?? '').slice(0, MOST_CLEANED))
  const html = mail.html ?? ''
  if (html === '' || (text.trim() !== '' && !isStub(text))) return cutDown(text, text)
  const { whole, unquoted } = htmlText(html)
  return cutDown(clean(unquoted === '' ? whole : unquoted), clean(whole))
}

function cutDown(text: string, whole: string): Spoken {
  const stripped = stripQuotes(text)
  const short = stripped.text.slice(0, MOST_TEXT)
  return { text: short, whole: short === whole.trim() ? null : whole.slice(0, MOST_CLEANED) }
}

function isStub(text: string): boolean {
  return (
    text.length < 300 &&
    /\bhtml\b/i.test(text) &&
    /view|read|display|client|support|anzeigen|afficher/i.test(text)
  )
}

/** The meaning of 0x80 to 0x9f in windows-1252. Node's decoder keeps them as controls, which no text contains. */
const WINDOWS = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'

function clean(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/[\u0080-\u009f]/g, (char) => WINDOWS[char.charCodeAt(0) - 0x80] ?? '')
    .replace(CONTROLS, '')
    .replace(UNSEEN, '')
}

/** The whole text of an answer that was shortened, as a part of its own. */
const ORIGINAL_PART = 'original'

export interface PartReference {
  readonly uidValidity: string
  readonly uid: number
  /** Its number in the mail, from 0, or `original`. */
  readonly part: string
  readonly messageId: string
}

function partReference({ uidValidity, uid, part, messageId }: PartReference): string {
  return `${uidValidity} ${uid} ${part} ${messageId}`
}

export function readReference(ref: string): PartReference | null {
  const [, uidValidity, uid, part, messageId] =
    /^(\d{1,20}) (\d{1,10}) (\d{1,4}|original) (<\S+>)$/.exec(ref) ?? []
  if (uidValidity === undefined || part === undefined || messageId === undefined) return null
  return { uidValidity, uid: Number(uid), part, messageId }
}

const NAMES: Readonly<Record<string, string>> = {
  'text/calendar': 'invite.ics',
  'application/ics': 'invite.ics',
  'application/ms-tnef': 'winmail.dat',
  'message/rfc822': 'forwarded.eml',
  'message/delivery-status': 'delivery-status.txt',
  'text/html': 'part.html',
}

export function attachmentsOf(
  mail: Email,
  whole: string | null,
  of: Omit<PartReference, 'part'>,
): readonly Attachment[] {
  const parts = mail.attachments.slice(0, MOST_ATTACHMENTS).map((part, at): Attachment => {
    const mime = safeMime(part.mimeType)
    return {
      id: String(at),
      kind: kindOf(mime),
      name: nameOf(part, mime, at),
      mime,
      size: sizeOf(part),
      ref: partReference({ ...of, part: String(at) }),
    }
  })
  if (whole === null) return parts
  const original: Attachment = {
    id: ORIGINAL_PART,
    kind: 'file',
    name: 'original.txt',
    mime: 'text/plain',
    size: Buffer.byteLength(whole),
    ref: partReference({ ...of, part: ORIGINAL_PART }),
  }
  return [...parts, original]
}

function nameOf({ filename }: MailPart, mime: string, at: number): string {
  if (filename) return safeFileName(filename)
  const known = NAMES[mime]
  if (known !== undefined) return known
  const [type = 'file', subtype = ''] = mime.split('/')
  return `${type === 'image' ? 'image' : 'part'}-${at + 1}${/^[a-z0-9]{2,5}$/.test(subtype) ? `.${subtype}` : ''}`
}

function sizeOf({ content }: MailPart): number {
  return typeof content === 'string' ? Buffer.byteLength(content) : content.byteLength
}

/** Returns the bytes of a part, from the mail that was read again. Null: it has no such part. */
export function partBytes(mail: Email, part: string): Uint8Array | null {
  if (part === ORIGINAL_PART) {
    const { text, whole } = spokenIn(mail)
    return Buffer.from(whole ?? text)
  }
  const found = mail.attachments[Number(part)]
  if (found === undefined) return null
  const { content } = found
  return typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content)
}

function kindOf(mime: string): Attachment['kind'] {
  const type = mime.split('/')[0]
  return type === 'image' || type === 'audio' || type === 'video' ? type : 'file'
}
