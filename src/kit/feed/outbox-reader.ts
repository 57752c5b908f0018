// One reader of an outbox feed: replays what it missed, then shows what is sent, in order, with no gap and nothing twice.
//
// The transcript is the record, and rows are shown in its order. The position moves only along its answers, which hold rows
// back while a commit of another node may still put one before them. A live row is a hint: look now, and this row may be
// shown although its `sent` is not committed yet. A row that is not sent yet leaves a hole, which is filled when the row is
// sent. A live row right behind the position, while nothing is missing before it, is all that a look would find, so it is
// shown at once.
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
/** A live message whose row is held back is looked for after this long, then twice as long, up to a sweep. */
const HELD_BACK_MS = 50
const LOOKS_PER_HEARTBEAT = 3
const REMEMBERED = 1_000

/** A row of the outbox, as a reader is shown it. */
export interface FeedRow {
  readonly seq: number
  readonly id: string
  readonly to: Address
  readonly op: OutboundOp
  readonly at: number
}

/** What is being sent at this moment. */
export interface LiveRow extends FeedRow {
  /** True when it is exactly what its row holds, its time included, so that the row need not be read. */
  readonly isRow: boolean
}

export type FeedEvent = Omit<SseEvent, 'id'>

export interface FeedReader {
  /** Null: all conversations. */
  readonly conversation: string | null
  /** Where to go on, from `Last-Event-ID`. Null: only what is sent from now on. */
  readonly resume: Position | null
  event(row: FeedRow): FeedEvent
  /** Asked before a row is shown, so that a stream ends with the right of its reader. Absent: it has the right for good. */
  readonly mayStay?: () => boolean
}

export interface OpenReader {
  show(row: LiveRow): void
  /** Something was sent there by another node. */
  heard(conversation: string): void
  /** Shows a passing event. It may be lost, has no id, moves no position and is not replayed. */
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
  /** Rows that this node sends or sent just now, and that were not shown yet. */
  const live = createBoundedMap<number, true>(REMEMBERED)
  const recent = createBoundedMap<number, true>(REMEMBERED)
  /** Which conversation a hole is in, where that is known. */
  const placeOf = new Map<number, string>()
  const at: Position = { upTo: config.resume?.upTo ?? 0, holes: new Set(config.resume?.holes) }
  let resumedAt = config.resume?.upTo ?? null
  let begun = false
  let pumping = false
  let again = false
  /** Holes are looked at too, because another node may have sent what was on its way. */
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

  /** A new reader starts behind the newest row; rows that are still on their way are news. */
  async function beginNow(): Promise<void> {
    if (config.conversation === null) await beginTogether()
    else await beginAlone()
    // Sent through this node while the place was looked for.
    for (const [seq] of live) if (seq <= at.upTo) at.holes.add(seq)
  }

  /** Readers of all conversations begin at the same place. Many at once, as after a restart, cost one look. */
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

  /** A position beyond the newest row comes from another store. All that this store has is news to its reader. */
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

  /** Holes of live rows, and holes before them in the same conversation. Those are sent by now, and come first. */
  function besideLive(): (hole: number) => boolean {
    const places = new Set([...live].filter(([seq]) => at.holes.has(seq)).map(([seq]) => placeOf.get(seq)))
    if (places.size === 0) return () => false
    return (hole) => live.has(hole) || places.has(placeOf.get(hole)) || !placeOf.has(hole)
  }

  /** Waits for the reader after each row. So a reader that is far behind is not taken for one that does not read. */
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
      // What was sent before one of these in the same conversation is sent by now, and comes first.
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

  /** Read with an end: a hole was seen before, so nothing new can appear before it. */
  async function fillHoles(which: (hole: number) => boolean): Promise<void> {
    const asked = [...at.holes].filter(which)
    if (asked.length === 0) return
    // Read before the others are looked up, because a row that becomes live meanwhile may come after one of them.
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

  /** True when no row stands between it and the position, and none before it is still to come. */
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
      // The store is away. The reader comes back with its position and misses nothing.
      sink.end()
    } finally {
      pumping = false
    }
  }

  /** For rows that were sent here and are not in the transcript yet, because a commit before them is under way. */
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
    // A reader that is behind needs no sign of life: it has something to read.
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
      // Passed before it was to be shown: late, but news.
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
      // A reader that is behind reads what was said first.
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

/** `unknown` was handed to this very stream before a crash: showing it again under its id is not a second message. */
function wasShown(row: TranscriptEntry): boolean {
  return row.state === 'sent' || row.state === 'unknown'
}

function feedRow(integration: string, row: TranscriptEntry): FeedRow {
  const to: Address = address(integration, row.conversation, row.thread)
  return { seq: row.seq, id: row.id, to, op: row.op ?? { kind: 'text', text: row.text }, at: row.at }
}
