// Reads the history of one place after its mark and compares it with the inbox. What was missed is received now, with the
// mark, in one commit: a crash repeats a comparison, never a message.
//
// What the live link may still bring is not missed yet: entries of the last minute are left alone. What was said before the
// present connection was made is different: no link brings it any more. It is received at once, and the mark stays before
// it, because a platform may show a message in its history a little late. Where the link itself reads on from where it
// stopped (`live` is absent), it may still bring that, too.
//
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
  type InboundMessage,
  type MarkMove,
  type Received,
  type Store,
} from '../../contract/index.ts'
import { keysOf, type Missed, missedIn } from './missed.ts'
import { MOST_NAME_CHARS, type QueuedPlace } from './place-queue.ts'

/** What is younger than this is not missed yet: the live link may still bring it. */
export const GRACE_MS = 60_000
/** A time further ahead than this is no time that could be waited for. */
export const CLOCKS_DIFFER_MS = 300_000
/**
 * So far two clocks that are both right may differ. Whether what was said this soon after a connect came before it is told
 * by the order of the history, beside a message that the connection brought.
 */
const CONNECT_LEEWAY_MS = 5_000
const PAGE_ENTRIES = 100
/** For one place in one walk; the next walk goes on where this one ended. */
const MOST_PAGES = 1_000
/** Then it is the turn of the others: a flood in one place keeps nobody waiting for its end. */
const PAGES_AT_ONCE = 20
const MOST_TRIES = 5
const FIRST_WAIT_MS = 5_000
const MOST_WAIT_MS = 600_000
/** Of a mark that says from when on a place is ours, before anything of it was read. */
const NO_POSITION = ''

/** The live link, as far as a comparison needs to know it. */
export interface LiveLink {
  /** When the present connection was made; null: there was none yet. */
  connectedAt(): number | null
  /** Whether this message came by it and waits for the look at its place. */
  waits(event: InboundMessage): boolean
  /** Grows with each connect. */
  connects(): number
  /** The place was compared to its end by a read that began under that connect. */
  looked(place: string, connects: number): void
}

export interface PlaceWalkDeps {
  readonly integration: string
  readonly reader: Pick<HistoryReader, 'read'>
  readonly store: Pick<Store, 'knownMessages' | 'forgetPlace'>
  readonly now: () => number
  /** `mark` null: it is received, and no mark moves. */
  readonly late: (events: readonly InboundEvent[], mark: MarkMove | null) => Promise<readonly Received[]>
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
  /** A place that was found on the way. */
  readonly found?: (place: HistoryPlace) => void
  /** Absent: it may bring all that is young, also what was said before it was made. */
  readonly live?: LiveLink | undefined
}

export class Ended extends Error {}

export type Problem = { readonly problem: string; readonly lasting: boolean }
/** `more`: others come first. Null: all of it was compared. */
export type PlaceEnd = Problem | 'more' | null

/** How far this walk came in a place. */
interface Progress {
  after: string | null
  pages: number
  /** Something was received that the mark does not pass: nor does it pass what comes behind. */
  markStays: boolean
  readonly passed: Set<string>
}

export interface PlaceWalk {
  /** Asks the platform; waits as it says, tries again what may pass, and gives up in the end. Throws `Ended`. */
  asked<Answer>(ask: () => Promise<Answer>, tries?: number): Promise<Answer>
  /** Throws `Ended` when the walk was ended meanwhile. */
  rest(ms: number): Promise<void>
  /** Goes on where this walk stopped in that place. */
  walk(queued: QueuedPlace, mark: HistoryMark | undefined): Promise<PlaceEnd>
  hasBegun(place: string): boolean
  readonly found: number
}

/** `marks: false`: it only receives what was missed, and leaves every mark where it is. */
export function createPlaceWalk(
  row: HistoryLinkRow,
  deps: PlaceWalkDeps,
  options: { readonly marks: boolean; readonly comparedAt: number | null },
): PlaceWalk {
  const { integration, reader, store, live } = deps
  const { comparedAt } = options
  /** Rows and keys that are older may be gone: whether such a message was received nobody can tell. */
  const oldest = Math.min(row.comparedAt ?? row.beganAt, deps.now() - GRACE_MS - HISTORY_ROWS_MS)
  const begun = new Map<string, Progress>()
  let found = 0

  /** Asks the platform; waits as it says, tries again what may pass, and gives up in the end. */
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
      if (options.marks && round === 0 && times.length > 0)
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

  /** The mark moves with those that are firm; the others are received before it. */
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

  /** Whether one that may have been said before the connect was not brought yet: then a later look may tell. */
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
    // What comes after a mark came after the first connect, whatever the clocks said then.
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
 * How many of a page are received now (`ripe`), and how many of these the mark passes (`firm`): what is older than a minute
 * is firm. Of what is younger, what was said before the connect is ripe; so is what stands shortly behind the connect and
 * before a message that the connection brought.
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
