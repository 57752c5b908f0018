// The live side of the page: one event stream that always reconnects from its last cursor.
import type { Entry, StateNews } from './model.ts'

export interface StreamListener {
  entry(entry: Entry): void
  states(news: readonly StateNews[]): void
  typing(on: boolean): void
  status(text: string): void
  /** The answer so far. */
  partial(text: string): void
  /** Whether the agent can be reached. */
  agent(here: boolean): void
  up(): void
  /** The stream is lost. Resolves with whether a retry makes sense. */
  down(): Promise<'again' | 'give-up'>
  /**
   * The page is too far behind, so it loads the history again. Resolves with the new cursor, or null to stop for now.
   */
  reset(): Promise<string | null>
}

export interface Stream {
  open(cursor: string): void
  /** Retries at once, because the network is back. */
  hurry(): void
  /** The tab went to the background, or came to the front. */
  background(hidden: boolean): void
  close(): void
}

const SILENCE_MS = 40_000
// Over plain http a browser has six connections to a host for all of its tabs, and a stream uses one. A hidden tab
// closes its stream, and checks now and then, so that its title still shows new messages.
const REST_AFTER_MS = 5_000
const GLANCE_EVERY_MS = 20_000
const GLANCE_MS = 1_000

export function createStream(path: string, listener: StreamListener): Stream {
  let source: EventSource | null = null
  let cursor = ''
  let attempt = 0
  let wait: ReturnType<typeof setTimeout> | undefined
  let watchdog: ReturnType<typeof setTimeout> | undefined
  let closed = true
  let resting = false
  let restTimer: ReturnType<typeof setTimeout> | undefined

  function connect(): void {
    clearTimeout(wait)
    source?.close()
    const mine = new EventSource(`${path}?after=${encodeURIComponent(cursor)}`)
    source = mine
    const on = (name: string, run: (data: unknown) => void): void => {
      mine.addEventListener(name, (event: MessageEvent<string>) => {
        if (source !== mine) return
        heard()
        if (event.lastEventId !== '') cursor = event.lastEventId
        run(JSON.parse(event.data))
      })
    }
    on('hello', () => {
      attempt = 0
      if (resting) restIn(GLANCE_MS)
      listener.up()
    })
    on('ping', () => {})
    on('entry', (data) => listener.entry(data as Entry))
    on('states', (data) => listener.states(data as readonly StateNews[]))
    on('typing', (data) => listener.typing((data as { readonly on: boolean }).on))
    on('status', (data) => listener.status((data as { readonly text: string }).text))
    on('partial', (data) => listener.partial((data as { readonly text: string }).text))
    on('agent', (data) => listener.agent((data as { readonly here: boolean }).here))
    on('reset', () => void begin())
    mine.onerror = () => {
      if (source === mine) void lost()
    }
    heard()
  }

  // A link can be open and dead (a sleeping laptop, a lost Wi-Fi), so silence counts as lost.
  function heard(): void {
    clearTimeout(watchdog)
    watchdog = setTimeout(() => void lost(), SILENCE_MS)
  }

  function restIn(ms: number): void {
    clearTimeout(restTimer)
    restTimer = setTimeout(rest, ms)
  }

  function rest(): void {
    if (closed) return
    resting = true
    // A reconnect in progress continues.
    if (source === null) return
    source.close()
    source = null
    clearTimeout(watchdog)
    restTimer = setTimeout(connect, GLANCE_EVERY_MS)
  }

  async function begin(): Promise<void> {
    source?.close()
    source = null
    const fresh = await listener.reset()
    if (closed) return
    if (fresh === null) return lost()
    cursor = fresh
    connect()
  }

  async function lost(): Promise<void> {
    source?.close()
    source = null
    clearTimeout(watchdog)
    clearTimeout(wait)
    if (closed) return
    const verdict = await listener.down()
    if (closed || source !== null) return
    if (verdict === 'give-up') {
      closed = true
      return
    }
    attempt += 1
    const pause = Math.min(8_000, 400 * 1.7 ** attempt) * (0.7 + Math.random() * 0.6)
    clearTimeout(wait)
    wait = setTimeout(connect, pause)
  }

  function hurry(): void {
    if (!closed && source === null) connect()
  }

  return {
    open(from) {
      closed = false
      cursor = from
      connect()
    },
    hurry,
    background(hidden) {
      clearTimeout(restTimer)
      if (hidden) return restIn(REST_AFTER_MS)
      resting = false
      hurry()
    },
    close() {
      closed = true
      source?.close()
      source = null
      clearTimeout(wait)
      clearTimeout(watchdog)
      clearTimeout(restTimer)
    },
  }
}
