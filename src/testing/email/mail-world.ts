// The data of the fake mail servers, in memory: mailboxes by address, their folders, and the mails in them by UID.
import { defined } from '../../contract/index.ts'

export interface FakeMail {
  readonly uid: number
  readonly flags: Set<string>
  readonly at: number
  readonly raw: Buffer
}

export interface FakeFolder {
  readonly name: string
  /** The special use that servers mark, such as `\Sent`. */
  readonly use?: string
  uidValidity: number
  uidNext: number
  mails: readonly FakeMail[]
}

export interface Mailbox {
  readonly address: string
  readonly folders: Map<string, FakeFolder>
}

export interface MailWorld {
  /** Returns the mailbox of an address, ignoring a plus tag. Creates it on first use. */
  mailbox(address: string): Mailbox
  /** Adds a mail to the folder with the next UID. */
  append(folder: FakeFolder, mail: { readonly raw: Buffer; readonly flags?: readonly string[] }): FakeMail
  /** Delivers a mail as a receiving server does, with its own header lines on top. */
  deliver(mail: { readonly from: string; readonly to: string; readonly raw: Buffer }): void
  remove(folder: FakeFolder, uids: ReadonlySet<number>): void
  /** Numbers the mails anew: with another UIDVALIDITY and UIDs from 1. */
  renumber(address: string): void
  /** Whether the server writes Authentication-Results. False is how Rspamd treats authenticated senders. */
  results(written: boolean): void
  /** Calls `run` after every change of a folder. Returns a function that stops it. */
  onChange(run: () => void): () => void
}

/** The name of the server in Authentication-Results. `authserv_id` must be this name. */
export const FAKE_AUTHSERV_ID = 'mx.emulated.test'
const MOST_MAILBOXES = 1_000
const MOST_MAILS = 20_000

export function createMailWorld({ now }: { readonly now: () => number }): MailWorld {
  const boxes = new Map<string, Mailbox>()
  const watching = new Set<() => void>()
  let writesResults = true
  const changed = () => {
    for (const run of [...watching]) run()
  }
  const folder = (name: string, use?: string): FakeFolder => ({
    name,
    ...defined({ use }),
    uidValidity: 1_000 + boxes.size,
    uidNext: 1,
    mails: [],
  })

  const world: MailWorld = {
    mailbox(address) {
      const key = withoutTag(address)
      const known = boxes.get(key)
      if (known !== undefined) return known
      if (boxes.size >= MOST_MAILBOXES) throw new Error('the emulator holds no more mailboxes')
      const made: Mailbox = {
        address: key,
        folders: new Map([
          ['INBOX', folder('INBOX')],
          ['Sent', folder('Sent', '\\Sent')],
        ]),
      }
      boxes.set(key, made)
      return made
    },
    append(into, { raw, flags = [] }) {
      const mail = { uid: into.uidNext, flags: new Set(flags), at: now(), raw }
      into.uidNext += 1
      into.mails = [...into.mails, mail].slice(-MOST_MAILS)
      changed()
      return mail
    },
    deliver({ from, to, raw }) {
      const inbox = world.mailbox(to).folders.get('INBOX')
      const head = [
        `Return-Path: <${from}>`,
        `Delivered-To: ${to}`,
        ...(writesResults ? [`Authentication-Results: ${FAKE_AUTHSERV_ID}; ${proofOf(from)}`] : []),
        `Received: from sender by ${FAKE_AUTHSERV_ID}; ${new Date(now()).toUTCString()}`,
        '',
      ].join('\r\n')
      if (inbox !== undefined) world.append(inbox, { raw: Buffer.concat([Buffer.from(head), raw]) })
    },
    remove(from, uids) {
      from.mails = from.mails.filter(({ uid }) => !uids.has(uid))
      changed()
    },
    renumber(address) {
      for (const one of world.mailbox(address).folders.values()) {
        one.uidValidity += 1_000
        one.mails = one.mails.map((mail, at) => ({ ...mail, uid: at + 1 }))
        one.uidNext = one.mails.length + 1
      }
      changed()
    },
    results(written) {
      writesResults = written
    },
    onChange(run) {
      watching.add(run)
      return () => void watching.delete(run)
    },
  }
  return world
}

/** The fake trusts the envelope sender, as a server does after an SPF check. */
function proofOf(from: string): string {
  if (from === '') return 'spf=none'
  const domain = from.slice(from.lastIndexOf('@') + 1)
  return `spf=pass smtp.mailfrom=${from}; dmarc=pass header.from=${domain}`
}

function withoutTag(address: string): string {
  const cut = address.lastIndexOf('@')
  const [local = ''] = address.slice(0, cut).split('+')
  return `${local}${address.slice(cut)}`.toLowerCase()
}
