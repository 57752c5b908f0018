// One reader of an outbox feed. It replays what the reader missed, then shows new sends, in order, without gaps or
// repeats.
//
// The transcript is the record, and rows are shown in its order. The position moves only along its answers, which hold
// rows back while another node's commit may still add one before them. A live row is a hint to look now, and that row
// may be shown before its `sent` is committed. A pending row leaves a hole, which is filled when the row is sent. A
// live row right behind the position, with no hole before it, is all that a look would find, so it is shown at once.
import {
  type Address,
  address,
  type Cancel,
  type Clock,
  createBoundedMap,
  type OutboundOp,
  type PlatformDeps,
  type StreamSink,
  type TranscriptEntry,
  withoutNulls,
} from '../../contract/index.ts'
import { LOOK_MS, type News, type OutboxLooks } from './outbox-looks.ts'
import { newestSeq, type ReadOutbox, rowsOnTheirWay } from './outbox-rows.ts'
import { visitPassed } from './passed-positions.ts'
import { formatPosition, type Position } from './position.ts'
import { formatSse, formatSseComment, type SseEvent } from './sse.ts'

const PAGE = 100
/** The first delay before looking for a live row that is held back. It doubles up to the interval of a sweep. */
const HELD_BACK_MS = 50
const LOOKS_PER_HEARTBEAT = 3
const REMEMBERED = 1_000

/** A row of the outbox, as a reader sees it. */
export interface FeedRow {
  readonly seq: number
  readonly id: string
  readonly to: Address
  readonly op: OutboundOp
  readonly at: number
}

/** A row that is being sent now. */
export interface LiveRow extends FeedRow {
  /** Whether it equals its row in everything, also the time, so that the row need not be read. */
  readonly isRow: boolean
}

export type FeedEvent = Omit<SseEvent, 'id'>

export interface FeedReader {
  /** Null: all conversations. */
  readonly conversation: string | null
  /** The position to resume from, of `Last-Event-ID`. Null: only new sends are shown. */
  readonly resume: Position | null
  event(row: FeedRow): FeedEvent
  /** Checked before a row is shown, so that the stream ends when its reader loses the right. Absent: always true. */
  readonly mayStay?: () => boolean
}

export interface OpenReader {
  show(row: LiveRow): void
  /** Another node sent to this conversation. */
  heard(conversation: string): void
  /** Shows a transient event. It may be lost, has no id, moves no position and is not replayed. */
  pass(conversation: string, event: FeedEvent): void
  end(): void
}

export interface ReaderDeps extends Pick<PlatformDeps, 'transcript'> {
  readonly clock: Clock
  readonly integration: string
  readonly sink: StreamSink
  /** Shared by all readers of the feed. */
  readonly looks: OutboxLooks
}

