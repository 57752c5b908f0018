// The folder Sent. A mail whose answer was lost is looked up there, and a copy is stored there if the server does not
// do it.
import type { ImapFlow } from 'imapflow'
import type { Clock, Logger, PlatformAdapter } from '../../../contract/index.ts'
import type { EmailConfig, Timings } from '../config.ts'
import { readHeaders } from '../mail/headers.ts'
import { type MessageIds, ownId } from '../mail/message-ids.ts'
import { answered, uidsOf } from './imap-client.ts'
import type { SideConnection } from './side-connection.ts'

export interface SentFolder {
  /** Stores a copy unless there is one. It waits briefly, logs a failure, and never fails the send. */
  keep(raw: Buffer, id: string): Promise<void>
  readonly reconcile: NonNullable<PlatformAdapter['reconcile']>
}

/** Servers that store a copy in Sent under our Message-ID. */
const KEEPS_OUR_ID = /^smtp\.(gmail|googlemail)\.com$/
/**
 * Servers that store a copy in Sent under a Message-ID of their own, so it cannot be looked up. Relays of the same
 * providers (`smtp-relay.gmail.com`, `*.mail.protection.outlook.com`) store nothing.
 */
const REPLACES_OUR_ID = /^(smtp([.-][a-z]+)?|outlook)\.office365\.com$|^smtp-mail\.outlook\.com$/

export function createSentFolder(deps: {
  readonly config: EmailConfig
  readonly timings: Timings
  readonly clock: Clock
  readonly log: Logger
  readonly side: SideConnection
  readonly ids: MessageIds
}): SentFolder {
  const { config, timings, clock, side } = deps
  const host = config.smtp.host.toLowerCase()
  /** A mail that is not in Sent was not sent. With another login, that folder belongs to another account. */
  const absenceCounts = KEEPS_OUR_ID.test(host) && config.smtp.user === config.imap.user
  const isCopyOurs = !KEEPS_OUR_ID.test(host) && !REPLACES_OUR_ID.test(host)
  let known: string | null | undefined

  const ask = <T>(client: ImapFlow, asked: Promise<T>) => answered(client, asked, timings.commandMs, clock)

  /** Null: the server marks no folder as Sent. */
  const folder = async (): Promise<string | null> => {
    if (config.options.sent_folder !== undefined) return config.options.sent_folder
    if (known !== undefined) return known
    const list = await side.use((client) => ask(client, client.list()))
    known = list.find(({ specialUse }) => specialUse === '\\Sent')?.path ?? null
    return known
  }

  /** Servers search for a part of the header, so the whole value is compared here. */
  const isThere = async (client: ImapFlow, id: string): Promise<boolean> => {
    const found = await uidsOf(client, { header: { 'message-id': id } }, timings.commandMs, clock)
    if (found.length === 0) return false
    const query = { uid: true, headers: ['message-id'] }
    const mails = await ask(client, client.fetchAll(found.slice(-20).join(','), query, { uid: true }))
    return mails.some(({ headers }) => headers !== undefined && ownId(readHeaders(headers), () => '') === id)
  }

  const copy = async (raw: Buffer, id: string): Promise<void> => {
    const path = await folder()
    if (path === null) return
    await side.within(path, async (client) => {
      if (!(await isThere(client, id))) await ask(client, client.append(path, raw, ['\\Seen']))
    })
  }

  return {
    async keep(raw, id) {
      if (!isCopyOurs) return
      let cancel = () => undefined as unknown
      const late = new Promise<void>((resolve) => {
        cancel = clock.after(timings.settleMs, resolve)
      })
      const kept = copy(raw, id).catch((thrown: unknown) =>
        deps.log.warn({ problem: String(thrown).slice(0, 200) }, 'no copy of a sent mail was kept'),
      )
      await Promise.race([kept, late])
      cancel()
    },
    async reconcile({ op, key }) {
      if (op.kind !== 'text' && op.kind !== 'prompt' && op.kind !== 'file') return { outcome: 'absent' }
      const id = deps.ids.of(key)
      const path = await folder()
      if (path === null) return { outcome: 'unknown' }
      const found = await side.within(path, (client) => isThere(client, id))
      if (found === true) return { outcome: 'sent', receipt: { platformIds: [id] } }
      return { outcome: found === false && absenceCounts ? 'absent' : 'unknown' }
    },
  }
}
