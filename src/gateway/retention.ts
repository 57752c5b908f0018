// Retention: deletes what is older than configured, in slices. Bodies and approval inputs, attachments on this disk and
// in the store, settled rows, and ledger entries behind a checkpoint have separate times; 0 keeps them.
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
/** Every checkpoint is itself an entry, so one a day is enough. */
const LEDGER_EVERY_MS = 24 * 3_600_000
/** Other commits wait during a slice: some milliseconds. */
const PAGE = 200
/** Rows of each kind per slice. They are deleted with their places and events, and other commits wait meanwhile. */
const ROW_PAGE = 200
/** Parts of files, of a MiB each. More at once would delay commits. */
const FILE_PAGE = 16
/** How long an expired callback answers 410; then it is unknown. */
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
  /** A retention of 0 keeps everything. Read each time, so a reload applies at once. */
  readonly tunables: () => RetentionTimes
}

export function keepPruning({ store, clock, log, attachments, tunables }: RetentionDeps): Cancel {
  let ledgerAt = Number.NEGATIVE_INFINITY

  /**
   * Runs slices until one is not full. After each it rests as long as the slice took, so half of the time is free for
   * other work.
   */
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
      // A body's time starts when its turn was settled, after waiting up to this long. Its files stay as long as it
      // does.
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
