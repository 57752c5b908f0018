// Marks mails after they were received: seen, a keyword, another folder. This never happens before the commit. A
// failure is logged and changes nothing else, because the cursor knows what was received, not the flags.
import type { ImapFlow } from 'imapflow'
import type { Clock, Logger } from '../../../contract/index.ts'
import type { EmailConfig, Timings } from '../config.ts'
import { answered } from './imap-client.ts'

export async function careFor(
  client: ImapFlow,
  uids: string,
  {
    config,
    timings,
    clock,
    log,
  }: { readonly config: EmailConfig; readonly timings: Timings; readonly clock: Clock; readonly log: Logger },
): Promise<void> {
  const { seen, keyword, move_to } = config.options.after
  const flags = [...(seen ? ['\\Seen'] : []), ...(keyword === undefined ? [] : [keyword])]
  const ask = <T>(asked: Promise<T>) => answered(client, asked, timings.commandMs, clock)
  if (flags.length > 0 && !(await ask(client.messageFlagsAdd(uids, flags, { uid: true }))))
    log.warn({ uids }, 'mails could not be marked')
  if (move_to === undefined) return
  const moved = await ask(client.messageMove(uids, move_to, { uid: true }))
  if (moved !== false) return
  // A missing folder is created once. Moving is tried again with the next batch.
  await ask(client.mailboxCreate(move_to)).catch(() => undefined)
  if ((await ask(client.messageMove(uids, move_to, { uid: true }))) === false)
    log.warn({ folder: move_to }, 'mails could not be moved')
}
