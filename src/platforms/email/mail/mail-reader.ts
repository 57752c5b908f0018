// Turns a mail in the mailbox into an event, step by step. Each step fetches only what it needs: headers first, then
// the rest of a mail if it reports on one of ours, or if its sender is admitted and proven.
import { createHash } from 'node:crypto'
import type { FetchMessageObject, ImapFlow } from 'imapflow'
import {
  type Clock,
  defined,
  type InboundEvent,
  type InboundMessage,
  type PlatformDeps,
  SwitchboardError,
} from '../../../contract/index.ts'
import { type ReadCarefully, type RunTask, UnreadableInputError } from '../../../kit/index.ts'
import type { EmailConfig, Timings } from '../config.ts'
import { MOST_COUNTED } from '../gates.ts'
import { answered } from '../link/imap-client.ts'
import { threadOf } from '../threads.ts'
import { saidSender, subjectOf } from './addresses.ts'
import { automaticSign } from './automatic.ts'
import type { LaterWord } from './bounces.ts'
import { MOST_DKIM_BYTES, type TxtLookUp } from './dkim.ts'
import { fieldNamed, type HeaderField, MOST_HEADER_BYTES, readHeaders } from './headers.ts'
import type { DkimInput, ReportInput, SpokenInput, SpokenMail } from './mail-tasks.ts'
import { type MessageIds, ownId, saidId, unprovenKey } from './message-ids.ts'
import { MOST_ATTACHMENTS } from './parse.ts'
import { type Proof, proveSender } from './verify.ts'

export interface ReaderDeps {
  readonly config: EmailConfig
  readonly timings: Timings
  readonly clock: Clock
  readonly transcript: PlatformDeps['transcript']
  readonly mayTalk: (sender: string) => boolean
  readonly txt: TxtLookUp
  readonly carefully: ReadCarefully
  readonly ids: MessageIds
}

/** A mail as the server lists it: headers, size, and its arrival. */
export interface ListedMail {
  readonly uid: number
  readonly uidValidity: string
  readonly size: number
  readonly at: number
  readonly header: Uint8Array
  /** Its first bytes; all of a short mail. */
  readonly beginning: Uint8Array
}

/** The part that is read of a mail over the limit. Its text is at the beginning. */
const BEGINNING_BYTES = 262_144
/** Fetched with the listing. Most mails are no longer, and need no second request. */
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
      // Without headers it has no sender, and all such mails would look the same.
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

/** The time of its arrival, not the Date of its sender. */
function arrivedAt({ internalDate }: FetchMessageObject, clock: Clock): number {
  const at = internalDate === undefined ? Number.NaN : new Date(internalDate).getTime()
  return Number.isFinite(at) && at > 0 ? Math.min(at, clock.now()) : clock.now()
}

export interface MailReader {
  /**
   * The number of mails that were refused because the named server's results stood below the topmost Received, up to
   * `MOST_COUNTED`. Link and history read the same mail, which counts once.
   */
  misplaced(): number
  eventOf(client: ImapFlow, mail: ListedMail): Promise<InboundEvent>
}

interface Known {
  readonly mail: ListedMail
  readonly fields: readonly HeaderField[]
  /** Its Message-ID. */
  readonly id: string
  /** Its key in the inbox. */
  readonly key: string
  readonly subject: string
  readonly address: string
  readonly name?: string
}

