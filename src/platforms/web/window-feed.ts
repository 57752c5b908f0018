// Feeds one open window. It starts at a cursor, then reads the transcript in order, as fast as the window takes rows.
// The position moves only along the transcript's answers, which hold rows back while another node's commit may still
// add one before them. Rows at or below the position are read by ranges with an upper end.
import {
  createBoundedMap,
  OPEN_TURN_STATES,
  type StreamSink,
  type TranscriptEntry,
} from '../../contract/index.ts'
import { newestSeq, rowsOnTheirWay, visitPassed } from '../../kit/index.ts'
import { type Cursor, formatCursor, mergeByTime, type ReadTranscript } from './history.ts'
import { frame, isPendingSend, wireEntry, wireState } from './render.ts'

export interface WindowFeed {
  /** Finds the position and catches up. False: the window is too far behind, and was told to load its history again. */
  arrive(cursor: Cursor | null): Promise<boolean>
  /** `thorough`: checks every pending row, not only the next few. */
  pull(thorough?: boolean): Promise<void>
  /** Reports that an outbox row was sent. It may be behind the position. */
  sent(seq: number): void
}

const PAGE = 200
/**
 * Turns and sends of a conversation advance in their order. So a pull checks the first few pending ones, and continues
 * while all of them advanced. The cost of a burst is then linear. A signal reports those that advanced out of order, or
 * a thorough pull finds them.
 */
const AHEAD = 8
const OPEN_STATES: readonly string[] = OPEN_TURN_STATES

