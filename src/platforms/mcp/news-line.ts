// The news of one server on their way to those who listen: in order, held while they must wait. They carry no
// acknowledgement, so what waits is kept, and when that is much the server is held back instead of anything dropped.
import type { Cancel, ServerNews } from '../../contract/index.ts'

export interface NewsLine {
  push(news: ServerNews): void
  /** Who stops listening is told what still waits: it was said while they listened. */
  listen(run: (news: ServerNews) => void): Cancel
  hold(): Cancel
  /** True while so much waits that the server should not be read. */
  full(): boolean
  waiting(): number
}

const MAX_WAITING = 1_000
const MAX_WAITING_CHARS = 16 * 1_048_576

export function createNewsLine(deps: {
  /** Reading should stop or go on. */
  readonly pressure: (full: boolean) => void
  /** A listener threw: the others still hear it. */
  readonly failed: (thrown: unknown) => void
}): NewsLine {
  const listeners = new Set<(news: ServerNews) => void>()
  let waiting: { readonly news: ServerNews; readonly chars: number }[] = []
  /** So many of them were told already. */
  let told = 0
  let chars = 0
  let holds = 0
  let full = false

  const tellOne = (listener: (news: ServerNews) => void, news: ServerNews) => {
    try {
      listener(news)
    } catch (thrown) {
      deps.failed(thrown)
    }
  }
  const tell = (news: ServerNews) => {
    for (const listener of [...listeners]) tellOne(listener, news)
  }
  const isMuch = () => waiting.length >= MAX_WAITING || chars >= MAX_WAITING_CHARS
  const drain = () => {
    // A listener may hold again while it is told: the rest stays in its place.
    while (told < waiting.length && holds === 0) {
      const one = waiting[told++]
      if (one === undefined) continue
      chars -= one.chars
      tell(one.news)
    }
    waiting = waiting.slice(told)
    told = 0
    if (!full || isMuch()) return
    full = false
    deps.pressure(false)
  }
  return {
    push(news) {
      if (holds === 0 && waiting.length === 0) return tell(news)
      const size = weightOf(news.params)
      waiting.push({ news, chars: size })
      chars += size
      if (full || !isMuch()) return
      full = true
      deps.pressure(true)
    },
    listen(run) {
      const own = (news: ServerNews) => run(news)
      listeners.add(own)
      return () => {
        if (!listeners.delete(own)) return
        for (const { news } of waiting.slice(told)) tellOne(own, news)
      }
    },
    hold() {
      holds++
      let held = true
      return () => {
        if (!held) return
        held = false
        if (--holds === 0) drain()
      }
    },
    full: () => full,
    waiting: () => waiting.length,
  }
}

/** About how many characters a value holds. Without recursion: strangers decide how deep it is. */
function weightOf(value: unknown): number {
  const left: unknown[] = [value]
  let weight = 0
  while (left.length > 0) {
    const one = left.pop()
    if (typeof one === 'string') weight += one.length
    else if (typeof one === 'object' && one !== null)
      for (const inner of Array.isArray(one) ? one : Object.values(one)) left.push(inner)
    weight += 16
  }
  return weight
}
