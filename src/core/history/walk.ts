// One walk over the histories of an integration: every place that can be asked is read after its mark and compared with
// the inbox. What was missed is received now, with the mark, in one commit: a crash repeats a comparison, never a message.
// The reader is foreign: it may lie, page without end, ask to wait or fall silent, and nothing here grows or hangs for it.
import {
  asSwitchboardError,
  defined,
  HISTORY_ROWS_MS,
  type HistoryEntry,
  type HistoryLinkRow,
  type HistoryMark,
  type HistoryPlace,
  type HistoryReader,
  type InboundEvent,
  type KnownConversation,
  type MarkMove,
  type Received,
  type Store,
} from '../../contract/index.ts'
import { keysOf, type Missed, missedIn } from './missed.ts'
import { createPlaceQueue, MOST_NAME_CHARS, type QueuedPlace } from './place-queue.ts'

/** What is younger than this is not missed yet: the live link may still bring it. */
export const GRACE_MS = 60_000
const PAGE_ENTRIES = 100
/** For one place in one walk; the next walk goes on where this one ended. */
const MOST_PAGES = 1_000
/** Then it is the turn of the others: a flood in one place keeps nobody waiting for its end. */
const PAGES_AT_ONCE = 20
const MARKS_AT_ONCE = 500
/** Threads and chats that the listing does not show are walked while something was said there lately. */
const ACTIVE_FOR_MS = 7 * 24 * 3_600_000
const MOST_TRIES = 5
const FIRST_WAIT_MS = 5_000
const MOST_WAIT_MS = 600_000
/** A time further ahead than this is no time that could be waited for. */
const CLOCKS_DIFFER_MS = 300_000
const PROBLEMS_TOLD = 3
/** Of a mark that says from when on a place is ours, before anything of it was read. */
const NO_POSITION = ''

export interface WalkDeps {
  readonly integration: string
  readonly reader: HistoryReader
  readonly store: Pick<Store, 'historyMarks' | 'marksSince' | 'knownMessages' | 'forgetPlace'>
  readonly now: () => number
  readonly late: (events: readonly InboundEvent[], mark: MarkMove) => Promise<readonly Received[]>
  /** Conversations and threads in which something was said lately; asked only where the reader can name them. */
  /** Where something was said: all since then, and the newest of what is older. */
  readonly known: (sinceMs: number) => Promise<readonly KnownConversation[]>
  /** Takes or renews the right to walk, before each place and each wait. False: another node walks. */
  readonly hold: () => Promise<MarkMove['fence'] | null | false>
  /** Rejects when it takes too long: a platform that never answers holds up no walk. */
  readonly inTime: <Answer>(answer: Promise<Answer>) => Promise<Answer>
  /** When the river heard the first of a conversation; null: nothing yet. */
  readonly firstHeard: (conversation: string) => Promise<number | null>
  /** False: it was ended meanwhile. */
  readonly pause: (ms: number) => Promise<boolean>
  /** Between two reads: nothing after a connect, a little in the background. */
  readonly gapMs: number
  readonly missed: (found: readonly Missed[]) => void
  /** The platform has forgotten what was said there in between: nobody can tell any more. */
  readonly gap: (place: HistoryPlace, span: { readonly from: number; readonly to: number }) => Promise<void>
}

export interface WalkOutcome {
  /** `lost`: ended, or another node walks: nothing is to be said of it. */
  readonly end: 'walked' | 'lost'
  /** What was said before this was ripe when the walk began. */
  readonly upTo: number
  /** Why some could not be compared, for people. */
  readonly problem: string | null
  /** Every place that may be read was compared: whatever is wrong, trying again at once brings nothing. */
  readonly settled: boolean
  readonly places: number
  readonly found: number
}

class Ended extends Error {}

type Problem = { readonly problem: string; readonly lasting: boolean }
/** `more`: others come first. Null: all of it was compared. */
type PlaceEnd = Problem | 'more' | null

/** How far this walk came in a place. */
interface Progress {
  after: string | null
  pages: number
  readonly passed: Set<string>
}

