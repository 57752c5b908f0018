// Sending: one mail for each op, composed before it is sent, under an id that is the same for every try.
import MailComposer from 'nodemailer/lib/mail-composer'
import {
  type OutboundOp,
  type Receipt,
  type SendRequest,
  SwitchboardError,
  type Urgency,
  withoutNulls,
} from '../../contract/index.ts'
import type { FileStore } from '../../kit/index.ts'
import { wordsIn } from '../../words/index.ts'
import type { EmailConfig } from './config.ts'
import type { SentFolder } from './link/sent-folder.ts'
import type { Smtp } from './link/smtp.ts'
import { normalAddress } from './mail/addresses.ts'
import { subjectToken, tagToken } from './mail/message-ids.ts'
import { markedSubject, ownSubject } from './mail/subjects.ts'
import { bodyOf } from './render.ts'
import { answerHeaders, partsOfThread, type Threading } from './threads.ts'

export interface SendDeps {
  readonly config: EmailConfig
  readonly smtp: Smtp
  readonly files: FileStore
  readonly sent: Pick<SentFolder, 'keep'>
  readonly threading: Threading
  /** The public address of this server, without a slash at its end. Null: it has none. */
  readonly publicUrl: string | null
}

type Op<K extends OutboundOp['kind']> = Extract<OutboundOp, { kind: K }>

const IMPORTANCE: Readonly<Record<Urgency, Readonly<Record<string, string>>>> = {
  high: { Importance: 'high', 'X-Priority': '1' },
  normal: {},
  low: { Importance: 'low', 'X-Priority': '5' },
}

export function createSend(deps: SendDeps): (request: SendRequest) => Promise<Receipt> {
  const { config } = deps
  const { options } = config
  const { ids } = deps.threading

  /** Returns the whole mail as bytes. The same request gives the same headers. */
  const compose = async (request: SendRequest, to: string): Promise<Buffer> => {
    const op = request.op as Op<'text'> | Op<'prompt'> | Op<'file'>
    const said = op.kind === 'file' ? (op.caption ?? '') : op.text
    const plain = op.kind === 'text' && op.plain === true
    const urgency = op.kind === 'text' ? op.urgency : op.kind === 'prompt' ? 'high' : undefined
    const replyTo = op.kind === 'text' ? op.replyTo : undefined
    const answer = await answerHeaders(deps.threading, request, replyTo)
    const own = op.kind === 'file' && said === '' ? op.name : ownSubject(said, plain)
    const token =
      answer === null && options.reply_token === 'subject' ? ` ${subjectToken(ids.tokenOf(request.key))}` : ''
    const subject = answer === null ? markedSubject(own, urgency) + token : answer.subject
    const body = bodyOf(said === '' ? wordsIn().platforms.email.seeAttachment : said + consoleLink(op), plain)
    const attachment =
      op.kind === 'file'
        ? [{ filename: op.name, contentType: op.mime, content: Buffer.from(await deps.files.read(op.ref)) }]
        : []
    const composer = new MailComposer({
      from:
        options.name === undefined
          ? config.address
          : { name: oneLine(options.name), address: config.address },
      to,
      ...replyAddress(request, answer === null),
      messageId: ids.of(request.key),
      subject: oneLine(subject),
      ...(answer === null ? {} : { inReplyTo: answer.inReplyTo, references: [...answer.references] }),
      text: body.text,
      ...withoutNulls({ html: body.html }),
      attachments: attachment,
      headers: {
        'Auto-Submitted': answer === null ? 'auto-generated' : 'auto-replied',
        'X-Auto-Response-Suppress': 'DR, RN, NRN, OOF, AutoReply',
        ...IMPORTANCE[urgency ?? 'normal'],
      },
      disableFileAccess: true,
      disableUrlAccess: true,
    })
    return composer.compile().build()
  }

  /** A question can also be decided in the console, after signing in. The link alone decides nothing. */
  const consoleLink = (op: OutboundOp): string =>
    op.kind === 'prompt' && deps.publicUrl !== null
      ? `\n\n${wordsIn().platforms.email.orInConsole({
          url: `${deps.publicUrl}/#/approvals/${encodeURIComponent(op.approval)}`,
        })}`
      : ''

  /** Returns the address for answers: our own, with the thread's token after the plus. */
  const replyAddress = ({ to, key }: SendRequest, begins: boolean): { readonly replyTo?: string } => {
    const tag = to.thread === undefined ? null : partsOfThread(to.thread).tag
    const shown = tag ?? (begins && options.reply_token === 'address' ? tagToken(ids.tokenOf(key)) : null)
    if (shown === null) return {}
    const cut = config.address.lastIndexOf('@')
    return { replyTo: `${config.address.slice(0, cut)}+${shown}${config.address.slice(cut)}` }
  }

  return async (request) => {
    const { op, key } = request
    if (op.kind !== 'text' && op.kind !== 'prompt' && op.kind !== 'file')
      throw new SwitchboardError('platform_rejected', `a mail that was sent cannot be changed (${op.kind})`)
    const to = normalAddress(request.to.conversation)
    if (to === null)
      throw new SwitchboardError('platform_rejected', 'the target is not a mail address', {
        hint: 'a target is one address, such as ops@example.org',
      })
    const raw = await compose(request, to)
    const { serverId } = await deps.smtp.deliver({ to, raw })
    const id = ids.of(key)
    // From here on a crash is settled by the copy. The wait for it is short.
    await deps.sent.keep(raw, id)
    // If the server changed the id, answers refer to the new one.
    return { platformIds: serverId === null || serverId === id ? [id] : [serverId, id] }
  }
}

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim()
}
