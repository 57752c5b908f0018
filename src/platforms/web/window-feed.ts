// What one open window is fed with: it arrives at a cursor, then pulls from the transcript, in its order, row by row as
// fast as the window reads. Its position moves only along the transcript's answers, which hold rows back while a commit
// of another node may still put one before them; whatever lies at or below the position is asked for with an end.
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
  /** Settles where the window stands and catches up. False: too far behind, and it was told to begin anew. */
  arrive(cursor: Cursor | null): Promise<boolean>
  /** `thorough`: all that is on its way is looked at, not only what comes next. */
  pull(thorough?: boolean): Promise<void>
  /** An outbox row was sent that may lie behind the position. */
  sent(seq: number): void
}

const PAGE = 200
/**
 * Turns and sends of a conversation move on in their order. So a pull looks at the first few that are on their way, and
 * goes on while all of them moved: a burst costs what it says, not its square. What moved out of order is told by a signal,
 * or found by a thorough pull.
 */
const AHEAD = 8
const OPEN_STATES: readonly string[] = OPEN_TURN_STATES

export function createWindowFeed(
  conversation: string,
  sink: StreamSink,
  deps: { readonly transcript: ReadTranscript; readonly maxReplay: number },
): WindowFeed {
  const at = { in: 0, out: 0 }
  /** Sends at or below the position that were not shown yet. */
  const pending = new Set<number>()
  /** Those of them that are said to be sent. */
  const told = new Set<number>()
  /** Sends that were shown as sent lately: the signal of one may come behind it. */
  const shown = createBoundedMap<number, true>(PAGE)
  /** Own messages still on their way: position → the state last told. */
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
      // Asked after those: what was sent before one of them is sent by now, and comes first.
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

  /** Waits for the window to take it: one that is far behind is not one that does not read. */
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
          // The signal may have come while the row was read: it is not shown twice.
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
    // However far back: a reminder may have been planned long ago.
    const waiting = await rowsOnTheirWay((range) => read('out', range), PAGE, at.out)
    for (const row of waiting) if (isPendingSend(row)) pending.add(row.seq)
    arrived = true
    sink.write(`retry: 1000\n${frame('hello', {})}`)
    // States may have changed while it was away, also of messages it knows.
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

  /** It would replay for too long. */
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
      // While it arrives its position is not settled yet; its own first read finds the row.
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
