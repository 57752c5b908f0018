// What a server later reports about a mail of ours: it bounced, it arrived, it was read. The report counts only if it
// names a Message-ID that we signed, and only for an address to which that mail was sent; the store compares it.
// Servers write reports in many forms. The standard one (RFC 3464) is tried first.
import type { Email } from 'postal-mime'
import { normalAddress } from './addresses.ts'
import { fieldNamed, fieldsNamed, type HeaderField, readHeaders } from './headers.ts'
import { idsIn } from './message-ids.ts'

export interface LaterWord {
  readonly send: string
  /** `delayed`: nothing is decided yet. */
  readonly outcome: 'failed' | 'delivered' | 'read' | 'delayed'
  readonly detail: string
  /** The recipients that the report names. Empty: it names none. */
  readonly sentTo: readonly string[]
}

const REPORTS = new Set(['message/delivery-status', 'message/disposition-notification'])
/** The type of the part that contains our returned mail, or its headers. */
const RETURNED = new Set([
  'message/rfc822',
  'message/global',
  'text/rfc822-headers',
  'message/global-headers',
])
const MOST_PART = 65_536
const MOST_DETAIL = 500
const FROM_SERVER = /^(mailer-daemon|postmaster|mail-daemon|mdaemon)(\+.*)?@/
const UNDELIVERED =
  /undeliver|delivery status notification|returned mail|mail delivery (failed|subsystem)|failure notice|delivery failure|unzustellbar|non remis|no entregado/i
const DELAYED = /\bdelay|warning: could not send|still being retried/i

export interface ReportOf {
  readonly sender: string
  readonly subject: string
  /** Our Message-IDs in it, with their outbox ids. */
  readonly ours: ReadonlyMap<string, string>
}

/** Null: it is not about a mail of ours, or no server wrote it. */
export function laterWord(
  mail: Email,
  fields: readonly HeaderField[],
  { sender, subject, ours }: ReportOf,
): LaterWord | null {
  const type = fieldNamed(fields, 'content-type') ?? ''
  const report = /^multipart\/report\b/i.test(type)
  const empty = /^<\s*>$/.test(fieldNamed(fields, 'return-path') ?? '')
  if (!report && !empty && !FROM_SERVER.test(sender) && !UNDELIVERED.test(subject)) return null
  const parts = mail.attachments.map(({ mimeType, content }) => ({
    type: mimeType.toLowerCase(),
    text: textOf(content),
  }))
  const send = ourKey([...parts.map(({ text }) => text), mail.text ?? '', inHeaders(fields)], ours)
  if (send === null) return null
  const returned = parts
    .filter((part) => RETURNED.has(part.type))
    .map((part) => readHeaders(Buffer.from(part.text)))
  const said = saidByServer(mail.text ?? '')
  const failed = fieldNamed(fields, 'x-failed-recipients')
  const structured = [
    ...(failed === undefined ? [] : [`x-failed-recipients: ${failed.slice(0, 2_000)}`]),
    ...parts.filter((part) => REPORTS.has(part.type)).map(({ text }) => unfolded(text)),
  ].join('\n')
  const sentTo = recipientsIn(structured, returned, mail.text ?? '')
  const read = parts.find((part) => part.type === 'message/disposition-notification')
  if (read !== undefined)
    return /^disposition:.*;\s*displayed/im.test(read.text)
      ? { send, outcome: 'read', detail: '', sentTo: [...sentTo, sender] }
      : null
  const status = parts.find((part) => part.type === 'message/delivery-status')
  if (status !== undefined) return { send, ...deliveryStatus(status.text, said), sentTo }
  if (DELAYED.test(subject)) return { send, outcome: 'delayed', detail: said, sentTo }
  // Without a report: the text of a server that names our mail, from an address that cannot be answered. An
  // out-of-office note has an empty Return-Path too.
  const isBounce = (empty && FROM_SERVER.test(sender)) || UNDELIVERED.test(subject)
  return isBounce ? { send, outcome: 'failed', detail: said || subject, sentTo } : null
}