export function createWindowFeed(
  conversation: string,
  sink: StreamSink,
  deps: { readonly transcript: ReadTranscript; readonly maxReplay: number },
): WindowFeed {
  const at = { in: 0, out: 0 }
  /** Sends at or below the position that are not shown yet. */
  const pending = new Set<number>()
  /** The pending sends that a signal reported as sent. */
  const told = new Set<number>()
  /** Sends that were shown lately. The signal for one may come later. */
  const shown = createBoundedMap<number, true>(PAGE)
  /** Own messages with an open turn: position → the last reported state. */
  const open = new Map<number, string>()
  let arrived = false

  const read = (
    direction: 'in' | 'out',
    range: Omit<Parameters<ReadTranscript>[0], 'conversation' | 'direction'>,
  ) => deps.transcript({ conversation, direction, ...range })

  async function pull(thorough = false): Promise<void> {
    for (;;) {
      const [ins, outs] = await Promise.all([
        read('in', { afterSeq: at.in, limit: PAGE }),
        read('out', { afterSeq: at.out, limit: PAGE }),
      ])
      // Checked after the reads. A send before one of these rows is sent by now, and is shown first.
      await showPending(thorough)
      for (const entry of mergeByTime(ins, outs)) {
        if (sink.closed) return
        await advance(entry)
      }
      if (ins.length < PAGE && outs.length < PAGE) break
    }
    await showStates(thorough)
  }

  async function advance(entry: TranscriptEntry): Promise<void> {
    at[entry.direction] = Math.max(at[entry.direction], entry.seq)
    if (entry.direction === 'in') {
      if (OPEN_STATES.includes(entry.state)) open.set(entry.seq, stateMark(entry))
    } else if (isPendingSend(entry)) pending.add(entry.seq)
    else pending.delete(entry.seq)
    await show(entry)
  }

  /**
   * Waits until the window took the row, so that a window that is far behind is not dropped as one that does not read.
   */
  async function show(entry: TranscriptEntry): Promise<void> {
    const wire = wireEntry(entry)
    if (wire === null) return
    if (entry.direction === 'out' && entry.state === 'sent') shown.set(entry.seq, true)
    sink.write(frame('entry', wire, formatCursor({ ...at, pending: [...pending] })))
    await sink.drained()
  }

  const passed = (direction: 'in' | 'out') => ({
    read: (afterSeq: number, beforeSeq: number) => read(direction, { afterSeq, beforeSeq, limit: PAGE }),
  })

  async function showPending(thorough: boolean): Promise<void> {
    for (let ready = AHEAD; ready >= AHEAD; ) {
      ready = 0
      const looked = thorough ? new Set(pending) : new Set([...firstOf(pending), ...told])
      told.clear()
      await visitPassed(looked, PAGE, {
        ...passed('out'),
        isReady: (entry) => entry === undefined || !isPendingSend(entry),
        async visit(seq, entry) {
          ready += 1
          pending.delete(seq)
          // The signal may have come during the read. The row is shown only once.
          told.delete(seq)
          if (entry !== undefined) await show(entry)
          return !sink.closed
        },
      })
      if (thorough || sink.closed) return
    }
  }

  async function showStates(thorough: boolean): Promise<void> {
    let looked = thorough ? [...open.keys()] : firstOf(open.keys())
    while (looked.length > 0 && !sink.closed) {
      const changed: TranscriptEntry[] = []
      let ended = 0
      await visitPassed(looked, PAGE, {
        ...passed('in'),
        isReady: (row) => row === undefined || open.get(row.seq) !== stateMark(row),
        async visit(seq, row) {
          if (row === undefined || !OPEN_STATES.includes(row.state)) ended += 1
          if (row === undefined) open.delete(seq)
          else changed.push(row)
          return !sink.closed
        },
      })
      if (!sink.closed) tellStates(changed)
      looked = thorough || ended < AHEAD ? [] : firstOf(open.keys())
    }
  }

  function tellStates(rows: readonly TranscriptEntry[]): void {
    for (const row of rows) {
      if (OPEN_STATES.includes(row.state)) open.set(row.seq, stateMark(row))
      else open.delete(row.seq)
    }
    const states = rows
      .filter((row) => wireEntry(row) !== null)
      .map((row) => ({ id: row.platformMessageId ?? row.id, ...wireState(row.state, row.reason) }))
    if (states.length > 0) sink.write(frame('states', states))
  }

  async function arrive(cursor: Cursor | null): Promise<boolean> {
    const [ins, outs] = await Promise.all([read('in', { limit: PAGE }), read('out', { limit: 1 })])
    const from = cursor ?? { in: ins.at(-1)?.seq ?? 0, out: outs.at(-1)?.seq ?? 0, pending: [] }
    if (cursor !== null && ((await isForeign(cursor)) || (await isTooFarBehind(cursor)))) {
      sink.write(frame('reset', {}))
      return false
    }
    if (sink.closed) return true
    at.in = from.in
    at.out = from.out
    for (const seq of from.pending) pending.add(seq)
    // The search goes back to the beginning, because a reminder may be old.
    const waiting = await rowsOnTheirWay((range) => read('out', range), PAGE, at.out)
    for (const row of waiting) if (isPendingSend(row)) pending.add(row.seq)
    arrived = true
    sink.write(`retry: 1000\n${frame('hello', {})}`)
    // States may have changed while the window was closed, also of messages that it knows.
    tellStates(ins.filter((row) => row.seq <= at.in))
    await pull(true)
    return true
  }

  /** A cursor beyond the newest row comes from another store. */
  async function isForeign(cursor: Cursor): Promise<boolean> {
    const [heard, said] = await Promise.all([
      newestSeq((range) => read('in', range)),
      newestSeq((range) => read('out', range)),
    ])
    return cursor.in > heard || cursor.out > said
  }

  /** Whether the replay would be too long. */
  async function isTooFarBehind(cursor: Cursor): Promise<boolean> {
    const limit = deps.maxReplay + 1
    const [ins, outs] = await Promise.all([
      read('in', { afterSeq: cursor.in, limit }),
      read('out', { afterSeq: cursor.out, limit }),
    ])
    return ins.length > deps.maxReplay || outs.length > deps.maxReplay
  }

  return {
    arrive,
    pull,
    sent(seq) {
      // The position is not settled during the arrival. Its own first read finds the row.
      if (!arrived || seq > at.out || shown.has(seq)) return
      pending.add(seq)
      told.add(seq)
    },
  }
}

function firstOf(positions: Iterable<number>): readonly number[] {
  const first: number[] = []
  for (const position of positions) if (first.push(position) === AHEAD) break
  return first
}

function stateMark(entry: TranscriptEntry): string {
  return `${entry.state}:${entry.reason ?? ''}`
}
