// The link to a mailbox: connect → open the folder → receive new mails in batches, with the cursor in the commit → wait
// by IDLE, and check at each poll interval anyway. Each check is a round trip with a deadline, so it detects a
// connection that is dead but looks open.
//
// A mailbox without a cursor is read from its end on. A renumbered one (UIDVALIDITY) is read again from its first mail
// since we began. Known mails are duplicates by their Message-ID. A mail that breaks the connection each time it is
// fetched is refused as unparsable after some tries, so that it does not block the mails behind it.
import type { ImapFlow } from 'imapflow'
import {
  asSwitchboardError,
  type Clock,
  type InboundEvent,
  type LinkLease,
  type Logger,
  type PlatformIntake,
  type Random,
  SwitchboardError,
} from '../../../contract/index.ts'
import { type Link, type LinkAttempt, type LinkState, pause, startLink } from '../../../kit/index.ts'
import type { EmailConfig, Timings } from '../config.ts'
import { type ListedMail, listMails, type MailReader } from '../mail/mail-reader.ts'
import { answered, uidsOf } from './imap-client.ts'
import { type Position, readPosition, writePosition } from './position.ts'

export interface MailboxLinkDeps {
  readonly config: EmailConfig
  readonly timings: Timings
  readonly connect: () => Promise<ImapFlow>
  readonly reader: MailReader
  readonly intake: PlatformIntake
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly lease?: LinkLease | undefined
  readonly tell: (link: LinkState) => void
}

const BATCH = 25
const LAST_UID = 4_294_967_295
const TRIES_OF_A_MAIL = 3

