// From a mail in the mailbox to an event of the river, step by step, and no more is fetched than the step needs: headers first;
// the rest only of what is a report on our own mail, or of a sender who may speak and is proven.
import type { FetchMessageObject, ImapFlow } from 'imapflow'
import {
  type Clock,
  defined,
  type InboundEvent,
  type InboundMessage,
  type PlatformDeps,
  SwitchboardError,
} from '../../contract/index.ts'
import { saidSender, subjectOf } from './addresses.ts'
import { automaticSign } from './automatic.ts'
import { laterWord } from './bounces.ts'
import type { EmailConfig, Timings } from './config.ts'
import { type TxtLookUp, verifyDkim } from './dkim.ts'
import { fieldNamed, type HeaderField, MOST_HEADER_BYTES, readHeaders } from './headers.ts'
import { answered } from './imap-client.ts'
import { keyIn, ownId } from './message-ids.ts'
import { attachmentsOf, MOST_ATTACHMENTS, readMail, spokenIn } from './parse.ts'
import { threadOf } from './threads.ts'
import { proveSender } from './verify.ts'

export interface ReaderDeps {
  readonly config: EmailConfig
  readonly timings: Timings
  readonly clock: Clock
  readonly transcript: PlatformDeps['transcript']
  readonly mayTalk: (sender: string) => boolean
  readonly txt: TxtLookUp
}

/** A mail as the server lists it: headers, size, and when it arrived. */
export interface ListedMail {
  readonly uid: number
  readonly uidValidity: string
  readonly size: number
  readonly at: number
  readonly header: Uint8Array
  /** Its first bytes: the whole, where it is no longer than that. */
  readonly beginning: Uint8Array
}

/** Of a mail over the cap so much is read: its text stands at the beginning. */
const BEGINNING_BYTES = 262_144
/** Comes with the listing: most mails are no longer, and need no second question. */
const LISTED_BYTES = 32_768
const MOST_REPORT_BYTES = 1_048_576
const FETCH_BYTES_PER_MS = 50

export async function listMails(
  client: ImapFlow,
  uids: readonly number[],
  { timings, clock }: Pick<ReaderDeps, 'timings' | 'clock'>,
): Promise<readonly ListedMail[]> {
  const query = {
    uid: true,
    size: true,
    internalDate: true,
    bodyParts: [{ key: 'header', start: 0, maxLength: MOST_HEADER_BYTES }],
    source: { start: 0, maxLength: LISTED_BYTES },
  }
  const asked = client.fetchAll(uids.join(','), query, { uid: true })
  const found = await answered(client, asked, timings.commandMs, clock)
  const uidValidity = String(client.mailbox === false ? 0 : client.mailbox?.uidValidity)
  return found
    .filter(({ uid }) => uids.includes(uid))
    .sort((a, b) => a.uid - b.uid)
    .map((mail) => {
      // Without them it is nobody's, and every such mail would look the same.
      if (mail.headers === undefined || mail.headers.length === 0)
        throw new SwitchboardError('platform_unavailable', `IMAP: mail ${mail.uid} came without headers`)
      return {
        uid: mail.uid,
        uidValidity,
        size: mail.size ?? 0,
        at: arrivedAt(mail, clock),
        header: mail.headers,
        beginning: mail.source ?? Buffer.alloc(0),
      }
    })
}

/** When it arrived here, not what its sender wrote into Date. */
function arrivedAt({ internalDate }: FetchMessageObject, clock: Clock): number {
  const at = internalDate === undefined ? Number.NaN : new Date(internalDate).getTime()
  return Number.isFinite(at) && at > 0 ? Math.min(at, clock.now()) : clock.now()
}

export interface MailReader {
  eventOf(client: ImapFlow, mail: ListedMail): Promise<InboundEvent>
}

interface Known {
  readonly mail: ListedMail
  readonly fields: readonly HeaderField[]
  readonly id: string
  readonly subject: string
  readonly address: string
  readonly name?: string
}

