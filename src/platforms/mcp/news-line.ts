// Delivers the news of one server to its listeners in order, and holds them back during a hold. They have no
// acknowledgement, so waiting ones are kept. If many wait, the server is paused and none is dropped.
import type { Cancel, ServerNews } from '../../contract/index.ts'

export interface NewsLine {
  push(news: ServerNews): void
  /** Ending the subscription first delivers what still waits, because it came while the listener was subscribed. */
  listen(run: (news: ServerNews) => void): Cancel
  hold(): Cancel
  /** Whether so much waits that the server should not be read. */
  full(): boolean
  waiting(): number
}

const MAX_WAITING = 1_000
const MAX_WAITING_CHARS = 16 * 1_048_576

export function createNewsLine(deps: {
  /** True: stop reading. False: continue. */
  readonly pressure: (full: boolean) => void
  /** Called when a listener threw. The other listeners still receive. */
  readonly failed: (thrown: unknown) => void
}): NewsLine {
  const listeners = new Set<(news: ServerNews) => void>()
  let waiting: { readonly news: ServerNews; readonly chars: number }[] = []
  /** How many of `waiting` were delivered already. */
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
    // A listener may start a hold during delivery. The rest then stays queued.
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

/** The approximate number of characters in a value. It does not recurse, because foreign values may be deep. */
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