export function createMailReader(deps: ReaderDeps): MailReader {
  const { config } = deps
  const misplaced = new Set<string>()

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

  /** Returns a server's report about a mail of ours; null: it is none. */
  const reported = async (client: ImapFlow, known: Known): Promise<InboundEvent | null> => {
    const { mail, fields, address, subject } = known
    const type = fieldNamed(fields, 'content-type') ?? ''
    const maybe =
      /^multipart\/report\b/i.test(type) ||
      /^<\s*>$/.test(fieldNamed(fields, 'return-path') ?? '') ||
      /^(mailer-daemon|postmaster)@/.test(address)
    if (!maybe) return null
    const raw = await source(client, mail, MOST_REPORT_BYTES)
    // A report is accepted only if it contains a Message-ID that we signed. Nothing else of it was read before.
    const ours = deps.ids.within(raw)
    if (ours.size === 0) return null
    const input: ReportInput = { raw, sender: address, subject, ours }
    const word = await deps.carefully(
      nameOf(mail),
      (run) => run('report', input) as Promise<LaterWord | null>,
    )
    if (word === null) return null
    if (word.outcome === 'delayed') return barred(known, 'bot_message', 'the server still tries')
    const { send, outcome, detail, sentTo } = word
    return { kind: 'report', ...base(known), send, outcome, sentTo, ...(detail === '' ? {} : { detail }) }
  }

  const spoken = async (known: Known, raw: Uint8Array, run: RunTask): Promise<InboundEvent> => {
    const { mail, fields, id, subject } = known
    const isCut = mail.size > config.options.max_mail_bytes
    const of = { uidValidity: mail.uidValidity, uid: mail.uid, messageId: id }
    const input: SpokenInput = { raw, of, isCut }
    const read = (await run('spoken', input)) as SpokenMail | { readonly problem: string }
    if ('problem' in read) return { kind: 'unparsable', ...base(known), problem: read.problem }
    const { text, attachments, attached, isLong } = read
    const { thread, replyTo } = await threadOf(
      { address: config.address, ids: deps.ids, transcript: deps.transcript },
      { sender: known.address, fields, id, subject },
    )
    const said = text === '' && attachments.length === 0 ? subject : text
    const note = isCut ? cutNote(mail.size, config.options.max_mail_bytes) : isLong ? LONG_NOTE : null
    const event: InboundMessage = {
      kind: 'message',
      ...base(known),
      thread,
      text: note === null ? said : `${said}\n\n${note}`.trim(),
      ...defined({ replyTo }),
      ...(attachments.length === 0 ? {} : { attachments }),
      meta: metaOf(known, attached),
    }
    return event
  }

  /** Returns the event of an admitted sender's mail, once the sender is proven. */
  const heard = async (client: ImapFlow, known: Known, run: RunTask): Promise<InboundEvent> => {
    const { mail, fields, address } = known
    const { require_auth_results, verify_dkim, max_mail_bytes } = config.options
    let raw: Uint8Array | null = null
    const most = mail.size > max_mail_bytes ? BEGINNING_BYTES : max_mail_bytes
    const fetched = async () => (raw ??= await source(client, mail, most))
    const verified = async () => {
      const input: DkimInput = { raw: await fetched(), sender: address }
      return (await run('dkim', input, async (name) => deps.txt(String(name)))) as Proof
    }
    const mostVerified = Math.min(max_mail_bytes, MOST_DKIM_BYTES)
    const proof = await proveSender(fields, address, {
      required: require_auth_results,
      authservIds: config.authservIds,
      belowReceived: config.belowReceived,
      dkim: !verify_dkim ? null : mail.size > mostVerified ? async () => tooLarge(mostVerified) : verified,
    })
    if (!proof.proven) {
      if (proof.misplaced && misplaced.size < MOST_COUNTED) misplaced.add(nameOf(mail))
      const key = proof.misplaced ? 'results_below_received' : 'require_auth_results'
      return barred(known, 'sender_unproven', `${key}: ${proof.why}`.slice(0, 500))
    }
    const bytes = await fetched()
    // Proven mail is known by its Message-ID, or by its content, wherever it lies.
    const id = ownId(fields, () => bytes)
    // If no proof is required, anybody could write this id, so the content is part of the key.
    const key = require_auth_results ? id : unprovenKey(id, digestOf(bytes))
    return spoken({ ...known, id, key }, bytes, run)
  }

  return {
    misplaced: () => misplaced.size,
    async eventOf(client, mail) {
      const fields = readHeaders(mail.header)
      const id = saidId(fields) ?? `<uid.${mail.uidValidity}.${mail.uid}@none>`
      // The key until the sender is proven.
      const key = unprovenKey(id, `${mail.uidValidity}.${mail.uid}`)
      const who = saidSender(fields)
      const subject = subjectOf(fields)
      if ('problem' in who)
        return {
          kind: 'unparsable',
          ...base({ mail, fields, id, key, subject, address: 'unreadable' }),
          problem: who.problem,
        }
      const known: Known = { mail, fields, id, key, subject, ...who }
      // Recognised by its signed id and not by its sender, because anybody can write our address as the sender.
      if (deps.ids.keyIn(id) !== null) return barred(known, 'bot_message', 'our own mail came back')
      try {
        const report = await reported(client, known)
        if (report !== null) return report
        const sign = config.automaticFrom.has(who.address)
          ? null
          : automaticSign(fields, { sender: who.address, subject })
        if (sign !== null) return barred(known, 'bot_message', `automatic_from: ${sign}`)
        // Checked before anything else is fetched, so that a stranger is never answered, not even with a code.
        if (!deps.mayTalk(who.address)) return barred(known, 'sender_not_allowed', 'access.allow_from')
        return await deps.carefully(nameOf(mail), (run) => heard(client, known, run))
      } catch (thrown) {
        if (!(thrown instanceof UnreadableInputError)) throw thrown
        const problem = `the mail could not be read in two tries: ${thrown.message}`
        return { kind: 'unparsable', ...base(known), problem }
      }
    },
  }
}

/** The name by which a mail's tries and its refusal are counted. */
function nameOf({ uidValidity, uid }: ListedMail): string {
  return `${uidValidity}.${uid}`
}

function tooLarge(most: number): Proof {
  return {
    proven: false,
    why: `DKIM: not verified: the mail is larger than ${Math.floor(most / 1_048_576)} MB`,
  }
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 32)
}

function base({ address, name, mail, key }: Known) {
  return {
    conversation: address,
    chat: 'direct' as const,
    sender: { id: address, ...defined({ name }) },
    at: mail.at,
    messageId: key,
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

const LONG_NOTE = '[This mail has more than 2 million lines: only the first ones were read.]'

function cutNote(size: number, most: number): string {
  const mb = (bytes: number) => Math.round(bytes / 1_048_576)
  return `[This mail has ${mb(size)} MB, over the ${mb(most)} MB of max_mail_bytes: only the beginning of its text was read, and none of its attachments.]`
}
