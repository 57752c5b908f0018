// The places of one walk, each once: those that the platform lists, and those that the river knows. Bounded, whatever is listed.
import type { HistoryPlace } from '../../contract/index.ts'

const MOST_PLACES = 50_000
const MOST_LISTINGS = 5_000
/** Of an id, a position and the name of a page. */
export const MOST_NAME_CHARS = 500

export interface PlaceQueue {
  /** Once, whoever names it; never more than can be walked. */
  add(place: HistoryPlace): void
  /** Its turn comes again after all others. */
  putBack(place: HistoryPlace): void
  /** Takes those that come next out of it. */
  next(count: number): readonly HistoryPlace[]
  /** Whether the listing has another page that is worth asking for. */
  isNextPage(page: string | undefined): page is string
  /** What is wrong with what was listed. Null: nothing. */
  problem(): { readonly problem: string; readonly lasting: boolean } | null
}

export function createPlaceQueue(): PlaceQueue {
  const queue = new Map<string, HistoryPlace>()
  const seen = new Set<string>()
  const pages = new Set<string>()
  let problem: ReturnType<PlaceQueue['problem']> = null

  return {
    add(place) {
      if (place.id.length > MOST_NAME_CHARS || seen.has(place.id)) return
      if (seen.size >= MOST_PLACES) {
        problem = { problem: `there are more than ${MOST_PLACES} places`, lasting: true }
        return
      }
      seen.add(place.id)
      queue.set(place.id, place)
    },
    putBack: (place) => void queue.set(place.id, place),
    next(count) {
      const taken: HistoryPlace[] = []
      for (const place of queue.values()) {
        if (taken.length >= count) break
        taken.push(place)
      }
      for (const { id } of taken) queue.delete(id)
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
