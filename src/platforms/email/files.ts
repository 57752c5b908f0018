// Files of mails. An attachment is read from the mailbox again when it is needed, out of its own mail, even if that was
// moved or renumbered meanwhile.
import type { ImapFlow } from 'imapflow'
import { type Attachment, type PlatformDeps, SwitchboardError } from '../../contract/index.ts'
import { createFileStore, type FileStore, type ReadCarefully, UnreadableInputError } from '../../kit/index.ts'
import { answered, uidsOf } from './link/imap-client.ts'
import type { SideConnection } from './link/side-connection.ts'
import { readHeaders } from './mail/headers.ts'
import type { ReaderDeps } from './mail/mail-reader.ts'
import type { PartInput } from './mail/mail-tasks.ts'
import { ownId } from './mail/message-ids.ts'
import { type PartReference, readReference } from './mail/parse.ts'

const SENT = { maxBytes: 20 * 1_048_576, why: 'which many mail servers refuse' }

export function createEmailFiles(
  deps: Pick<ReaderDeps, 'config' | 'timings' | 'clock'> & {
    readonly side: SideConnection
    readonly carefully: ReadCarefully
  },
  place: Pick<PlatformDeps, 'filesDir' | 'random' | 'mirror'>,
): FileStore {
  const { config, timings, clock, side } = deps
  const { mailbox, after, max_mail_bytes } = config.options

  const sourceIn = async (client: ImapFlow, uid: number, id: string): Promise<Uint8Array | null> => {
    const query = { uid: true, source: { start: 0, maxLength: max_mail_bytes } }
    const asked = client.fetchOne(String(uid), query, { uid: true })
    const found = await answered(client, asked, 4 * timings.commandMs, clock)
    if (!found || found.source === undefined) return null
    const { source } = found
    return ownId(readHeaders(source), () => source) === id ? source : null
  }

  const findIn = async (client: ImapFlow, { uidValidity, uid, messageId }: PartReference) => {
    const open = client.mailbox
    if (open !== false && String(open?.uidValidity) === uidValidity) {
      const direct = await sourceIn(client, uid, messageId)
      if (direct !== null) return direct
    }
    const query = { header: { 'message-id': messageId } }
    for (const one of (await uidsOf(client, query, timings.commandMs, clock)).slice(-10)) {
      const found = await sourceIn(client, one, messageId)
      if (found !== null) return found
    }
    return null
  }

  const mailOf = async (reference: PartReference): Promise<Uint8Array> => {
    for (const folder of [mailbox, ...(after.move_to === undefined ? [] : [after.move_to])]) {
      const found = await side.within(folder, (client) => findIn(client, reference))
      if (found !== null) return found
    }
    throw new SwitchboardError('not_found', 'the mail of this attachment is no longer in the mailbox')
  }

  return createFileStore(place, {
    async bytesOf(attachment: Attachment) {
      const reference = readReference(attachment.ref)
      if (reference === null) throw new SwitchboardError('not_found', 'this is no attachment of a mail')
      const input: PartInput = { raw: await mailOf(reference), part: reference.part }
      const bytes = await deps
        .carefully(`${reference.uidValidity}.${reference.uid}`, (run) => run('part', input))
        .catch((thrown: unknown) => {
          if (thrown instanceof UnreadableInputError) return null
          throw thrown
        })
      if (!(bytes instanceof Uint8Array)) throw new SwitchboardError('not_found', 'the mail has no such part')
      return { bytes, name: attachment.name ?? 'file' }
    },
    sent: SENT,
  })
}
