// The mailbox as a history, for the comparison with the inbox: one place, with its mails by UID.
import type { HistoryEntry, HistoryReader } from '../../contract/index.ts'
import { SwitchboardError } from '../../contract/index.ts'
import { uidsOf } from './link/imap-client.ts'
import type { SideConnection } from './link/side-connection.ts'
import { listMails, type MailReader, type ReaderDeps } from './mail/mail-reader.ts'

const LAST_UID = 4_294_967_295
const DAY_MS = 86_400_000

export function createHistory(
  deps: Pick<ReaderDeps, 'config' | 'timings' | 'clock'> & {
    readonly side: SideConnection
    readonly reader: MailReader
  },
): HistoryReader {
  const { config, timings, clock, side, reader } = deps
  const { mailbox } = config.options
  return {
    places: async () => ({ places: [{ id: mailbox, name: mailbox }] }),
    placeOf: () => null,
    async read({ place, after, since, limit }) {
      // The place is another folder that was read before.
      if (place.id !== mailbox) return { unreadable: 'gone', detail: `another folder is read: ${mailbox}` }
      const page = await side.within(mailbox, async (client) => {
        const uidValidity = String(client.mailbox === false ? 0 : client.mailbox?.uidValidity)
        const [validity, last] = (after ?? '').split(':')
        // After a renumbering all mails are listed. Known ones are recognised by their Message-ID.
        const from = validity === uidValidity ? Number(last) : 0
        const query = {
          uid: `${from + 1}:${LAST_UID}`,
          ...(from > 0 ? {} : { since: new Date(since - DAY_MS) }),
        }
        const found = await uidsOf(client, query, timings.commandMs, clock)
        const fresh = found.filter((uid) => uid > from).sort((a, b) => a - b)
        const taken = fresh.slice(0, limit)
        const entries: HistoryEntry[] = []
        if (taken.length > 0)
          for (const mail of await listMails(client, taken, deps)) {
            const position = `${uidValidity}:${mail.uid}`
            const event = from === 0 && mail.at < since ? null : await reader.eventOf(client, mail)
            const isMessage = event?.kind === 'message' && event.messageId !== undefined
            entries.push({
              position,
              at: mail.at,
              event: isMessage ? { ...event, kind: 'message', messageId: event.messageId ?? '' } : null,
            })
          }
        return { entries, more: fresh.length > taken.length }
      })
      if (page === null)
        throw new SwitchboardError('platform_unavailable', `IMAP: there is no folder "${mailbox}"`)
      return page
    },
  }
}
