// The link to chat.db. It reads new rows by ROWID after every change, behind a durable cursor. A message waits until
// its chat is written. Changes in place (edits, unsent messages) are searched among the newest messages. If another
// file is at the path, or the rows differ from those read before, reading continues behind the last known message.
import {
  type Clock,
  createBoundedMap,
  type InboundEvent,
  type LinkLease,
  type Logger,
  type PlatformIntake,
  type Random,
  SwitchboardError,
} from '../../contract/index.ts'
import {
  type Link,
  type LinkAttempt,
  type LinkEnding,
  type LinkState,
  pause,
  startLink,
} from '../../kit/index.ts'
import type { ChatDb, MessageRow, RowState } from './chat-db.ts'
import type { Timings } from './config.ts'

interface Cursor {
  readonly rowid: number
  readonly guid: string
  readonly at: number
  /** The first row of the first connect. Older rows are never received. */
  readonly first: number
  readonly since: number
}

export interface WatchDeps {
  readonly timings: Timings
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly open: () => ChatDb
  readonly intake: PlatformIntake
  /** With several nodes, only the holder reads and stores the position. */
  readonly lease?: LinkLease | undefined
  readonly eventOf: (row: MessageRow) => Promise<InboundEvent | null>
  readonly tell: (link: LinkState) => void
}

export interface Watch extends Pick<Link, 'renew' | 'stop'> {
  db(): ChatDb
}

/** The rows per turn of the event loop. Each may be as long as a text can be. */
const PAGE = 50
const NEWEST = 200
const REMEMBERED = 1_000
/** Clocks may differ by this much. Older messages came before the first connect. */
const LEEWAY_MS = 60_000