export function createMailReader(deps: ReaderDeps): MailReader {
  const { config } = deps

  const source = async (client: ImapFlow, mail: ListedMail, most: number): Promise<Uint8Array> => {
    const { uid, size, beginning } = mail
    if (size > 0 && size === beginning.length) return beginning
    const ms = deps.timings.commandMs + Math.min(size, most) / FETCH_BYTES_PER_MS
    const asked = client.fetchOne(
      String(uid),
      { uid: true, source: { start: 0, maxLength: most } },
      { uid: true },
    )
    const found = await answered(client, asked, ms, deps.clock)
    if (!found || found.source === undefined)
      throw new SwitchboardError('platform_unavailable', `IMAP: mail ${uid} came without its source`)
    return found.source
  }

  /** What a server says of a mail of ours; null: it says nothing of that. */
  const reported = async (client: ImapFlow, known: Known): Promise<InboundEvent | null> => {
    const { mail, fields, address, subject } = known
    const type = fieldNamed(fields, 'content-type') ?? ''
    const maybe =
      /^multipart\/report\b/i.test(type) ||
      /^<\s*>$/.test(fieldNamed(fields, 'return-path') ?? '') ||
      /^(mailer-daemon|postmaster)@/.test(address)
    if (!maybe) return null
    const read = await readMail(await source(client, mail, MOST_REPORT_BYTES))
    if ('problem' in read) return null
    const word = laterWord(read.mail, fields, { sender: address, subject, domain: config.domain })
    if (word === null) return null
    if (word.outcome === 'delayed') return barred(known, 'bot_message', 'the server still tries')
    const { send, outcome, detail } = word
    return { kind: 'report', ...base(known), send, outcome, ...(detail === '' ? {} : { detail }) }
  }

  const spoken = async (known: Known, raw: Uint8Array): Promise<InboundEvent> => {
    const { mail, fields, id, subject } = known
    const read = await readMail(raw)
    if ('problem' in read) return { kind: 'unparsable', ...base(known), problem: read.problem }
    const isCut = mail.size > config.options.max_mail_bytes
    const { text, whole } = spokenIn(read.mail)
    const of = { uidValidity: mail.uidValidity, uid: mail.uid, messageId: id }
    const attachments = isCut ? [] : attachmentsOf(read.mail, whole, of)
    const { thread, replyTo } = await threadOf(
      { address: config.address, domain: config.domain, transcript: deps.transcript },
      { sender: known.address, fields, id, subject },
    )
    const said = text === '' && attachments.length === 0 ? subject : text
    const event: InboundMessage = {
      kind: 'message',
      ...base(known),
      thread,
      text: isCut ? `${said}\n\n${cutNote(mail.size, config.options.max_mail_bytes)}`.trim() : said,
      ...defined({ replyTo }),
      ...(attachments.length === 0 ? {} : { attachments }),
      meta: metaOf(known, read.mail.attachments.length),
    }
    return event
  }

  return {
    async eventOf(client, mail) {
      const fields = readHeaders(mail.header)
      const id = ownId(fields, () => mail.header)
      const who = saidSender(fields)
      const subject = subjectOf(fields)
      if ('problem' in who)
        return {
          kind: 'unparsable',
          ...base({ mail, fields, id, subject, address: 'unreadable' }),
          problem: who.problem,
        }
      const known: Known = { mail, fields, id, subject, ...who }
      // Ours by its id, and not by its sender: whoever writes our address there would silence nobody but themselves.
      if (keyIn(id, config.domain) !== null) return barred(known, 'bot_message', 'our own mail came back')
      const report = await reported(client, known)
      if (report !== null) return report
      const sign = config.automaticFrom.has(who.address)
        ? null
        : automaticSign(fields, { sender: who.address, subject })
      if (sign !== null) return barred(known, 'bot_message', `automatic_from: ${sign}`)
      // Before anything else is fetched, and so that no stranger is ever answered, not even with a code.
      if (!deps.mayTalk(who.address)) return barred(known, 'sender_not_allowed', 'access.allow_from')
      const { require_auth_results, verify_dkim, max_mail_bytes } = config.options
      let raw: Uint8Array | null = null
      const most = mail.size > max_mail_bytes ? BEGINNING_BYTES : max_mail_bytes
      const fetched = async () => (raw ??= await source(client, mail, most))
      const proof = await proveSender(fields, who.address, {
        required: require_auth_results,
        authservIds: config.authservIds,
        dkim:
          verify_dkim && mail.size <= max_mail_bytes
            ? async () => verifyDkim(await fetched(), who.address, deps.txt)
            : null,
      })
      if (!proof.proven)
        return barred(known, 'sender_unproven', `require_auth_results: ${proof.why}`.slice(0, 500))
      return spoken(known, await fetched())
    },
  }
}

function base({ address, name, mail, id }: Known) {
  return {
    conversation: address,
    chat: 'direct' as const,
    sender: { id: address, ...defined({ name }) },
    at: mail.at,
    messageId: id,
  }
}

function barred(
  known: Known,
  reason: 'bot_message' | 'sender_not_allowed' | 'sender_unproven',
  key: string,
): InboundEvent {
  return { kind: 'barred', ...base(known), reason, key }
}

function metaOf({ subject, fields }: Known, attached: number): Readonly<Record<string, string>> {
  const cc = fieldNamed(fields, 'cc')
  return {
    ...(subject === '' ? {} : { subject }),
    ...(cc === undefined || cc === '' ? {} : { cc: cc.slice(0, 500) }),
    ...(attached > MOST_ATTACHMENTS ? { attachments_left_out: String(attached - MOST_ATTACHMENTS) } : {}),
  }
}

function cutNote(size: number, most: number): string {
  const mb = (bytes: number) => Math.round(bytes / 1_048_576)
  return `[This mail has ${mb(size)} MB, over the ${mb(most)} MB of max_mail_bytes: only the beginning of its text was read, and none of its attachments.]`
}
