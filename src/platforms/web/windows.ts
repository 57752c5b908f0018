// The open windows of the chat: each is an event stream with its own cursor that pulls from the transcript whenever
// something may have happened. The transcript is the record; a wake-up is only a hint, and a slow sweep finds what no
// hint told (another node's sends). So a window that was away asks from its cursor on and misses nothing.
import {
  type Cancel,
  type Clock,
  OPEN_TURN_STATES,
  type StreamSink,
  type TranscriptEntry,
} from '../../contract/index.ts'
import type { WebConfig } from './config.ts'
import { type Cursor, formatCursor, mergeByTime, type ReadTranscript } from './history.ts'
import { frame, isPendingSend, wireEntry, wireState } from './render.ts'

export interface Windows {
  /** Catches up from `cursor` (null: from now) and stays open as long as `mayStay` holds. */
  open(conversation: string, cursor: Cursor | null, sink: StreamSink, mayStay: MayStay): void
  /** A session of this chat may have ended: its windows end with it, at once and not at the next sweep. */
  recheck(conversation: string): Promise<void>
  /** Something changed; `sent` names an outbox row that may lie behind the cursors. */
  wake(conversation: string, sent?: number): void
  /** Shows a passing thing (typing, status, a state) to every window of the chat. */
  tell(conversation: string, event: string, data: unknown): void
  count(): number
  close(): void
}

export type MayStay = () => Promise<boolean>

interface Window {
  readonly conversation: string
  readonly sink: StreamSink
  readonly mayStay: MayStay
  in: number
  out: number
  readonly pending: Set<number>
  /** Own messages still on their way: position → the state last told. */
  readonly open: Map<number, string>
  pumping: boolean
  again: boolean
}

const PAGE = 200
const OPEN_STATES: readonly string[] = OPEN_TURN_STATES