export function startMailboxLink(cursor: string | null, deps: MailboxLinkDeps): Link {
  const { config, timings, clock, random, log, lease, intake } = deps
  let position = readPosition(cursor)
  /** The last mail that lay there when the connection was made. */
  let standing = 0
  /** The mail at which the last connection broke, and how often. */
  let stumbled = { uid: 0, times: 0 }

  const store = async (events: readonly InboundEvent[], next: Position) => {
    const waited = next.uid <= standing
    await intake.receive(events, { cursor: writePosition(next), waited }).catch((thrown: unknown) => {
      const { code, message } = asSwitchboardError(thrown)
      // Another node has the lease now.
      if (code === 'conflict') throw new SwitchboardError('platform_unavailable', `not stored: ${message}`)
      throw thrown
    })
    position = next
  }

  /**
   * Marks mails after they were received: seen, a keyword, another folder. This never happens before the commit. A
   * failure is logged and changes nothing else, because the cursor knows what was received, not the flags.
   */
  const care = async (open: ImapFlow, uids: string): Promise<void> => {
    const { seen, keyword, move_to } = config.options.after
    const flags = [...(seen ? ['\\Seen'] : []), ...(keyword === undefined ? [] : [keyword])]
    const ask = <T>(asked: Promise<T>) => answered(open, asked, timings.commandMs, clock)
    if (flags.length > 0 && !(await ask(open.messageFlagsAdd(uids, flags, { uid: true }))))
      log.warn({ uids }, 'mails could not be marked')
    if (move_to === undefined) return
    const moved = await ask(open.messageMove(uids, move_to, { uid: true }))
    if (moved !== false) return
    // A missing folder is created once. Moving is tried again with the next batch.
    await ask(open.mailboxCreate(move_to)).catch(() => undefined)
    if ((await ask(open.messageMove(uids, move_to, { uid: true }))) === false)
      log.warn({ folder: move_to }, 'mails could not be moved')
  }

  /** Where to read from in the folder as it is now. */
  const begin = async (open: ImapFlow): Promise<Position> => {
    const box = await answered(open, open.mailboxOpen(config.options.mailbox), timings.commandMs, clock)
    const uidValidity = String(box.uidValidity)
    standing = Math.max(0, box.uidNext - 1)
    if (position === null) {
      const uid = Math.max(0, box.uidNext - 1)
      const first = { uidValidity, uid, batchFrom: uid + 1, since: clock.now(), renumbered: 0 }
      await store([], first)
      return first
    }
    if (position.uidValidity !== uidValidity) {
      log.warn({ mailbox: config.options.mailbox }, 'the mailbox was renumbered: it is walked again')
      return { ...position, uidValidity, uid: 0, batchFrom: 1, renumbered: Math.max(0, box.uidNext - 1) }
    }
    if (position.batchFrom <= position.uid) await care(open, `${position.batchFrom}:${position.uid}`)
    return position
  }

  const uidsIn = async (
    open: ImapFlow,
    from: number,
    to: number,
    since?: number,
  ): Promise<readonly number[]> => {
    // By day, as servers count; the exact time is looked at mail by mail.
    const day = since === undefined ? {} : { since: new Date(since - 86_400_000) }
    const found = await uidsOf(open, { uid: `${from}:${to}`, ...day }, timings.commandMs, clock)
    return found.filter((uid) => uid >= from && uid <= to).sort((a, b) => a - b)
  }

  const uidsAfter = async (open: ImapFlow, { uid, renumbered, since }: Position) => {
    const old = uid < renumbered ? await uidsIn(open, uid + 1, renumbered, since) : []
    return [...old, ...(await uidsIn(open, Math.max(uid, renumbered) + 1, LAST_UID))]
  }

  const eventOf = async (open: ImapFlow, mail: ListedMail): Promise<InboundEvent> => {
    if (stumbled.uid === mail.uid && stumbled.times >= TRIES_OF_A_MAIL) {
      log.warn({ uid: mail.uid }, 'a mail could not be fetched and is left')
      const sender = { id: 'unreadable' }
      const problem = `the mail ${mail.uid} could not be fetched in ${TRIES_OF_A_MAIL} tries`
      const messageId = `<uid.${mail.uidValidity}.${mail.uid}@unreadable>`
      return {
        kind: 'unparsable',
        conversation: 'unreadable',
        chat: 'direct',
        sender,
        at: mail.at,
        messageId,
        problem,
      }
    }
    try {
      return await deps.reader.eventOf(open, mail)
    } catch (thrown) {
      // A store that is away, or a worker that does not start, says nothing of the mail.
      if (asSwitchboardError(thrown).code !== 'platform_unavailable') throw thrown
      stumbled = { uid: mail.uid, times: stumbled.uid === mail.uid ? stumbled.times + 1 : 1 }
      throw thrown
    }
  }

  /** Takes all that is new. */
  const drain = async (open: ImapFlow, start: Position, signal: AbortSignal): Promise<Position> => {
    let at = start
    const uids = await uidsAfter(open, at)
    for (let done = 0; done < uids.length && !signal.aborted; done += BATCH) {
      const batch = uids.slice(done, done + BATCH)
      const mails = await listMails(open, batch, deps)
      const events: InboundEvent[] = []
      for (const mail of mails)
        if (mail.uid > at.renumbered || mail.at >= at.since - 1_000) events.push(await eventOf(open, mail))
      const next = { ...at, uid: batch.at(-1) ?? at.uid, batchFrom: batch[0] ?? at.batchFrom }
      await store(events, next)
      if (mails.length > 0) await care(open, batch.join(','))
      at = next
    }
    return at
  }

  const connect = async ({ signal, up }: LinkAttempt): Promise<undefined> => {
    const open = await deps.connect()
    let news = new AbortController()
    const rouse = () => news.abort()
    const end = () => {
      open.close()
      rouse()
    }
    open.on('exists', rouse)
    open.on('close', rouse)
    signal.addEventListener('abort', end)
    try {
      signal.throwIfAborted()
      let at = await begin(open)
      up({
        async probe() {
          await answered(open, open.noop(), timings.commandMs, clock).catch(() => undefined)
          return open.usable
        },
      })
      while (!signal.aborted && open.usable) {
        news = new AbortController()
        at = await drain(open, at, signal)
        await pause(clock, config.options.poll_interval, news.signal)
      }
    } finally {
      open.removeListener('exists', rouse)
      open.removeListener('close', rouse)
      open.close()
    }
  }

  return startLink({
    ...{ clock, random, log, lease, connect },
    report: deps.tell,
    connected: () => intake.connected?.(),
    retry: { baseMs: timings.retryBaseMs, maxMs: timings.retryMaxMs },
    probeMs: 2 * timings.commandMs,
    // Each command has its own deadline.
    connectMs: null,
    words: {
      failed: 'the mailbox cannot be read',
      lost: 'the lease of the mailbox was lost',
      elsewhere: 'another node reads the mailbox',
      unknown: 'the store does not say which node reads the mailbox',
    },
  })
}
