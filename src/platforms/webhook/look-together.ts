// What the readers of one hook ask of the transcript together: every few seconds, what is new and what still waits. However
// many they are and however much waits, a look is the same few queries; who has nothing to gain by it asks nothing more.
import {
  type Cancel,
  type Clock,
  createSerial,
  type PlatformDeps,
  type TranscriptEntry,
} from '../../contract/index.ts'

const PAGE = 100
/** How often the outbox is looked at unasked: what another node sent wakes nobody here. */
export const LOOK_MS = 5_000

export interface News {
  /** Conversation → its newest position. Null: not known, so whoever wants to know asks. */
  readonly places: ReadonlyMap<string, number> | null
  /** Positions that are still on their way. Null: nobody asked. */
  readonly waiting: ReadonlySet<number> | null
}

/** Whoever looks together with others. */
export interface Onlooker {
  /** It has passed rows that were on their way. */
  waits(): boolean
  look(news: News): void
}

export interface LookTogether {
  join(reader: Onlooker): Cancel
  /** Positions on their way, as of a moment after the call. Those who ask while it is read share the next answer. */
  waiting(): Promise<ReadonlySet<number>>
  /** Where a new reader of all conversations begins, as of a moment after the call; shared likewise. */
  beginning(): Promise<Beginning>
}

export interface Beginning {
  /** The newest position. */
  readonly upTo: number
  /** Rows up to it that are still on their way. */
  readonly onItsWay: readonly Pick<TranscriptEntry, 'seq' | 'conversation'>[]
}

type LookDeps = Pick<PlatformDeps, 'transcript' | 'onItsWay'> & { readonly clock: Clock }

export function createLookTogether(deps: LookDeps): LookTogether {
  const readers = new Set<Onlooker>()
  const waiting = gathered(() => readWaiting(deps))
  const beginning = gathered(() => readBeginning(deps))
  /** How far the last look came; null: there was none yet. */
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
      // The store is away: each finds that out, and tells its own reader.
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
  const onItsWay: TranscriptEntry[] = []
  for (let afterSeq = 0; ; ) {
    const range = { afterSeq, beforeSeq: upTo + 1, limit: PAGE }
    const page = await transcript({ direction: 'out', onItsWay: true, ...range })
    onItsWay.push(...page)
    if (page.length < PAGE) return { upTo, onItsWay }
    afterSeq = page.at(-1)?.seq ?? upTo
    // An embedded database answers at once: without a pause nothing else would run until the last page.
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
}

async function readWaiting(deps: LookDeps): Promise<ReadonlySet<number>> {
  if (deps.onItsWay) return new Set(await deps.onItsWay())
  const found = new Set<number>()
  for (let afterSeq = 0; ; ) {
    const page = await deps.transcript({ direction: 'out', onItsWay: true, afterSeq, limit: PAGE })
    for (const { seq } of page) found.add(seq)
    if (page.length < PAGE) return found
    afterSeq = page.at(-1)?.seq ?? afterSeq
  }
}

/** One read for all who ask before it begins; it begins when the one before it has ended. */
function gathered<Answer>(read: () => Promise<Answer>): () => Promise<Answer> {
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