export function createWindows(
  config: WebConfig,
  deps: {
    readonly clock: Clock
    readonly transcript: ReadTranscript
    readonly onProblem: (thrown: unknown) => void
  },
): Windows {
  const windows = new Set<Window>()
  let stopTimers: Cancel | null = null
  let closed = false

  function keepTime(): void {
    if (stopTimers !== null || windows.size === 0 || closed) return
    const heartbeat = repeat(config.heartbeatMs, () => {
      for (const window of windows) window.sink.write(frame('ping', {}))
    })
    const sweep = repeat(config.sweepMs, () => {
      for (const window of windows) {
        void recheck(window)
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
    // A store that is away says nothing about the session.
    if (await window.mayStay().catch(() => true)) return
    window.sink.end()
    drop(window)
  }

  function pump(window: Window): void {
    if (window.pumping) {
      window.again = true
      return
    }
    window.pumping = true
    void pull(window)
      .catch((thrown) => {
        // The page reconnects from its cursor; a window that cannot read is worth less than none.
        deps.onProblem(thrown)
        window.sink.end()
        drop(window)
      })
      .finally(() => {
        window.pumping = false
        if (window.again && windows.has(window)) {
          window.again = false
          pump(window)
        }
      })
  }

  async function pull(window: Window): Promise<void> {
    const { conversation } = window
    for (;;) {
      const [ins, outs] = await Promise.all([
        deps.transcript({ conversation, direction: 'in', afterSeq: window.in, limit: PAGE }),
        deps.transcript({ conversation, direction: 'out', afterSeq: window.out, limit: PAGE }),
      ])
      if (window.sink.closed) return
      for (const entry of mergeByTime(ins, outs)) advance(window, entry)
      if (ins.length < PAGE && outs.length < PAGE) break
      // A long replay goes as fast as its reader, so that it is not taken for a slow one.
      await window.sink.drained()
      if (window.sink.closed) return
    }
    await pullPending(window)
    await pullStates(window)
  }

  function advance(window: Window, entry: TranscriptEntry): void {
    if (entry.direction === 'in') {
      window.in = Math.max(window.in, entry.seq)
      if (OPEN_STATES.includes(entry.state)) window.open.set(entry.seq, stateMark(entry))
    } else {
      window.out = Math.max(window.out, entry.seq)
      if (isPendingSend(entry)) window.pending.add(entry.seq)
      else window.pending.delete(entry.seq)
    }
    show(window, entry)
  }

  function show(window: Window, entry: TranscriptEntry): void {
    const wire = wireEntry(entry)
    if (wire === null) return
    const cursor = formatCursor({ in: window.in, out: window.out, pending: [...window.pending] })
    window.sink.write(frame('entry', wire, cursor))
  }

  async function pullPending(window: Window): Promise<void> {
    for (const seq of [...window.pending]) {
      const [entry] = await deps.transcript({
        conversation: window.conversation,
        direction: 'out',
        afterSeq: seq - 1,
        limit: 1,
      })
      if (window.sink.closed) return
      if (entry === undefined || entry.seq !== seq) {
        window.pending.delete(seq)
        continue
      }
      if (isPendingSend(entry)) continue
      window.pending.delete(seq)
      show(window, entry)
    }
  }

  async function pullStates(window: Window): Promise<void> {
    if (window.open.size === 0) return
    const oldest = Math.min(...window.open.keys())
    const { conversation } = window
    const rows = await deps.transcript({ conversation, direction: 'in', afterSeq: oldest - 1, limit: PAGE })
    if (window.sink.closed) return
    const changed = rows.filter(
      (row) => window.open.has(row.seq) && window.open.get(row.seq) !== stateMark(row),
    )
    if (rows[0]?.seq !== oldest) window.open.delete(oldest)
    tellStates(window, changed)
  }

  function tellStates(window: Window, rows: readonly TranscriptEntry[]): void {
    for (const row of rows) {
      if (OPEN_STATES.includes(row.state)) window.open.set(row.seq, stateMark(row))
      else window.open.delete(row.seq)
    }
    const states = rows
      .filter((row) => wireEntry(row) !== null)
      .map((row) => ({ id: row.platformMessageId ?? row.id, ...wireState(row.state, row.reason) }))
    if (states.length > 0) window.sink.write(frame('states', states))
  }

  /** Settles where the window stands before it goes live: too far behind, and it is told to begin anew. */
  async function arrive(window: Window, cursor: Cursor | null): Promise<void> {
    const { conversation } = window
    const [ins, outs] = await Promise.all([
      deps.transcript({ conversation, direction: 'in', limit: PAGE }),
      deps.transcript({ conversation, direction: 'out', limit: PAGE }),
    ])
    if (window.sink.closed) return
    const head = { in: ins.at(-1)?.seq ?? 0, out: outs.at(-1)?.seq ?? 0 }
    const from = cursor ?? head
    // A cursor beyond the head comes from another store; one far behind would replay for too long.
    if (from.in > head.in || from.out > head.out || (await tooFarBehind(conversation, from))) {
      window.sink.write(frame('reset', {}))
      window.sink.end()
      drop(window)
      return
    }
    window.in = from.in
    window.out = from.out
    for (const seq of cursor?.pending ?? []) window.pending.add(seq)
    for (const row of outs) if (row.seq <= from.out && isPendingSend(row)) window.pending.add(row.seq)
    window.sink.write(`retry: 1000\n${frame('hello', {})}`)
    // States may have changed while it was away, also of messages it knows.
    tellStates(
      window,
      ins.filter((row) => row.seq <= from.in),
    )
    await pull(window)
  }

  async function tooFarBehind(
    conversation: string,
    from: { readonly in: number; readonly out: number },
  ): Promise<boolean> {
    const limit = config.maxReplay + 1
    const [ins, outs] = await Promise.all([
      deps.transcript({ conversation, direction: 'in', afterSeq: from.in, limit }),
      deps.transcript({ conversation, direction: 'out', afterSeq: from.out, limit }),
    ])
    return ins.length > config.maxReplay || outs.length > config.maxReplay
  }

  return {
    open(conversation, cursor, sink, mayStay) {
      if (closed) return sink.end()
      const mine = [...windows].filter((window) => window.conversation === conversation)
      for (const oldest of mine.slice(0, Math.max(0, mine.length - config.maxWindows + 1))) {
        oldest.sink.end()
        drop(oldest)
      }
      const window: Window = {
        conversation,
        sink,
        mayStay,
        in: 0,
        out: 0,
        pending: new Set(),
        open: new Map(),
        pumping: true,
        again: false,
      }
      windows.add(window)
      sink.onClose(() => drop(window))
      keepTime()
      void arrive(window, cursor)
        .catch((thrown) => {
          deps.onProblem(thrown)
          sink.end()
          drop(window)
        })
        .finally(() => {
          window.pumping = false
          if (window.again && windows.has(window)) {
            window.again = false
            pump(window)
          }
        })
    },
    async recheck(conversation) {
      const mine = [...windows].filter((window) => window.conversation === conversation)
      await Promise.all(mine.map(recheck))
    },
    wake(conversation, sent) {
      for (const window of windows) {
        if (window.conversation !== conversation) continue
        // While it arrives its cursor is not settled yet; its own first read finds the row.
        if (sent !== undefined && window.out > 0 && sent <= window.out) window.pending.add(sent)
        pump(window)
      }
    },
    tell(conversation, event, data) {
      const text = frame(event, data)
      for (const window of windows) if (window.conversation === conversation) window.sink.write(text)
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

function stateMark(entry: TranscriptEntry): string {
  return `${entry.state}:${entry.reason ?? ''}`
}
