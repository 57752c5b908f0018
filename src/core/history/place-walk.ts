// Reads the history of one place after its mark and compares it with the inbox. Missed messages are received in one
// commit with the mark, so a crash repeats a comparison, never a message.
//
// Entries of the last minute are not missed yet, because the live link may still bring them. Entries from before the
// present connect are different: no link brings them any more. They are received at once. The mark stays before them,
// because a platform may show a message in its history a little late. A link that resumes at its own position (`live`
// is absent) may still bring those entries too.
//
// The reader is external code. It may lie, return pages without end, ask for delays or hang. Nothing here grows or
// hangs because of it.
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
  type InboundMessage,
  type MarkMove,
  type Received,
  type Store,
} from '../../contract/index.ts'
import { GRACE_MS } from '../inbound/intake.ts'
import { keysOf, type Missed, missedIn } from './missed.ts'
import { MOST_NAME_CHARS, type QueuedPlace } from './place-queue.ts'

/** A time further in the future than this is not waited for. */
export const CLOCKS_DIFFER_MS = 300_000
/**
 * The difference allowed between two correct clocks. For entries this soon after a connect, the order of the history
 * decides whether they came before it, compared with a message that the connection brought.
 */
const CONNECT_LEEWAY_MS = 5_000
const PAGE_ENTRIES = 100
/** For one place in one walk. The next walk continues where this one ended. */
const MOST_PAGES = 1_000
/** Then other places follow, so a flood in one place does not delay them. */
const PAGES_AT_ONCE = 20
const MOST_TRIES = 5
const FIRST_WAIT_MS = 5_000
const MOST_WAIT_MS = 600_000
/** The position of a mark that only records since when a place is ours, before anything was read. */
const NO_POSITION = ''

/** The parts of the live link that a comparison needs. */
export interface LiveLink {
  /** Time of the present connect; null: there was none yet. */
  connectedAt(): number | null
  /** Whether the live link brought this message and it waits for its place to be compared. */
  waits(event: InboundMessage): boolean
  /** Increases with each connect. */
  connects(): number
  /** The place was compared to its end by a read that began under that connect. */
  looked(place: string, connects: number): void
}

export interface PlaceWalkDeps {
  readonly integration: string
  readonly reader: Pick<HistoryReader, 'read'>
  readonly store: Pick<Store, 'knownMessages' | 'forgetPlace'>
  readonly now: () => number
  /** `mark` null: the events are received, and no mark moves. */
  readonly late: (events: readonly InboundEvent[], mark: MarkMove | null) => Promise<readonly Received[]>
  /** Takes or renews the right to walk, before each place and each wait. False: another node walks. */
  readonly hold: () => Promise<MarkMove['fence'] | null | false>
  /** Rejects after a timeout, so a platform that never answers cannot block a walk. */
  readonly inTime: <Answer>(answer: Promise<Answer>) => Promise<Answer>
  /** Time of the first message known in a conversation; null: none. */
  readonly firstHeard: (conversation: string) => Promise<number | null>
  /** False: the walk was ended meanwhile. */
  readonly pause: (ms: number) => Promise<boolean>
  /** Pause between two reads: none after a connect, a short one in the background. */
  readonly gapMs: number
  readonly missed: (found: readonly Missed[]) => void
  /** The platform no longer has the messages of this span, so missed ones cannot be found. */
  readonly gap: (place: HistoryPlace, span: { readonly from: number; readonly to: number }) => Promise<void>
  /** A place that was found during the walk. */
  readonly found?: (place: HistoryPlace) => void
  /** Absent: the link may bring any recent message, including those from before its connect. */
  readonly live?: LiveLink | undefined
}

export class Ended extends Error {}

export type Problem = { readonly problem: string; readonly lasting: boolean }
/** `more`: other places come first. Null: the whole place was compared. */
export type PlaceEnd = Problem | 'more' | null

/** This walk's progress in a place. */
interface Progress {
  after: string | null
  pages: number
  /** Messages were received that the mark does not pass. Then the mark passes no later ones either. */
  markStays: boolean
  readonly passed: Set<string>
}

export interface PlaceWalk {
  /**
   * Asks the platform. It waits as requested, retries temporary errors, and rethrows the last error when it gives up.
   * Throws `Ended`.
   */
  asked<Answer>(ask: () => Promise<Answer>, tries?: number): Promise<Answer>
  /** Throws `Ended` when the walk was ended meanwhile. */
  rest(ms: number): Promise<void>
  /** Continues where this walk stopped in that place. */
  walk(queued: QueuedPlace, mark: HistoryMark | undefined): Promise<PlaceEnd>
  hasBegun(place: string): boolean
  readonly found: number
}

