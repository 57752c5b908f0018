// One walk over the histories of an integration: every readable place is compared with the inbox (place-walk.ts).
import {
  asSwitchboardError,
  defined,
  type HistoryLinkRow,
  type HistoryMark,
  type HistoryPlace,
  type HistoryReader,
  type KnownConversation,
  type Store,
} from '../../contract/index.ts'
import { GRACE_MS } from '../inbound/intake.ts'
import { createPlaceQueue } from './place-queue.ts'
import {
  CLOCKS_DIFFER_MS,
  createPlaceWalk,
  Ended,
  type PlaceEnd,
  type PlaceWalkDeps,
  type Problem,
} from './place-walk.ts'

const MARKS_AT_ONCE = 500
/** Threads and chats outside the listing are walked while they had recent messages. */
const ACTIVE_FOR_MS = 7 * 24 * 3_600_000
const PROBLEMS_TOLD = 3

export interface WalkDeps extends Omit<PlaceWalkDeps, 'found'> {
  readonly reader: HistoryReader
  readonly store: Pick<Store, 'historyMarks' | 'marksSince' | 'knownMessages' | 'forgetPlace'>
  /**
   * Conversations with messages: all since then, and the newest of the older ones. Called only if the reader can name
   * their places.
   */
  readonly known: (sinceMs: number) => Promise<readonly KnownConversation[]>
}

export interface WalkOutcome {
  /** `lost`: the walk was ended, or another node walks. Its result does not count. */
  readonly end: 'walked' | 'lost'
  /** Messages before this time were old enough to compare when the walk began. */
  readonly upTo: number
  /** Why some places could not be compared, for people. */
  readonly problem: string | null
  /** Every readable place was compared. An immediate retry would not help. */
  readonly settled: boolean
  readonly places: number
  readonly found: number
}

export async function walkHistory(row: HistoryLinkRow, deps: WalkDeps): Promise<WalkOutcome> {
  const { integration, reader, store } = deps
  const upTo = deps.now() - GRACE_MS
  const problems: Problem[] = []
  const comparedAt = lastCompared(row, deps.now())
  const queue = createPlaceQueue()
  const walk = createPlaceWalk(
    row,
    { ...deps, found: (place) => queue.add(place, 'found') },
    { marks: true, comparedAt },
  )
  let places = 0

  const since = comparedAt ?? row.beganAt
  let listingAt: string | undefined

  /** Continues with the page that failed. */
  const addListed = async (tries?: number) => {
    for (;;) {
      const page = defined({ page: listingAt })
      const answer = await walk.asked(() => reader.places({ since, ...page }), tries)
      for (const place of answer.places) queue.add(place, 'listed')
      for (const { detail, lasting } of answer.unlisted ?? []) problems.push({ problem: detail, lasting })
      if (!queue.isNextPage(answer.next)) return
      listingAt = answer.next
    }
  }

  const addOwn = async () => {
    if (!reader.placeOf) return
    for (const one of await deps.known(since - GRACE_MS)) addKnown(one)
    // Many recent messages in one place must not hide the other places.
    await addMarked()
  }

  /**
   * A failing listing does not delay the places that Switchboard knows. They are compared before the listing is
   * retried.
   */
  const walkPlaces = async () => {
    const failure = await addListed(1).then(
      () => null,
      (thrown: unknown) => thrown,
    )
    if (failure instanceof Ended) throw failure
    await addOwn()
    await walkAll()
    if (failure === null) return
    await addListed().catch((thrown: unknown) => {
      if (thrown instanceof Ended) throw thrown
      const { message } = asSwitchboardError(thrown, 'platform_unavailable')
      problems.push({ problem: `its places could not be listed: ${message}`, lasting: false })
    })
    await walkAll()
  }

  /** Page by page. The queue reports when there are too many. */
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

  /** The reader is external code. A place that it cannot name does not stop the walk. */
  const addKnown = (one: KnownConversation) => {
    try {
      const place = reader.placeOf?.(one)
      if (place) queue.add(place, { known: one.conversation })
    } catch (thrown) {
      const { message } = asSwitchboardError(thrown, 'platform_unavailable')
      if (problems.length === 0) problems.push({ problem: message, lasting: false })
    }
  }

  /** The place had no messages since it was compared, by either clock. */
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
        if (!walk.hasBegun(place.id)) {
          if (isQuiet(place, mark)) continue
          places += 1
        }
        const end = await walk.walk(queued, mark).catch((thrown): PlaceEnd => {
          const error = asSwitchboardError(thrown, 'platform_unavailable')
          if (thrown instanceof Ended || error.code === 'store_unavailable') throw thrown
          return { problem: `${place.name ?? place.id}: ${error.message}`, lasting: false }
        })
        if (end === 'more') queue.putBack(queued)
        if (end !== null && end !== 'more') problems.push(end)
        if (deps.gapMs > 0) await walk.rest(deps.gapMs)
      }
    }
  }

  const outcome = (end: WalkOutcome['end'], problem: string | null): WalkOutcome => ({
    end,
    problem,
    upTo,
    settled: problems.every(({ lasting }) => lasting),
    ...{ places, found: walk.found },
  })

  try {
    await walkPlaces()
  } catch (thrown) {
    if (thrown instanceof Ended) return outcome('lost', null)
    const { message } = asSwitchboardError(thrown, 'platform_unavailable')
    problems.push({ problem: message, lasting: false })
  }
  const listing = queue.problem()
  if (listing) problems.push(listing)
  return outcome('walked', problemSummary(problems.map(({ problem }) => problem)))
}

/**
 * The time up to which everything was compared. A time in the future was recorded before the clock was set back, and
 * proves nothing.
 */
const lastCompared = (row: HistoryLinkRow, now: number): number | null =>
  row.comparedAt !== null && row.comparedAt <= now - GRACE_MS ? row.comparedAt : null

/** Compares one place now and receives its missed messages. No mark moves, so the next walk compares it again. */
export async function lookAt(
  place: HistoryPlace,
  row: HistoryLinkRow,
  deps: Omit<WalkDeps, 'known'>,
): Promise<void> {
  const comparedAt = lastCompared(row, deps.now())
  const walk = createPlaceWalk(row, deps, { marks: false, comparedAt })
  const [mark] = await deps.store.historyMarks(deps.integration, [place.id])
  while ((await walk.walk({ place, by: 'listed' }, mark)) === 'more');
}

function problemSummary(problems: readonly string[]): string | null {
  if (problems.length === 0) return null
  const more = problems.length - PROBLEMS_TOLD
  return problems.slice(0, PROBLEMS_TOLD).join('; ') + (more > 0 ? `; and ${more} more` : '')
}
