// The places of one walk, each once: those the platform lists, and those Switchboard knows. The queue is bounded,
// whatever the platform lists.
import type { HistoryPlace } from '../../contract/index.ts'

const MOST_PLACES = 50_000
const MOST_LISTINGS = 5_000
/** Maximum length of an id, a position, and the name of a page. */
export const MOST_NAME_CHARS = 500

export interface QueuedPlace {
  readonly place: HistoryPlace
  /** `listed` by the platform, `found` while reading another place, or `known` to Switchboard from a conversation. */
  readonly by: 'listed' | 'found' | { readonly known: string }
}

export interface PlaceQueue {
  /** Adds a place once, up to the number that can be walked. */
  add(place: HistoryPlace, by: QueuedPlace['by']): void
  /** Puts a place behind all others. */
  putBack(queued: QueuedPlace): void
  /** Removes and returns the next places. */
  next(count: number): readonly QueuedPlace[]
  /** Whether the listing has another page that is worth asking for. */
  isNextPage(page: string | undefined): page is string
  /** The problem with the listing; null: none. */
  problem(): { readonly problem: string; readonly lasting: boolean } | null
}

export function createPlaceQueue(): PlaceQueue {
  const queue = new Map<string, QueuedPlace>()
  const seen = new Set<string>()
  const pages = new Set<string>()
  let problem: ReturnType<PlaceQueue['problem']> = null

  return {
    add(place, by) {
      if (place.id.length > MOST_NAME_CHARS || seen.has(place.id)) return
      if (seen.size >= MOST_PLACES) {
        problem = { problem: `there are more than ${MOST_PLACES} places`, lasting: true }
        return
      }
      seen.add(place.id)
      queue.set(place.id, { place, by })
    },
    putBack: (queued) => void queue.set(queued.place.id, queued),
    next(count) {
      const taken: QueuedPlace[] = []
      for (const queued of queue.values()) {
        if (taken.length >= count) break
        taken.push(queued)
      }
      for (const { place } of taken) queue.delete(place.id)
      return taken
    },
    isNextPage(page): page is string {
      if (page === undefined || seen.size >= MOST_PLACES) return false
      if (page.length <= MOST_NAME_CHARS * 10 && pages.size < MOST_LISTINGS && !pages.has(page)) {
        pages.add(page)
        return true
      }
      problem ??= { problem: 'the list of places does not come to an end', lasting: false }
      return false
    },
    problem: () => problem,
  }
}