/** `marks: false`: receives missed messages and leaves every mark in place. */
export function createPlaceWalk(
  row: HistoryLinkRow,
  deps: PlaceWalkDeps,
  options: { readonly marks: boolean; readonly comparedAt: number | null },
): PlaceWalk {
  const { integration, reader, store, live } = deps
  const { comparedAt } = options
  /** Rows and keys older than this may be pruned, so it is unknown whether such a message was received. */
  const oldest = Math.min(row.comparedAt ?? row.beganAt, deps.now() - GRACE_MS - HISTORY_ROWS_MS)
  const begun = new Map<string, Progress>()
  let found = 0

  const asked = async <Answer>(ask: () => Promise<Answer>, tries = MOST_TRIES): Promise<Answer> => {
    for (let tried = 1, limited = 0; ; ) {
      await held()
      try {
        return await deps.inTime(ask())
      } catch (thrown) {
        const error = asSwitchboardError(thrown, 'platform_unavailable')
        const isLimit = error.code === 'rate_limited'
        if (!error.nature.retryable || (!isLimit && tried >= tries) || limited >= MOST_PAGES) throw error
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

  const compared = async (
    page: readonly HistoryEntry[],
    mark: MarkMove | null,
    { place, since }: { readonly place: HistoryPlace; readonly since: number },
  ) => {
    // Runs twice if the live link brought one of these messages meanwhile, because it may have been edited since.
    for (let round = 0; round < 2; round++) {
      const unknown = missedIn(page, await store.knownMessages(integration, keysOf(page)), since)
      const missing = unknown.filter(({ at }) => at >= oldest)
      const edits = missing.flatMap(({ includes }) => includes ?? [])
      const received = await deps.late([...missing.map(({ event }) => event), ...edits], mark)
      const fresh = missing.filter((_, at) => received[at]?.duplicate === false)
      found += fresh.length
      if (fresh.length > 0) deps.missed(fresh)
      const times = unknown.flatMap(({ at }) => (at < oldest ? [at] : []))
      if (options.marks && round === 0 && times.length > 0)
        await deps.gap(place, { from: Math.min(...times), to: Math.max(...times) })
      if (fresh.length === missing.length) return
    }
  }

  /**
   * A place without a mark is new or quiet. Messages from before Switchboard joined are not ours, even if the place is
   * listed now.
   */
  const firstSeen = async (by: QueuedPlace['by']): Promise<number> => {
    if (by === 'found') return row.beganAt
    const seen = by === 'listed' ? comparedAt : await deps.firstHeard(by.known)
    return Math.max(row.beganAt, (seen ?? 0) - CLOCKS_DIFFER_MS)
  }

  /** Records the start of the history for a place that cannot be read yet. */
  const keepFirstSeen = async ({ id }: HistoryPlace, at: number) => {
    const fence = await held()
    const move = { integration, place: id, position: NO_POSITION, at }
    await deps.late([], { ...move, ...defined({ fence: fence ?? undefined }) })
  }

  /** The mark moves with the firm entries. The other ripe entries are received before the mark passes them. */
  const receiveUpTo = async (
    place: HistoryPlace,
    entries: readonly HistoryEntry[],
    { firm, ripe, since }: { readonly firm: number; readonly ripe: number; readonly since: number },
  ) => {
    const last = entries[firm - 1]
    if (last !== undefined && last.position.length <= MOST_NAME_CHARS) {
      const fence = await held()
      const { position, at } = last
      const move = { integration, place: place.id, position, at, ...defined({ fence: fence ?? undefined }) }
      await compared(entries.slice(0, firm), move, { place, since })
    }
    if (ripe > firm) await compared(entries.slice(firm, ripe), null, { place, since })
  }

  /** Whether an entry from around the connect is still unknown. Then a later look may decide. */
  const mayBeEarlier = async (rest: readonly HistoryEntry[]): Promise<boolean> => {
    const connectedAt = live?.connectedAt() ?? null
    if (connectedAt === null) return false
    const near = rest.filter(
      ({ at, event }) => at < connectedAt + CONNECT_LEEWAY_MS && !isWaiting(event, live),
    )
    return missedIn(near, await store.knownMessages(integration, keysOf(near)), 0).length > 0
  }

  const walk = async (queued: QueuedPlace, mark: HistoryMark | undefined): Promise<PlaceEnd> => {
    const { place } = queued
    const connects = live?.connects() ?? 0
    // Entries after a mark came after the first connect, whatever the clocks showed then.
    const began = mark ? (mark.position === NO_POSITION ? mark.at : 0) : await firstSeen(queued.by)
    const joined = Math.max(place.since ?? 0, began)
    const since = Math.max(joined, oldest)
    const name = place.name ?? place.id
    const standsStill = { problem: `${name}: its history does not move on`, lasting: false }
    const progress = begun.get(place.id) ?? progressFrom(mark, !options.marks)
    for (let page = 0; page < PAGES_AT_ONCE; page++) {
      if (progress.pages >= MOST_PAGES)
        return { problem: `${name}: there is more than one walk takes`, lasting: false }
      const { after } = progress
      const answer = await asked(() => reader.read({ place, after, since, limit: PAGE_ENTRIES }))
      if ('unreadable' in answer) {
        if (answer.unreadable === 'forbidden') {
          if (options.marks && !mark && progress.pages === 0) await keepFirstSeen(place, joined)
          return { problem: `${name}: ${answer.detail}`, lasting: true }
        }
        if (mark && options.marks) await store.forgetPlace(integration, place.id)
        return null
      }
      for (const other of answer.places ?? []) deps.found?.(other)
      const { begins } = answer
      const from = Math.max(mark?.at ?? since, comparedAt ?? 0)
      if (options.marks && progress.pages === 0 && begins !== undefined && begins > from)
        await deps.gap(place, { from, to: begins })
      progress.pages += 1
      const entries = answer.entries.slice(0, PAGE_ENTRIES)
      const { firm, ripe } = ripeOf(entries, { now: deps.now(), live })
      const last = entries[ripe - 1]
      const isNew = last !== undefined && last.position !== after
      if (isNew) {
        if (last.position.length > MOST_NAME_CHARS || progress.passed.has(last.position)) return standsStill
        await receiveUpTo(place, entries, { firm: progress.markStays ? 0 : firm, ripe, since: joined })
        progress.markStays ||= firm < ripe
        progress.passed.add(last.position)
        progress.after = last.position
      }
      if (ripe < entries.length) {
        if (!(await mayBeEarlier(entries.slice(ripe)))) live?.looked(place.id, connects)
        return null
      }
      if (!answer.more && answer.entries.length <= PAGE_ENTRIES) {
        live?.looked(place.id, connects)
        return null
      }
      if (!isNew) return standsStill
      if (entries.length > 0 && deps.gapMs > 0) await rest(deps.gapMs)
    }
    begun.set(place.id, progress)
    return 'more'
  }

  return {
    asked,
    rest,
    async walk(queued, mark) {
      const end = await walk(queued, mark)
      if (end !== 'more') begun.delete(queued.place.id)
      return end
    },
    hasBegun: (place) => begun.has(place),
    get found() {
      return found
    },
  }
}

const progressFrom = (mark: HistoryMark | undefined, markStays: boolean): Progress => ({
  after: mark && mark.position !== NO_POSITION ? mark.position : null,
  pages: 0,
  markStays,
  passed: new Set(mark ? [mark.position] : []),
})

const isWaiting = (event: HistoryEntry['event'], live: LiveLink | undefined) =>
  event !== null && live?.waits(event) === true

/**
 * Returns how many entries of a page are received now (`ripe`), and how many of these the mark passes (`firm`).
 * Entries older than a minute are firm. A younger entry is ripe if it is from before the connect. It is also ripe
 * shortly after the connect, if it precedes a message that the connection brought.
 */
function ripeOf(
  entries: readonly HistoryEntry[],
  { now, live }: { readonly now: number; readonly live: LiveLink | undefined },
): { readonly firm: number; readonly ripe: number } {
  const connectedAt = live?.connectedAt() ?? null
  const isYoung = ({ at }: HistoryEntry) => at > now - GRACE_MS && at < now + CLOCKS_DIFFER_MS
  const lastWaiting = entries.findLastIndex(({ event }) => isWaiting(event, live))
  const mustWait = (entry: HistoryEntry, index: number) => {
    if (!isYoung(entry)) return false
    if (connectedAt === null) return true
    if (entry.at < connectedAt) return false
    const isBefore = index < lastWaiting && entry.at < connectedAt + CONNECT_LEEWAY_MS
    return !isBefore || isWaiting(entry.event, live)
  }
  const upTo = (isPast: (entry: HistoryEntry, index: number) => boolean) => {
    const at = entries.findIndex(isPast)
    return at < 0 ? entries.length : at
  }
  return { firm: upTo(isYoung), ripe: upTo(mustWait) }
}
