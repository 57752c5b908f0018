// Retention: what is older than configured goes, a slice at a time. Bodies and approval inputs, attachments on this disk
// and in the store, settled rows, and ledger entries behind a checkpoint; each by its own time, and 0 keeps it.
import {
  type Cancel,
  type Clock,
  type Logger,
  OVERHEARD_MS,
  type Store,
  type Tunables,
} from '../contract/index.ts'
import { keepDoing } from '../core/keep-doing.ts'
import { pruneAttachmentFolder } from './files/attachment-folder.ts'

const EVERY_MS = 10 * 60_000
/** Every checkpoint is an entry itself: once a day is enough of them. */
const LEDGER_EVERY_MS = 24 * 3_600_000
/** Other commits wait while one of these is made: some milliseconds. */
const PAGE = 200
/** Rows of each kind: they go with their places and events, and other commits wait meanwhile. */
const ROW_PAGE = 200
/** Parts of files, of a MiB each: deleting more of them at once would hold up commits. */
const FILE_PAGE = 16
/** An expired callback is answered 410 for so long; then it is as unknown as any other. */
const EXPIRED_TOKENS_STAY_MS = 24 * 3_600_000

const LONGEST_REST_MS = 1_000

export type RetentionTimes = Pick<
  Tunables,
  'bodyRetentionMs' | 'attachmentRetentionMs' | 'rowRetentionMs' | 'ledgerRetentionMs' | 'queueExpiryMs'
>

export interface RetentionDeps {
  readonly store: Pick<
    Store,
    'pruneBodies' | 'forgetOverheard' | 'pruneFiles' | 'pruneTokens' | 'pruneRows' | 'pruneLedger'
  >
  readonly clock: Clock
  readonly log: Logger
  /** Where this node keeps attachments; absent: nowhere. */
  readonly attachments?: string | undefined
  /** A retention of 0 keeps everything. Asked each time: a reload holds at once. */
  readonly tunables: () => RetentionTimes
}

export function keepPruning({ store, clock, log, attachments, tunables }: RetentionDeps): Cancel {
  let ledgerAt = Number.NEGATIVE_INFINITY

  /** A slice after another, until one is not full; after each a rest as long as it took, so that half of the time is others'. */
  const inSlices = async (stopped: () => boolean, slice: () => Promise<number>, full: number) => {
    let total = 0
    for (;;) {
      const began = clock.now()
      const gone = await slice()
      total += gone
      if (gone < full || stopped()) return total
      await rest(clock.now() - began)
    }
  }

  const rest = (ms: number) =>
    new Promise<void>((resolve) => {
      if (ms <= 0) setImmediate(resolve)
      else clock.after(Math.min(ms, LONGEST_REST_MS), resolve)
    })

  const prune = async (stopped: () => boolean) => {
    await inSlices(stopped, () => store.pruneTokens(EXPIRED_TOKENS_STAY_MS, PAGE), PAGE)
    await inSlices(stopped, () => store.forgetOverheard(OVERHEARD_MS, PAGE), PAGE)
    const times = tunables()
    const gone = { bodies: 0, files: 0, rows: 0, entries: 0 }
    if (times.bodyRetentionMs > 0)
      gone.bodies = await inSlices(stopped, () => store.pruneBodies(times.bodyRetentionMs, PAGE), PAGE)
    if (times.attachmentRetentionMs > 0) {
      // A body is kept from when its turn was settled, and that may have waited so long: its files stay as long as it does.
      const filesMs = times.attachmentRetentionMs + times.queueExpiryMs
      await inSlices(stopped, () => store.pruneFiles(filesMs, FILE_PAGE), FILE_PAGE)
      if (attachments !== undefined)
        gone.files = await pruneAttachmentFolder(attachments, clock.now() - filesMs, stopped)
    }
    if (times.rowRetentionMs > 0)
      gone.rows = await inSlices(stopped, () => store.pruneRows(times.rowRetentionMs, ROW_PAGE), 1)
    if (times.ledgerRetentionMs > 0 && Math.abs(clock.now() - ledgerAt) >= LEDGER_EVERY_MS) {
      ledgerAt = clock.now()
      gone.entries = await inSlices(stopped, () => store.pruneLedger(times.ledgerRetentionMs, PAGE), PAGE)
    }
    if (Object.values(gone).some((count) => count > 0))
      log.info(gone, 'what is older than its retention went')
  }
  return keepDoing(clock, EVERY_MS, prune, (thrown) =>
    log.warn({ error: String(thrown) }, 'what is older than its retention could not be dropped'),
  )
}