export function startWatch(stored: string | null, deps: WatchDeps): Watch {
  const { timings, clock, random, log, lease, intake } = deps
  const versions = createBoundedMap<string, string>(REMEMBERED)
  const waiting = createBoundedMap<string, number>(REMEMBERED)
  let cursor = readCursor(stored)
  let isKept = cursor !== null
  let open: ChatDb | null = null

  /** Continues at the cursor, unless the rows are not those of the cursor. */
  const place = (db: ChatDb): void => {
    if (cursor === null) {
      const row = db.upTo(Number.MAX_SAFE_INTEGER)
      const rowid = row?.rowid ?? 0
      cursor = { rowid, guid: row?.guid ?? '', at: row?.at ?? 0, first: rowid, since: clock.now() }
      return
    }
    const found = cursor.guid === '' ? cursor.rowid : db.rowidOf(cursor.guid)
    if (found === cursor.rowid) return
    const row = found === null ? lastKnown(db, cursor) : { rowid: found }
    log.warn(
      { was: cursor.rowid, is: row.rowid },
      found === null
        ? 'the last message that was read is gone from chat.db: it goes on from those before it'
        : 'chat.db was renumbered: it goes on from the last message that is known',
    )
    cursor = { ...cursor, ...row, first: Math.min(cursor.first, row.rowid) }
    isKept = false
  }

  /** A new cursor is stored at once, so that messages during a pause count as new, even if none came before. */
  const keepCursor = async (): Promise<void> => {
    if (isKept) return
    await intake.receive([], { cursor: JSON.stringify(cursor) })
    isKept = true
  }

  /** True: the row and those behind it must wait for its chat. */
  const waits = (row: MessageRow): boolean => {
    if (row.chat !== null) {
      waiting.delete(row.guid)
      return false
    }
    const since = waiting.get(row.guid) ?? clock.now()
    const isLong = clock.now() - since >= timings.joinMs
    if (isLong) waiting.delete(row.guid)
    else waiting.set(row.guid, since)
    return !isLong
  }

  const takeNew = async (db: ChatDb): Promise<void> => {
    for (;;) {
      const rows = db.after(cursor?.rowid ?? 0, PAGE)
      const events: InboundEvent[] = []
      let last: MessageRow | null = null
      let held = false
      for (const row of rows) {
        if (waits(row)) {
          held = true
          break
        }
        last = row
        const event = await newEventOf(row)
        if (event !== null) events.push(event)
      }
      if (last !== null && cursor !== null) {
        const next: Cursor = { ...cursor, rowid: last.rowid, guid: last.guid, at: last.at }
        await intake.receive(events, { cursor: JSON.stringify(next) })
        cursor = next
      }
      if (held || rows.length < PAGE) return
    }
  }

  /** After a recovery, old messages have new numbers. They were written before the first connect. */
  const newEventOf = async (row: MessageRow): Promise<InboundEvent | null> => {
    if (row.at < (cursor?.since ?? 0) - LEEWAY_MS) return null
    versions.set(row.guid, stampOf(row))
    const event = await deps.eventOf(row)
    // A message that was edited before we saw it counts as a new message.
    return event?.kind === 'edit' ? { ...event, kind: 'message' } : event
  }

  const takeChanged = async (db: ChatDb): Promise<void> => {
    const from = Math.max(cursor?.first ?? 0, (cursor?.rowid ?? 0) - NEWEST * 5)
    for (const state of db.changed(from, NEWEST)) {
      if (state.rowid > (cursor?.rowid ?? 0) || versions.get(state.guid) === stampOf(state)) continue
      const row = db.byGuid(state.guid)
      if (row === null) continue
      if (row.at < (cursor?.since ?? 0) - LEEWAY_MS) continue
      const event = await deps.eventOf(row)
      if (event?.kind === 'edit' || event?.kind === 'delete') await intake.receive([event])
      versions.set(row.guid, stampOf(row))
    }
  }

  /** Reads until the connection must end, or another file is at the path: a restored or synced one. */
  const read = async (db: ChatDb, signal: AbortSignal): Promise<void> => {
    for (let version = -1; !signal.aborted && db.isInPlace(); ) {
      try {
        const now = db.version()
        if (now !== version || waiting.size > 0) {
          place(db)
          await keepCursor()
          await takeNew(db)
          await takeChanged(db)
          version = now
        }
        await pause(clock, timings.pollMs, signal)
      } catch (thrown) {
        // A failure to store is not the database's fault, so the rows are read again.
        if (!(thrown instanceof SwitchboardError) || thrown.nature.fault === 'platform') throw thrown
        version = -1
        await pause(clock, timings.retryMs, signal)
      }
    }
  }

  const connect = async ({ signal, up }: LinkAttempt): Promise<LinkEnding> => {
    const db = deps.open()
    try {
      place(db)
      open = db
      up()
      await read(db, signal)
    } catch (thrown) {
      if (thrown instanceof SwitchboardError) throw thrown
      throw new SwitchboardError('platform_unavailable', 'chat.db could not be read')
    } finally {
      open = null
      db.close()
    }
    return { why: 'another chat.db lies at the path' }
  }

  const link = startLink({
    ...{ clock, random, log, lease, connect },
    report: deps.tell,
    connected: () => intake.connected?.(),
    retry: { baseMs: timings.retryMs, maxMs: timings.retryMs },
    // Another file at the path is opened at once.
    steadyMs: 0,
    downAfter: 1,
    words: {
      failed: 'chat.db cannot be read now',
      lost: 'the lease of chat.db was lost',
      elsewhere: 'another node reads chat.db',
      unknown: 'the store does not say which node reads chat.db',
    },
  })

  return {
    renew: link.renew,
    stop: link.stop,
    db() {
      if (open === null) throw new SwitchboardError('platform_unavailable', 'chat.db cannot be read now')
      return open
    },
  }
}

/**
 * Returns the last row before a missing one. The number or the time decides, whichever is lower. A row that is read
 * twice is recognised by its guid, but a skipped row would be lost.
 */
function lastKnown(db: ChatDb, cursor: Cursor): Pick<Cursor, 'rowid' | 'guid' | 'at'> {
  const row = db.upTo(Math.min(cursor.rowid, db.rowidAt(cursor.at) - 1))
  return { rowid: row?.rowid ?? 0, guid: row?.guid ?? '', at: row?.at ?? 0 }
}

function stampOf({ editedAt, retractedAt, empty, summarySize }: RowState): string {
  return `${editedAt}:${retractedAt}:${empty}:${summarySize}`
}

function readCursor(stored: string | null): Cursor | null {
  if (stored === null) return null
  try {
    const { rowid, guid, at, first, since } = JSON.parse(stored) as Partial<Cursor>
    const numbers = [rowid, at, first, since].every((one) => Number.isFinite(one))
    return numbers && typeof guid === 'string' ? (JSON.parse(stored) as Cursor) : null
  } catch {
    return null
  }
}
