// The open windows of the chat. Each is an event stream with its own cursor that reads the transcript when something
// may have happened. The transcript is the record, and a wake-up is only a hint. A slow sweep finds what no hint
// reported, such as sends of another node. A window that was away continues from its cursor and misses nothing.
import type { Cancel, Clock, StreamSink } from '../../contract/index.ts'
import type { WebConfig } from './config.ts'
import type { Cursor, ReadTranscript } from './history.ts'
import { frame } from './render.ts'
import { createWindowFeed, type WindowFeed } from './window-feed.ts'

export interface Windows {
  /** Catches up from `cursor` (null: from now) and stays open while `mayStay` holds. */
  open(conversation: string, cursor: Cursor | null, sink: StreamSink, mayStay: MayStay): void
  /** Closes the windows of an ended session at once, without waiting for the sweep. */
  recheck(conversation: string): Promise<void>
  /** Reports a change. `sent` is an outbox row that may be behind the cursors. */
  wake(conversation: string, sent?: number): void
  /** Shows a transient event (typing, status, a state) in every window of the chat. */
  tell(conversation: string, event: string, data: unknown): void
  count(): number
  close(): void
}

/** The most transient events that wait. More are lost, as signals may be. */
const MOST_PASSING = 20

export type MayStay = () => Promise<boolean>

interface Window {
  readonly conversation: string
  readonly sink: StreamSink
  readonly mayStay: MayStay
  readonly feed: WindowFeed
  readonly passing: string[]
  pumping: boolean
  again: boolean
  /** Whether the next pull checks every pending row. */
  thorough: boolean
  /** The last reported presence of the agent; null: none yet. */
  agentHere: boolean | null
}

const IDLE = { pumping: false, again: false, thorough: false, agentHere: null }

export function createWindows(
  config: WebConfig,
  deps: {
    readonly clock: Clock
    readonly transcript: ReadTranscript
    /** Whether the agent of a chat can be reached. Absent: presence is unknown and not shown. */
    readonly agentHere?: (conversation: string) => boolean
    readonly onProblem: (thrown: unknown) => void
  },
): Windows {
  const windows = new Set<Window>()
  const transcript = sharedReads(deps.transcript)
  let stopTimers: Cancel | null = null
  let closed = false

  function keepTime(): void {
    if (stopTimers !== null || windows.size === 0 || closed) return
    const heartbeat = repeat(config.heartbeatMs, () => {
      for (const window of windows) pass(window, frame('ping', {}))
    })
    const sweep = repeat(config.sweepMs, () => {
      for (const window of windows) {
        void recheck(window)
        tellPresence(window)
        window.thorough = true
        pump(window)
      }
    })
    stopTimers = () => {
      heartbeat()
      sweep()
    }
  }

  function repeat(everyMs: number, run: () => void): Cancel {
    let cancel: Cancel = () => {}
    const next = (): void => {
      cancel = deps.clock.after(everyMs, () => {
        run()
        next()
      })
    }
    next()
    return () => cancel()
  }

  function drop(window: Window): void {
    windows.delete(window)
    if (windows.size === 0) {
      stopTimers?.()
      stopTimers = null
    }
  }

  async function recheck(window: Window): Promise<void> {
    // An unavailable store says nothing about the session.
    if (await window.mayStay().catch(() => true)) return
    window.sink.end()
    drop(window)
  }

  /** Transient events wait while a window is fed, so that a window that is behind is not dropped for them. */
  function pass(window: Window, text: string): void {
    if (!window.pumping) window.sink.write(text)
    else if (window.passing.length < MOST_PASSING) window.passing.push(text)
  }

  function tellPresence(window: Window): void {
    const here = deps.agentHere?.(window.conversation)
    if (here === undefined || here === window.agentHere) return
    window.agentHere = here
    pass(window, frame('agent', { here }))
  }

  function pump(window: Window, work: () => Promise<unknown> = () => pull(window)): void {
    if (window.pumping) {
      window.again = true
      return
    }
    window.pumping = true
    void work()
      .catch((thrown) => {
        // The page reconnects from its cursor, which is better than a window that shows nothing.
        deps.onProblem(thrown)
        window.sink.end()
        drop(window)
      })
      .finally(() => {
        window.pumping = false
        for (const text of window.passing.splice(0)) window.sink.write(text)
        if (window.again && windows.has(window)) {
          window.again = false
          pump(window)
        }
      })
  }

  function pull(window: Window): Promise<void> {
    const { thorough } = window
    window.thorough = false
    return window.feed.pull(thorough)
  }

  async function arrive(window: Window, cursor: Cursor | null): Promise<void> {
    if (await window.feed.arrive(cursor)) return
    window.sink.end()
    drop(window)
  }

  return {
    open(conversation, cursor, sink, mayStay) {
      if (closed) return sink.end()
      const mine = [...windows].filter((window) => window.conversation === conversation)
      for (const oldest of mine.slice(0, Math.max(0, mine.length - config.maxWindows + 1))) {
        oldest.sink.end()
        drop(oldest)
      }
      const feed = createWindowFeed(conversation, sink, {
        transcript,
        maxReplay: config.maxReplay,
      })
      const window: Window = { conversation, sink, mayStay, feed, passing: [], ...IDLE }
      windows.add(window)
      sink.onClose(() => drop(window))
      keepTime()
      pump(window, () => arrive(window, cursor))
      tellPresence(window)
    },
    async recheck(conversation) {
      const mine = [...windows].filter((window) => window.conversation === conversation)
      await Promise.all(mine.map(recheck))
    },
    wake(conversation, sent) {
      for (const window of windows) {
        if (window.conversation !== conversation) continue
        if (sent !== undefined) window.feed.sent(sent)
        tellPresence(window)
        pump(window)
      }
    },
    tell(conversation, event, data) {
      const text = frame(event, data)
      for (const window of windows) if (window.conversation === conversation) pass(window, text)
    },
    count: () => windows.size,
    close() {
      closed = true
      for (const window of [...windows]) {
        window.sink.end()
        drop(window)
      }
    },
  }
}

/** Windows at the same position ask the same question at the same time, so it is read once for all of them. */
function sharedReads(read: ReadTranscript): ReadTranscript {
  const asked = new Map<string, ReturnType<ReadTranscript>>()
  return (query) => {
    const key = JSON.stringify(query)
    const known = asked.get(key)
    if (known !== undefined) return known
    const answer = read(query)
    asked.set(key, answer)
    queueMicrotask(() => asked.delete(key))
    return answer
  }
}
