// The live side of the console: one event stream for the whole page. Events only say that something changed, and the
// page queries it again. The stream always reconnects, and then everything is queried again.

export type Link = 'connecting' | 'up' | 'down'

export interface Live {
  link(): Link
  /** Called for every event of these kinds, and with `up` whenever the stream is open again. */
  listen(run: (kind: string, id: string) => void): () => void
  onLink(run: (link: Link) => void): () => void
  start(): void
  stop(): void
}

const KINDS = ['turns', 'sends', 'approval', 'turn', 'access', 'config', 'nodes', 'missed', 'takeover']
const REST_AFTER_MS = 30_000
/** How often everything is queried anyway, so that a silently dead stream is noticed. */
export const REFRESH_MS = 30_000

export function createLive(): Live {
  const listeners = new Set<(kind: string, id: string) => void>()
  const linkListeners = new Set<(link: Link) => void>()
  let source: EventSource | null = null
  let link: Link = 'connecting'
  let attempt = 0
  let wait: ReturnType<typeof setTimeout> | undefined
  let rest: ReturnType<typeof setTimeout> | undefined
  let stopped = true

  const turn = (now: Link) => {
    if (now === link) return
    link = now
    for (const run of linkListeners) run(now)
  }
  const tell = (kind: string, id: string) => {
    for (const run of listeners) run(kind, id)
  }

  function connect(): void {
    clearTimeout(wait)
    source?.close()
    const mine = new EventSource('/events')
    source = mine
    mine.onopen = () => {
      attempt = 0
      turn('up')
      tell('up', '')
    }
    mine.onerror = () => {
      if (source !== mine) return
      mine.close()
      source = null
      turn('down')
      // The page then notices whether its session is gone.
      tell('lost', '')
      attempt += 1
      wait = setTimeout(connect, Math.min(8_000, 300 * 1.7 ** attempt) * (0.7 + Math.random() * 0.6))
    }
    for (const kind of KINDS)
      mine.addEventListener(kind, (event: MessageEvent<string>) => {
        if (source === mine) tell(kind, idIn(event.data))
      })
  }

  // Over plain http a browser has six connections to a host for all of its tabs, and a stream uses one.
  function watchTab(): void {
    clearTimeout(rest)
    if (stopped) return
    if (document.hidden) {
      rest = setTimeout(() => {
        source?.close()
        source = null
        clearTimeout(wait)
      }, REST_AFTER_MS)
    } else if (source === null) connect()
  }

  return {
    link: () => link,
    listen(run) {
      listeners.add(run)
      return () => listeners.delete(run)
    },
    onLink(run) {
      linkListeners.add(run)
      return () => linkListeners.delete(run)
    },
    start() {
      stopped = false
      connect()
      document.addEventListener('visibilitychange', watchTab)
      addEventListener('online', watchTab)
    },
    stop() {
      stopped = true
      source?.close()
      source = null
      clearTimeout(wait)
      clearTimeout(rest)
      document.removeEventListener('visibilitychange', watchTab)
      removeEventListener('online', watchTab)
    },
  }
}

function idIn(data: string): string {
  try {
    const { id } = JSON.parse(data) as { id?: unknown }
    return typeof id === 'string' ? id : ''
  } catch {
    return ''
  }
}