function textOf(content: ArrayBuffer | Uint8Array | string): string {
  if (typeof content === 'string') return content.slice(0, MOST_PART)
  return Buffer.from(content instanceof ArrayBuffer ? new Uint8Array(content) : content)
    .subarray(0, MOST_PART)
    .toString('utf8')
}

function inHeaders(fields: readonly HeaderField[]): string {
  return ['in-reply-to', 'references'].map((name) => fieldNamed(fields, name) ?? '').join(' ')
}

const OWN_ID = /^(?:original-)?message-id[ \t]{0,100}:[ \t]{0,100}(<[^<>\s]{1,900}>)/gim

/** Its Message-ID names the mail. References and In-Reply-To of a returned mail name older ones, and come first. */
function ourKey(texts: readonly string[], ours: ReadonlyMap<string, string>): string | null {
  const named = texts.flatMap((text) => [...unfolded(text).matchAll(OWN_ID)].map(([, id = '']) => id))
  for (const id of [...named, ...texts.flatMap(idsIn)]) {
    const key = ours.get(id)
    if (key !== undefined) return key
  }
  return null
}

const MOST_RECIPIENTS = 20
const RECIPIENT = /^(?:final-recipient|original-recipient|x-failed-recipients)[ \t]*:(.{1,2000})$/gim
const ADDRESS = /[^\s<>()[\]:;,"']{1,64}@[a-z0-9.-]{1,253}/gi

/**
 * The report names the final address, which differs if the mail was forwarded. To of the returned mail and the server's
 * text name the address that we wrote to.
 */
function recipientsIn(
  structured: string,
  returned: readonly (readonly HeaderField[])[],
  text: string,
): readonly string[] {
  const named = [...structured.matchAll(RECIPIENT)].map(([, value = '']) => value)
  const to = returned.flatMap((fields) => fieldsNamed(fields, 'to'))
  const words = [named.join(' '), to.join(' '), text].flatMap(
    (part) => part.slice(0, MOST_PART).match(ADDRESS) ?? [],
  )
  const addresses = words.flatMap((word) => normalAddress(word.replace(/\.$/, '')) ?? [])
  return [...new Set(addresses)].slice(0, MOST_RECIPIENTS)
}

type Judged = Pick<LaterWord, 'outcome' | 'detail'>

/** One block per recipient. Each of our mails has one recipient. */
function deliveryStatus(text: string, said: string): Judged {
  const field = (name: string) =>
    new RegExp(`^${name}\\s*:\\s*(?!\\s)(.{0,1000})$`, 'im').exec(unfolded(text))?.[1]?.trim()
  const action = (field('action') ?? 'failed').toLowerCase()
  const status = field('status')
  const diagnostic = field('diagnostic-code')?.replace(/^smtp\s*;\s*/i, '')
  // Some servers give no diagnostic, or a status without meaning. Then their text is used.
  const detail = (diagnostic ?? (said !== '' ? said : (status ?? 'no reason was given'))).slice(
    0,
    MOST_DETAIL,
  )
  if (action === 'delayed') return { outcome: 'delayed', detail }
  if (action === 'delivered' || action === 'relayed' || action === 'expanded')
    return { outcome: 'delivered', detail }
  return { outcome: 'failed', detail }
}

function unfolded(text: string): string {
  return text.replace(/\r?\n[ \t]+/g, ' ')
}

const REPLY_CODE = /(?:^|[\s:<>"'])([45]\d\d[ -](?:\d\.\d{1,3}\.\d{1,3}[ -])?\S.{0,300})/m

/** Returns the line with the server's reply code, else the first one of a block `<address>:`. */
function saidByServer(text: string): string {
  const cut = text.slice(0, MOST_PART)
  const code = REPLY_CODE.exec(cut)?.[1]
  if (code !== undefined) return code.trim().slice(0, MOST_DETAIL)
  const block = /^<[^<>\s]{3,254}>:\s*\n?(.{1,300})/m.exec(cut)?.[1]
  return (block ?? '').trim().slice(0, MOST_DETAIL)
}
