// A person with a mailbox at the fake, for scripts and the page. The person writes, replies with the usual quote, and
// reads.
import PostalMime from 'postal-mime'
import { SwitchboardError } from '../../contract/index.ts'
import type { MailWorld } from './mail-world.ts'

export interface WriteOptions {
  readonly subject?: string
  /** True begins a new thread. Otherwise the mail replies to the newest mail of the bot, if there is one. */
  readonly fresh?: boolean
  /** The tag after the plus sign in the bot's address. */
  readonly tag?: string
  readonly file?: { readonly name: string; readonly content: string; readonly mime?: string }
  /** More header lines, added unchanged. */
  readonly headers?: readonly string[]
}

export interface ReadMail {
  readonly id: string
  readonly from: string
  readonly subject: string
  readonly text: string
  readonly files: readonly string[]
}

export interface MailPerson {
  readonly address: string
  /** Sends a mail and returns its Message-ID. */
  writes(text: string, options?: WriteOptions): Promise<string>
  /** The mails in the inbox, oldest first. */
  reads(): Promise<readonly ReadMail[]>
  /** Answers the newest question with `Allow` or `Deny`. Throws when no question is open. */
  decides(label: string): Promise<string>
}

let written = 0

export function createMailPerson(
  world: MailWorld,
  {
    name,
    address,
    bot,
    now,
  }: {
    readonly name: string
    readonly address: string
    readonly bot: () => string
    readonly now: () => number
  },
): MailPerson {
  const inbox = () => world.mailbox(address).folders.get('INBOX')?.mails ?? []

  const reads = async (): Promise<readonly ReadMail[]> =>
    Promise.all(
      inbox().map(async ({ raw }) => {
        const mail = await PostalMime.parse(raw)
        return {
          id: mail.messageId ?? '',
          from: mail.from?.address ?? '',
          subject: mail.subject ?? '',
          text: (mail.text ?? '').trim(),
          files: mail.attachments.map((file) => file.filename ?? 'file'),
        }
      }),
    )

  const writes = async (text: string, options: WriteOptions = {}): Promise<string> => {
    const last = options.fresh ? undefined : (await reads()).at(-1)
    const id = `<written${++written}.${now().toString(36)}@${address.slice(address.indexOf('@') + 1)}>`
    const to = options.tag === undefined ? bot() : bot().replace('@', `+${options.tag}@`)
    const subject =
      options.subject ?? (last === undefined ? 'Hello' : `Re: ${last.subject.replace(/^Re: /i, '')}`)
    const quote =
      last === undefined ? [] : ['', `On a day in May, the bot <${bot()}> wrote:`, ...quoted(last.text)]
    const head = [
      `Message-ID: ${id}`,
      `Date: ${new Date(now()).toUTCString()}`,
      `From: ${name} <${address}>`,
      `To: ${to}`,
      `Subject: =?utf-8?B?${Buffer.from(subject).toString('base64')}?=`,
      ...(last === undefined ? [] : [`In-Reply-To: ${last.id}`, `References: ${last.id}`]),
      'MIME-Version: 1.0',
      ...(options.headers ?? []),
    ]
    const body = part('text/plain; charset=utf-8', [text, ...quote].join('\r\n'))
    const lines = options.file === undefined ? [...head, ...body] : [...head, ...mixed(body, options.file)]
    world.deliver({ from: address, to, raw: Buffer.from(lines.join('\r\n')) })
    return id
  }

  return {
    address,
    writes,
    reads,
    async decides(label) {
      const word = { allow: 'yes', deny: 'no' }[label.trim().toLowerCase()]
      const asked = (await reads()).findLast(({ text }) => /Reply "yes [a-km-z]{5}"/.test(text))
      const [, id] = /"yes ([a-km-z]{5})"/.exec(asked?.text ?? '') ?? []
      if (word === undefined || id === undefined)
        throw new SwitchboardError(
          'not_found',
          'mail has no buttons: Allow and Deny answer an open question, and none is',
        )
      return writes(`${word} ${id}`)
    },
  }
}

function quoted(text: string): readonly string[] {
  return text.split(/\r?\n/).map((line) => `> ${line}`)
}

function part(type: string, content: string, disposition?: string): readonly string[] {
  const packed = Buffer.from(content)
    .toString('base64')
    .replace(/(.{76})/g, '$1\r\n')
  return [
    `Content-Type: ${type}`,
    'Content-Transfer-Encoding: base64',
    ...(disposition === undefined ? [] : [`Content-Disposition: ${disposition}`]),
    '',
    packed,
  ]
}

function mixed(body: readonly string[], file: NonNullable<WriteOptions['file']>): readonly string[] {
  const name = file.name.replace(/[^\w. -]/g, '_')
  return [
    'Content-Type: multipart/mixed; boundary=emulated',
    '',
    '--emulated',
    ...body,
    '--emulated',
    ...part(file.mime ?? 'text/plain', file.content, `attachment; filename="${name}"`),
    '--emulated--',
    '',
  ]
}
