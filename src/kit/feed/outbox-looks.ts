// Queries the transcript for all readers of one outbox together: every few seconds, the new rows and the pending ones.
// The number of queries does not grow with the readers or with the pending rows.
import {
  type Cancel,
  type Clock,
  createSerial,
  type PlatformDeps,
  type TranscriptEntry,
} from '../../contract/index.ts'
import { type ReadOutbox, rowsOnTheirWay } from './outbox-rows.ts'

const PAGE = 100
/** The interval between looks. Sends of another node wake no reader here, so the outbox is polled. */
export const LOOK_MS = 5_000

export interface News {
  /** Conversation → its newest position. Null: not known, so each reader asks itself. */
  readonly places: ReadonlyMap<string, number> | null
  /** Positions of pending rows. Null: no reader waits for one. */
  readonly waiting: ReadonlySet<number> | null
}

/** A reader that takes part. */
export interface Looker {
  /** Whether it has passed pending rows. */
  waits(): boolean
  look(news: News): void
}

export interface OutboxLooks {
  join(reader: Looker): Cancel
  /** Pending positions, as of a moment after the call. Calls during a read share the next answer. */
  waiting(): Promise<ReadonlySet<number>>
  /** The start of a new reader of all conversations, as of a moment after the call. Shared likewise. */
  beginning(): Promise<Beginning>
}

export interface Beginning {
  /** The newest position. */
  readonly upTo: number
  /** Pending rows up to it. */
  readonly onItsWay: readonly Pick<TranscriptEntry, 'seq' | 'conversation'>[]
}

type LookDeps = Pick<PlatformDeps, 'transcript' | 'onItsWay'> & { readonly clock: Clock }

export function createOutboxLooks(deps: LookDeps): OutboxLooks {
  const readers = new Set<Looker>()
  const waiting = batched(() => readWaiting(deps))
  const beginning = batched(() => readBeginning(deps))
  /** The position of the last look; null: there was none yet. */
  let at: number | null = null
  let cancel: Cancel | null = null

  const readNews = async (): Promise<ReadonlyMap<string, number> | null> => {
    if (at === null) {
      const [newest] = await deps.transcript({ direction: 'out', limit: 1 })
      at = newest?.seq ?? 0
      return null
    }
    const rows = await deps.transcript({ direction: 'out', afterSeq: at, limit: PAGE })
    at = rows.at(-1)?.seq ?? at
    return rows.length < PAGE ? new Map(rows.map((row) => [row.conversation, row.seq])) : null
  }

  const look = async () => {
    let news: News = { places: null, waiting: null }
    try {
      const places = await readNews()
      const asked = [...readers].some((reader) => reader.waits())
      news = { places, waiting: asked ? await waiting() : null }
    } catch {
      // The store is unavailable. Each reader notices that itself.
    }
    for (const reader of readers) reader.look(news)
  }

  const keepLooking = () => {
    cancel = deps.clock.after(LOOK_MS, () => {
      void look()
      keepLooking()
    })
  }

  return {
    join(reader) {
      readers.add(reader)
      if (cancel === null) keepLooking()
      return () => {
        readers.delete(reader)
        if (readers.size > 0) return
        cancel?.()
        cancel = null
        at = null
      }
    },
    waiting,
    beginning,
  }
}

async function readBeginning({ transcript }: LookDeps): Promise<Beginning> {
  const [newest] = await transcript({ direction: 'out', limit: 1 })
  const upTo = newest?.seq ?? 0
  const read: ReadOutbox = (range) => transcript({ direction: 'out', ...range })
  return { upTo, onItsWay: await rowsOnTheirWay(read, PAGE, upTo) }
}

async function readWaiting({ onItsWay, transcript }: LookDeps): Promise<ReadonlySet<number>> {
  if (onItsWay) return new Set(await onItsWay())
  const rows = await rowsOnTheirWay((range) => transcript({ direction: 'out', ...range }), PAGE)
  return new Set(rows.map(({ seq }) => seq))
}

/** Answers all earlier calls with one read. A read begins when the one before it has ended. */
function batched<Answer>(read: () => Promise<Answer>): () => Promise<Answer> {
  const oneByOne = createSerial()
  let next: Promise<Answer> | null = null
  return () => {
    next ??= oneByOne(() => {
      next = null
      return read()
    })
    return next
  }
}