export async function walkHistory(row: HistoryLinkRow, deps: WalkDeps): Promise<WalkOutcome> {
  const { integration, reader, store } = deps
  const upTo = deps.now() - GRACE_MS
  const problems: Problem[] = []
  // One that lies ahead was told by a clock that has been set back since: it proves nothing.
  const comparedAt = row.comparedAt !== null && row.comparedAt <= upTo ? row.comparedAt : null
  /** Rows and keys that are older may be gone: whether such a message was received nobody can tell. */
  const oldest = Math.min(row.comparedAt ?? row.beganAt, upTo - HISTORY_ROWS_MS)
  let found = 0
  let places = 0

  /** Asks the platform; waits as it says, tries again what may pass, and gives up in the end. */
  const asked = async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
    for (let tried = 1, limited = 0; ; ) {
      await held()
      try {
        return await deps.inTime(ask())
      } catch (thrown) {
        const error = asSwitchboardError(thrown, 'platform_unavailable')
        const isLimit = error.code === 'rate_limited'
        if (!error.nature.retryable || (!isLimit && tried >= MOST_TRIES) || limited >= MOST_PAGES) throw error
        const waitMs = error.retryAfterMs ?? FIRST_WAIT_MS * 2 ** (tried - 1)
        if (isLimit) limited += 1
        else tried += 1
        await rest(Math.min(Math.max(waitMs, 1), MOST_WAIT_MS))
      }
    }
  }

  const rest = async (ms: number) => {
    if (!(await deps.pause(ms))) throw new Ended()
  }

  const held = async (): Promise<MarkMove['fence'] | null> => {
    const fence = await deps.hold()
    if (fence === false) throw new Ended()
    return fence
  }

  const queue = createPlaceQueue()
  const begun = new Map<string, Progress>()

  const listed = async () => {
    const since = comparedAt ?? row.beganAt
    for (let page: string | undefined; ; ) {
      const from = defined({ page })
      const answer = await asked(() => reader.places({ since, ...from }))
      for (const place of answer.places) queue.add(place, 'listed')
      if (!queue.isNextPage(answer.next)) break
      page = answer.next
    }
    if (reader.placeOf) for (const one of await deps.known(since - GRACE_MS)) addKnown(one)
    // What was said lately in one place must not push the others out of sight.
    if (reader.placeOf) await addMarked()
  }

  /** Page by page: the queue says so where there are more than it takes. */
  const addMarked = async () => {
    const sinceMs = deps.now() - ACTIVE_FOR_MS
    for (let after: HistoryMark | undefined; ; ) {
      const page: readonly HistoryMark[] = await store.marksSince(integration, sinceMs, {
        limit: MARKS_AT_ONCE,
        ...defined({ after }),
      })
      for (const { place } of page) queue.add({ id: place }, 'found')
      after = page.at(-1)
      if (after === undefined || page.length < MARKS_AT_ONCE) return
    }
  }

  /** The reader is foreign: one place that it cannot name is no reason to walk no other. */
  const addKnown = (one: KnownConversation) => {
    try {
      const place = reader.placeOf?.(one)
      if (place) queue.add(place, { known: one.conversation })
    } catch (thrown) {
      const { message } = asSwitchboardError(thrown, 'platform_unavailable')
      if (problems.length === 0) problems.push({ problem: message, lasting: false })
    }
  }

  const compared = async (
    page: readonly HistoryEntry[],
    mark: MarkMove,
    { place, since }: { readonly place: HistoryPlace; readonly since: number },
  ) => {
    // Twice where the live link brought one of them in between: that one may have been edited since.
    for (let round = 0; round < 2; round++) {
      const unknown = missedIn(page, await store.knownMessages(integration, keysOf(page)), since)
      const missing = unknown.filter(({ at }) => at >= oldest)
      const edits = missing.flatMap(({ includes }) => includes ?? [])
      const received = await deps.late([...missing.map(({ event }) => event), ...edits], mark)
      const fresh = missing.filter((_, at) => received[at]?.duplicate === false)
      found += fresh.length
      if (fresh.length > 0) deps.missed(fresh)
      const times = unknown.flatMap(({ at }) => (at < oldest ? [at] : []))
      if (round === 0 && times.length > 0)
        await deps.gap(place, { from: Math.min(...times), to: Math.max(...times) })
      if (fresh.length === missing.length) return
    }
  }

  /** A place without a mark is new to us, or quiet: what was said there before we came is not ours, whoever lists it now. */
  const firstSeen = async (by: QueuedPlace['by']): Promise<number> => {
    if (by === 'found') return row.beganAt
    const seen = by === 'listed' ? comparedAt : await deps.firstHeard(by.known)
    return Math.max(row.beganAt, (seen ?? 0) - CLOCKS_DIFFER_MS)
  }

  /** Where history is to be asked from, kept for a place that may not be read yet. */
  const keepFirstSeen = async ({ id }: HistoryPlace, at: number) => {
    const fence = await held()
    const move = { integration, place: id, position: NO_POSITION, at }
    await deps.late([], { ...move, ...defined({ fence: fence ?? undefined }) })
  }

  const walkPlace = async (queued: QueuedPlace, mark: HistoryMark | undefined): Promise<PlaceEnd> => {
    const { place } = queued
    // What comes after a mark came after the first connect, whatever the clocks said then.
    const began = mark ? (mark.position === NO_POSITION ? mark.at : 0) : await firstSeen(queued.by)
    const joined = Math.max(place.since ?? 0, began)
    const since = Math.max(joined, oldest)
    const name = place.name ?? place.id
    const standsStill = { problem: `${name}: its history does not move on`, lasting: false }
    const progress = begun.get(place.id) ?? progressFrom(mark)
    for (let page = 0; page < PAGES_AT_ONCE; page++) {
      if (progress.pages >= MOST_PAGES)
        return { problem: `${name}: there is more than one walk takes`, lasting: false }
      const { after } = progress
      const answer = await asked(() => reader.read({ place, after, since, limit: PAGE_ENTRIES }))
      if ('unreadable' in answer) {
        if (answer.unreadable === 'forbidden') {
          if (!mark && progress.pages === 0) await keepFirstSeen(place, joined)
          return { problem: `${name}: ${answer.detail}`, lasting: true }
        }
        if (mark) await store.forgetPlace(integration, place.id)
        return null
      }
      for (const other of answer.places ?? []) queue.add(other, 'found')
      const { begins } = answer
      const from = Math.max(mark?.at ?? since, comparedAt ?? 0)
      if (progress.pages === 0 && begins !== undefined && begins > from)
        await deps.gap(place, { from, to: begins })
      progress.pages += 1
      const entries = answer.entries.slice(0, PAGE_ENTRIES)
      const now = deps.now()
      const young = entries.findIndex(({ at }) => at > now - GRACE_MS && at < now + CLOCKS_DIFFER_MS)
      const ripe = young < 0 ? entries : entries.slice(0, young)
      const last = ripe.at(-1)
      const isNew = last !== undefined && last.position !== after
      if (isNew) {
        const { position, at } = last
        if (position.length > MOST_NAME_CHARS || progress.passed.has(position)) return standsStill
        const fence = await held()
        const move = { integration, place: place.id, position, at, ...defined({ fence: fence ?? undefined }) }
        await compared(ripe, move, { place, since: joined })
        progress.passed.add(position)
        progress.after = position
      }
      if (young >= 0) return null
      if (!answer.more && answer.entries.length <= PAGE_ENTRIES) return null
      if (!isNew) return standsStill
      if (entries.length > 0 && deps.gapMs > 0) await rest(deps.gapMs)
    }
    begun.set(place.id, progress)
    return 'more'
  }

  /** Nothing was said there since it was looked at, by whichever clock. */
  const isQuiet = ({ activeAt }: HistoryPlace, mark: HistoryMark | undefined) =>
    activeAt !== undefined && activeAt <= Math.max(mark?.at ?? 0, (comparedAt ?? 0) - CLOCKS_DIFFER_MS)

  const walkAll = async () => {
    for (let batch = queue.next(MARKS_AT_ONCE); batch.length > 0; batch = queue.next(MARKS_AT_ONCE)) {
      const ids = batch.map(({ place }) => place.id)
      const marks = new Map(
        (await store.historyMarks(integration, ids)).map((mark) => [mark.place, mark] as const),
      )
      for (const queued of batch) {
        const { place } = queued
        const mark = marks.get(place.id)
        if (!begun.has(place.id)) {
          if (isQuiet(place, mark)) continue
          places += 1
        }
        const end = await walkPlace(queued, mark).catch((thrown): PlaceEnd => {
          const error = asSwitchboardError(thrown, 'platform_unavailable')
          if (thrown instanceof Ended || error.code === 'store_unavailable') throw thrown
          return { problem: `${place.name ?? place.id}: ${error.message}`, lasting: false }
        })
        if (end === 'more') queue.putBack(queued)
        else begun.delete(place.id)
        if (end !== null && end !== 'more') problems.push(end)
        if (deps.gapMs > 0) await rest(deps.gapMs)
      }
    }
    const listing = queue.problem()
    if (listing) problems.push(listing)
  }

  const outcome = (end: WalkOutcome['end'], problem: string | null): WalkOutcome => ({
    end,
    problem,
    upTo,
    settled: problems.every(({ lasting }) => lasting),
    ...{ places, found },
  })

  try {
    await listed()
    await walkAll()
  } catch (thrown) {
    if (thrown instanceof Ended) return outcome('lost', null)
    const { message } = asSwitchboardError(thrown, 'platform_unavailable')
    problems.push({ problem: message, lasting: false })
  }
  return outcome('walked', problemSummary(problems.map(({ problem }) => problem)))
}

const progressFrom = (mark: HistoryMark | undefined): Progress => ({
  after: mark && mark.position !== NO_POSITION ? mark.position : null,
  pages: 0,
  passed: new Set(mark ? [mark.position] : []),
})

function problemSummary(problems: readonly string[]): string | null {
  if (problems.length === 0) return null
  const more = problems.length - PROBLEMS_TOLD
  return problems.slice(0, PROBLEMS_TOLD).join('; ') + (more > 0 ? `; and ${more} more` : '')
}
