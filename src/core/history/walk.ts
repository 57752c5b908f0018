// One walk over the histories of an integration: every place that can be asked is read after its mark and compared with
// the inbox. What was missed is received now, with the mark, in one commit: a crash repeats a comparison, never a message.
// The reader is foreign: it may lie, page without end, ask to wait or fall silent, and nothing here grows or hangs for it.
import {
  asSwitchboardError,
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

/** What is younger than this is not missed yet: the live link may still bring it. */
export const GRACE_MS = 60_000
const PAGE_ENTRIES = 100
/** For one place in one walk; the next walk goes on where this one ended. */
const MOST_PAGES = 1_000
const MOST_PLACES = 50_000
const MARKS_AT_ONCE = 500
const MOST_TRIES = 5
const FIRST_WAIT_MS = 5_000
const MOST_WAIT_MS = 600_000
const MOST_POSITION_CHARS = 500
/** A time further ahead than this is no time that could be waited for. */
const CLOCKS_DIFFER_MS = 300_000
const PROBLEMS_TOLD = 3

export interface WalkDeps {
  readonly integration: string
  readonly reader: HistoryReader
  readonly store: Pick<Store, 'historyMarks' | 'knownMessages' | 'forgetPlace'>
  readonly now: () => number
  readonly late: (events: readonly InboundEvent[], mark: MarkMove) => Promise<readonly Received[]>
  /** Conversations and threads in which something was said lately; asked only where the reader can name them. */
  readonly known: () => Promise<readonly KnownConversation[]>
  /** Takes or renews the right to walk, before each place and each wait. False: another node walks. */
  readonly hold: () => Promise<MarkMove['fence'] | null | false>
  /** Rejects when it takes too long: a platform that never answers holds up no walk. */
  readonly inTime: <Answer>(answer: Promise<Answer>) => Promise<Answer>
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

type PlaceEnd = { readonly problem: string; readonly lasting: boolean } | null

export async function walkHistory(row: HistoryLinkRow, deps: WalkDeps): Promise<WalkOutcome> {
  const { integration, reader, store } = deps
  const upTo = deps.now() - GRACE_MS
  const problems: { readonly problem: string; readonly lasting: boolean }[] = []
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

  /** Listed places and those that the river knows, each once. */
  const queue = new Map<string, HistoryPlace>()
  const seen = new Set<string>()
  const wanted = (place: HistoryPlace) => {
    if (place.id.length > MOST_POSITION_CHARS || seen.has(place.id)) return
    if (seen.size >= MOST_PLACES) {
      if (problems.every(({ problem }) => problem !== TOO_MANY))
        problems.push({ problem: TOO_MANY, lasting: true })
      return
    }
    seen.add(place.id)
    queue.set(place.id, place)
  }

  const listed = async () => {
    if (reader.placeOf)
      for (const one of await deps.known()) {
        const place = reader.placeOf(one)
        if (place) wanted(place)
      }
    const pages = new Set<string>()
    const since = row.comparedAt ?? row.beganAt
    for (let page: string | undefined; ; ) {
      const from = page === undefined ? {} : { page }
      const answer = await asked(() => reader.places({ since, ...from }))
      for (const place of answer.places) wanted(place)
      page = answer.next
      if (page === undefined || pages.has(page) || seen.size >= MOST_PLACES) return
      pages.add(page)
    }
  }

  const compared = async (page: readonly HistoryEntry[], mark: MarkMove, since: number) => {
    // Twice where the live link brought one of them in between: that one may have been edited since.
    for (let round = 0; round < 2; round++) {
      const missing = missedIn(page, await store.knownMessages(integration, keysOf(page)), since)
      const events = missing.map((one) => one.event)
      const received = await deps.late(events, mark)
      const fresh = missing.filter((_, at) => received[at]?.duplicate === false)
      found += fresh.length
      if (fresh.length > 0) deps.missed(fresh)
      if (fresh.length === missing.length) return
    }
  }

  const walkPlace = async (place: HistoryPlace, mark: HistoryMark | undefined): Promise<PlaceEnd> => {
    const since = Math.max(place.since ?? 0, row.beganAt)
    const passed = new Set<string>(mark ? [mark.position] : [])
    let after = mark?.position ?? null
    for (let page = 0; page < MOST_PAGES; page++) {
      const answer = await asked(() => reader.read({ place, after, since, limit: PAGE_ENTRIES }))
      if ('unreadable' in answer) {
        if (answer.unreadable === 'gone') {
          if (mark) await store.forgetPlace(integration, place.id)
          return null
        }
        return { problem: `${place.name ?? place.id}: ${answer.detail}`, lasting: true }
      }
      for (const other of answer.places ?? []) wanted(other)
      const { begins } = answer
      if (page === 0 && begins !== undefined && begins > (mark?.at ?? since))
        await deps.gap(place, { from: mark?.at ?? since, to: begins })
      const entries = answer.entries.slice(0, PAGE_ENTRIES)
      const now = deps.now()
      const young = entries.findIndex(({ at }) => at > now - GRACE_MS && at < now + CLOCKS_DIFFER_MS)
      const ripe = young < 0 ? entries : entries.slice(0, young)
      const last = ripe.at(-1)
      const isNew = last !== undefined && last.position !== after
      if (isNew) {
        if (last.position.length > MOST_POSITION_CHARS || passed.has(last.position))
          return { problem: `${place.name ?? place.id}: its history does not move on`, lasting: false }
        const fence = await held()
        const { position, at } = last
        const move = { integration, place: place.id, position, at, ...(fence ? { fence } : {}) }
        await compared(ripe, move, since)
        passed.add(position)
        after = position
      }
      if (young >= 0) return null
      if (!answer.more && answer.entries.length <= PAGE_ENTRIES) return null
      if (!isNew)
        return { problem: `${place.name ?? place.id}: its history does not move on`, lasting: false }
      if (entries.length > 0 && deps.gapMs > 0) await rest(deps.gapMs)
    }
    return { problem: `${place.name ?? place.id}: there is more than one walk takes`, lasting: false }
  }

  const walkAll = async () => {
    while (queue.size > 0) {
      const batch = [...queue.values()].slice(0, MARKS_AT_ONCE)
      const marks = new Map(
        (
          await store.historyMarks(
            integration,
            batch.map(({ id }) => id),
          )
        ).map((mark) => [mark.place, mark]),
      )
      for (const place of batch) {
        queue.delete(place.id)
        const mark = marks.get(place.id)
        if (place.activeAt !== undefined && place.activeAt <= Math.max(mark?.at ?? 0, row.comparedAt ?? 0))
          continue
        places += 1
        const end = await walkPlace(place, mark).catch((thrown): PlaceEnd => {
          const error = asSwitchboardError(thrown, 'platform_unavailable')
          if (thrown instanceof Ended || error.code === 'store_unavailable') throw thrown
          return { problem: `${place.name ?? place.id}: ${error.message}`, lasting: false }
        })
        if (end) problems.push(end)
        if (deps.gapMs > 0) await rest(deps.gapMs)
      }
    }
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
  return outcome('walked', told(problems.map(({ problem }) => problem)))
}

const TOO_MANY = `there are more than ${MOST_PLACES} places`

function told(problems: readonly string[]): string | null {
  if (problems.length === 0) return null
  const more = problems.length - PROBLEMS_TOLD
  return problems.slice(0, PROBLEMS_TOLD).join('; ') + (more > 0 ? `; and ${more} more` : '')
}