export function openReader(config: FeedReader, deps: ReaderDeps): OpenReader {
  const { sink, clock } = deps
  /** Rows that this node is sending or just sent, and that are not shown yet. */
  const live = createBoundedMap<number, true>(REMEMBERED)
  const recent = createBoundedMap<number, true>(REMEMBERED)
  /** The conversation of a hole, where it is known. */
  const placeOf = new Map<number, string>()
  const at: Position = { upTo: config.resume?.upTo ?? 0, holes: new Set(config.resume?.holes) }
  let resumedAt = config.resume?.upTo ?? null
  let begun = false
  let pumping = false
  let again = false
  /** Whether holes are checked too, because another node may have sent them. */
  let fill = false
  let looks = 0
  let heldBackMs = HELD_BACK_MS
  let cancelSoon: Cancel | null = null

  let sentAway = false
  const isGone = () => {
    if (!sentAway && config.mayStay?.() === false) {
      sentAway = true
      sink.end()
    }
    return sentAway || sink.closed
  }

  const scope = withoutNulls({ conversation: config.conversation })
  const rows: ReadOutbox = (range) => deps.transcript({ direction: 'out', ...scope, ...range })

  async function begin(): Promise<void> {
    if (resumedAt === null) await beginNow()
    else await resumeFrom(resumedAt)
    begun = true
    sink.write(formatSseComment('connected'))
  }

  /** A new reader starts behind the newest row. Pending rows are shown when they are sent. */
  async function beginNow(): Promise<void> {
    if (config.conversation === null) await beginTogether()
    else await beginAlone()
    // This node may have sent these while the position was read.
    for (const [seq] of live) if (seq <= at.upTo) at.holes.add(seq)
  }

  /** Readers of all conversations start at the same position. Many at once, as after a restart, cost one look. */
  async function beginTogether(): Promise<void> {
    const { upTo, onItsWay } = await deps.looks.beginning()
    at.upTo = upTo
    for (const row of onItsWay) leaveHole(row)
  }

  async function beginAlone(): Promise<void> {
    const [newest] = await rows({ limit: 1 })
    at.upTo = newest?.seq ?? 0
    for (const row of await rowsOnTheirWay(rows, PAGE, at.upTo)) leaveHole(row)
  }

  /** A position beyond the newest row comes from another store. Then every row of this store is new to its reader. */
  async function resumeFrom(from: number): Promise<void> {
    const everything: ReadOutbox = (range) => deps.transcript({ direction: 'out', ...range })
    if (from === 0 || from <= (await newestSeq(everything))) return
    resumedAt = 0
    at.upTo = 0
    at.holes.clear()
  }

  function leaveHole(row: Pick<TranscriptEntry, 'seq' | 'conversation'>): void {
    at.holes.add(row.seq)
    placeOf.set(row.seq, row.conversation)
  }

  function closeHole(seq: number): void {
    at.holes.delete(seq)
    placeOf.delete(seq)
    live.delete(seq)
  }

  /**
   * Selects holes of live rows, and holes before them in the same conversation. Those are sent by now and come first.
   */
  function besideLive(): (hole: number) => boolean {
    const places = new Set([...live].filter(([seq]) => at.holes.has(seq)).map(([seq]) => placeOf.get(seq)))
    if (places.size === 0) return () => false
    return (hole) => live.has(hole) || places.has(placeOf.get(hole)) || !placeOf.has(hole)
  }

  /**
   * Waits for the reader after each row, so that a reader that is far behind is not dropped as one that does not read.
   */
  async function emit(message: FeedRow): Promise<void> {
    const { seq } = message
    closeHole(seq)
    if (recent.has(seq)) return
    recent.set(seq, true)
    at.upTo = Math.max(at.upTo, seq)
    sink.write(formatSse({ ...config.event(message), id: formatPosition(at) }))
    await sink.drained()
  }

  const mayShow = (row: TranscriptEntry) => wasShown(row) || (row.state === 'sending' && live.has(row.seq))

  async function readOn(): Promise<void> {
    while (!isGone()) {
      const page = await rows({ afterSeq: at.upTo, limit: PAGE })
      // A send before one of these in the same conversation is sent by now, and is shown first.
      const places = new Set(page.map((row) => row.conversation))
      if (page.some(mayShow))
        await fillHoles((hole) => places.has(placeOf.get(hole) ?? page[0]?.conversation ?? ''))
      for (const row of page) {
        if (sink.closed) return
        if (mayShow(row)) await emit(feedRow(deps.integration, row))
        else if (onItsWay(row)) leaveHole(row)
        else live.delete(row.seq)
        at.upTo = Math.max(at.upTo, row.seq)
      }
      if (page.length < PAGE) return
    }
  }

  /** Reads ranges with an upper end. A hole was seen before, so no new row can appear before it. */
  async function fillHoles(which: (hole: number) => boolean): Promise<void> {
    const asked = [...at.holes].filter(which)
    if (asked.length === 0) return
    // Decided before the others are read, because a row that becomes live meanwhile may come after one of them.
    const isLive = new Set(asked.filter((hole) => live.has(hole)))
    const waiting = await deps.looks.waiting()
    const ended = asked.filter((hole) => isLive.has(hole) || !waiting.has(hole))
    await visitPassed(ended, PAGE, {
      read: (afterSeq, beforeSeq) => rows({ afterSeq, beforeSeq, limit: PAGE }),
      isReady: (row) => row === undefined || mayShow(row) || !onItsWay(row),
      async visit(hole, row) {
        if (row !== undefined && mayShow(row)) await emit(feedRow(deps.integration, row))
        else if (row === undefined || !onItsWay(row)) closeHole(hole)
        return !sink.closed
      },
    })
  }

  /** Whether no row is between it and the position, and no hole is open. */
  const isNext = ({ seq, isRow }: LiveRow) => isRow && seq === at.upTo + 1 && at.holes.size === 0

  async function pump(unasked: boolean, message?: LiveRow): Promise<void> {
    let next = message
    again = true
    if (unasked) fill = true
    if (pumping) return
    pumping = true
    try {
      while (again && !isGone()) {
        again = false
        if (!begun) await begin()
        if (next && isNext(next)) await emit(next)
        else await readOn()
        next = undefined
        const all = fill
        fill = false
        await fillHoles(all ? () => true : besideLive())
      }
      lookSoon()
    } catch {
      // The store is unavailable. The reader returns with its position and misses nothing.
      sink.end()
    } finally {
      pumping = false
    }
  }

  /** For rows that were sent here but are not in the transcript yet, because an earlier commit is in progress. */
  function lookSoon(): void {
    const waits = [...live].some(([seq]) => seq > at.upTo)
    if (!waits) heldBackMs = HELD_BACK_MS
    if (!waits || cancelSoon !== null || sink.closed) return
    cancelSoon = clock.after(heldBackMs, () => {
      cancelSoon = null
      void pump(false)
    })
    heldBackMs = Math.min(heldBackMs * 2, LOOK_MS)
  }

  const look = ({ places, waiting }: News) => {
    if (isGone()) return
    // A reader that is behind needs no heartbeat, because it has rows to read.
    if (looks++ % LOOKS_PER_HEARTBEAT === 0 && begun && !pumping) sink.write(formatSseComment('alive'))
    const said =
      config.conversation === null ? [...(places?.values() ?? [])] : [places?.get(config.conversation) ?? 0]
    const isBehind = places === null || said.some((seq) => seq > at.upTo)
    if (!begun || isBehind || [...at.holes].some((hole) => waiting?.has(hole) !== true)) void pump(true)
  }
  const leave = deps.looks.join({ look, waits: () => at.holes.size > 0 })
  const rest = () => {
    leave()
    cancelSoon?.()
  }
  sink.onClose(rest)
  void pump(true)

  const known = (seq: number) => resumedAt !== null && seq <= resumedAt && !at.holes.has(seq)
  return {
    show(message) {
      const { seq, to } = message
      if (config.conversation !== null && to.conversation !== config.conversation) return
      if (recent.has(seq) || known(seq)) return
      live.set(seq, true)
      // The position passed it before it was to be shown. It is late but new.
      if (begun && seq <= at.upTo) {
        at.holes.add(seq)
        placeOf.set(seq, to.conversation)
      }
      void pump(false, message)
    },
    heard(conversation) {
      if (config.conversation === null || conversation === config.conversation) void pump(true)
    },
    pass(conversation, event) {
      if (config.conversation !== null && conversation !== config.conversation) return
      // A reader that is behind reads the earlier rows first.
      if (!begun || pumping || isGone()) return
      sink.write(formatSse(event))
    },
    end() {
      rest()
      sink.end()
    },
  }
}

function onItsWay(row: TranscriptEntry): boolean {
  return row.state === 'queued' || row.state === 'sending'
}

/** An `unknown` row was written to a stream before a crash. Showing it again under its id is no second message. */
function wasShown(row: TranscriptEntry): boolean {
  return row.state === 'sent' || row.state === 'unknown'
}

function feedRow(integration: string, row: TranscriptEntry): FeedRow {
  const to: Address = address(integration, row.conversation, row.thread)
  return { seq: row.seq, id: row.id, to, op: row.op ?? { kind: 'text', text: row.text }, at: row.at }
}
