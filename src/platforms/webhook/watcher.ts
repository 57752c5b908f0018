// One reader of GET /hooks/ID/events: replays from the outbox what it missed, then shows what is sent, in order,
// with no gap and nothing twice.
//
// The transcript is the record, and what is shown is what it says, in its order. The position moves only along its
// answers: it holds rows back while a commit of another node may still put one before them. A live message is a hint: it
// says "look", and that its row may be shown although its `sent` is not committed yet. A row that is not sent yet
// leaves a hole, which is filled when the row is sent. One that stands right behind the position, while nothing is missing
// before it, is all that a look would find: it is shown as it comes.
import {
  type Address,
  address,
  type Cancel,
  type Clock,
  createBoundedMap,
  type PlatformDeps,
  type StreamSink,
  type TranscriptEntry,
  withoutNulls,
} from '../../contract/index.ts'
import { formatSse, formatSseComment, visitPassed } from '../../kit/index.ts'
import { LOOK_MS, type LookTogether, type News } from './look-together.ts'
import { formatPosition, type Position } from './position.ts'
import { eventData, type Live, type Shown } from './render.ts'

const PAGE = 100
/** A live message whose row is held back is looked for after this long, then twice as long, up to a sweep. */
const HELD_BACK_MS = 50
const LOOKS_PER_HEARTBEAT = 3
const REMEMBERED = 1_000

export interface WatcherConfig {
  readonly integration: string
  /** Null: all conversations. */
  readonly conversation: string | null
  readonly format: 'text' | 'json'
  /** Where to go on; null: only what is sent from now on. */
  readonly resume: Position | null
}

export interface Watcher {
  show(message: Live): void
  /** Something was sent there by another node. */
  heard(conversation: string): void
  /** What the agent does now. Lossy: it has no id, so it moves no position and comes back to nobody. */
  status(conversation: string, text: string): void
  end(): void
}

export function createWatcher(
  config: WatcherConfig,
  deps: Pick<PlatformDeps, 'transcript'> & {
    readonly clock: Clock
    readonly sink: StreamSink
    /** Shared by all readers of the hook. */
    readonly together: LookTogether
    /** Asked before anything is shown: a stream does not outlive the right of its reader. Absent: for good. */
    readonly mayStay?: () => boolean
  },
): Watcher {
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
  /** Holes are looked at too: what was on its way may have been sent by another node. */
  let fill = false
  let looks = 0
  let heldBackMs = HELD_BACK_MS
  let cancelSoon: Cancel | null = null

  let sentAway = false
  const isGone = () => {
    if (!sentAway && deps.mayStay?.() === false) {
      sentAway = true
      sink.end()
    }
    return sentAway || sink.closed
  }

  const scope = withoutNulls({ conversation: config.conversation })
  type Range = Omit<Parameters<PlatformDeps['transcript']>[0], 'conversation' | 'direction'>
  const rows = (range: Range) => deps.transcript({ direction: 'out', ...scope, ...range })

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

  /** Those of all conversations begin at the same place: many that come at once, as after a restart, cost one look. */
  async function beginTogether(): Promise<void> {
    const { upTo, onItsWay } = await deps.together.beginning()
    at.upTo = upTo
    for (const row of onItsWay) leaveHole(row)
  }

  async function beginAlone(): Promise<void> {
    const [newest] = await rows({ limit: 1 })
    at.upTo = newest?.seq ?? 0
    const end = { onItsWay: true, beforeSeq: at.upTo + 1, limit: PAGE } as const
    for (let afterSeq = 0; ; ) {
      const page = await rows({ ...end, afterSeq })
      for (const row of page) leaveHole(row)
      if (page.length < PAGE) break
      afterSeq = page.at(-1)?.seq ?? at.upTo
    }
  }

  /** A position beyond the newest row is of another store: all that this one has is news to its reader. */
  async function resumeFrom(from: number): Promise<void> {
    // Asked with an end: without one the newest rows are held back while a commit before them is under way.
    const newestOf = { direction: 'out', beforeSeq: Number.MAX_SAFE_INTEGER, limit: 1 } as const
    const [newest] = from === 0 ? [] : await deps.transcript(newestOf)
    if (from <= (newest?.seq ?? 0)) return
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

  /** Holes of rows that are live, and those before them in the same conversation: they are sent by now, and come first. */
  function besideLive(): (hole: number) => boolean {
    const places = new Set([...live].filter(([seq]) => at.holes.has(seq)).map(([seq]) => placeOf.get(seq)))
    if (places.size === 0) return () => false
    return (hole) => live.has(hole) || places.has(placeOf.get(hole)) || !placeOf.has(hole)
  }

  /** Row by row as fast as the reader reads, so that one who is far behind is not taken for one who does not read. */
  async function emit(message: Shown): Promise<void> {
    const { seq } = message
    closeHole(seq)
    if (recent.has(seq)) return
    recent.set(seq, true)
    at.upTo = Math.max(at.upTo, seq)
    const { kind } = message.op
    const event = kind === 'edit' || kind === 'react' ? { event: kind } : {}
    sink.write(formatSse({ ...event, id: formatPosition(at), data: eventData(message, config.format) }))
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
        if (mayShow(row)) await emit(fromRow(config.integration, row))
        else if (onItsWay(row)) leaveHole(row)
        else live.delete(row.seq)
        at.upTo = Math.max(at.upTo, row.seq)
      }
      if (page.length < PAGE) return
    }
  }

  /** With an end: a hole was seen before, so nothing can appear in its place that this reader has not passed. */
  async function fillHoles(which: (hole: number) => boolean): Promise<void> {
    const asked = [...at.holes].filter(which)
    if (asked.length === 0) return
    // As of before the others are looked up: what becomes live meanwhile may come after one of them.
    const isLive = new Set(asked.filter((hole) => live.has(hole)))
    const waiting = await deps.together.waiting()
    const ended = asked.filter((hole) => isLive.has(hole) || !waiting.has(hole))
    await visitPassed(ended, PAGE, {
      read: (afterSeq, beforeSeq) => rows({ afterSeq, beforeSeq, limit: PAGE }),
      isReady: (row) => row === undefined || mayShow(row) || !onItsWay(row),
      async visit(hole, row) {
        if (row !== undefined && mayShow(row)) await emit(fromRow(config.integration, row))
        else if (row === undefined || !onItsWay(row)) closeHole(hole)
        return !sink.closed
      },
    })
  }

  /** No row can stand between it and what was passed, and none before it is still to come. */
  const isNext = ({ seq, isRow }: Live) => isRow && seq === at.upTo + 1 && at.holes.size === 0

  async function pump(unasked: boolean, message?: Live): Promise<void> {
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

  /** Sent here and not in the transcript yet, for a commit before it is under way. */
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
  const leave = deps.together.join({ look, waits: () => at.holes.size > 0 })
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
    status(conversation, text) {
      if (config.conversation !== null && conversation !== config.conversation) return
      // One who is behind reads what was said first.
      if (!begun || pumping || isGone()) return
      const data = config.format === 'json' ? JSON.stringify({ conversation, status: text }) : text
      sink.write(formatSse({ event: 'status', data }))
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

function fromRow(integration: string, row: TranscriptEntry): Shown {
  const to: Address = address(integration, row.conversation, row.thread)
  return { seq: row.seq, id: row.id, to, op: row.op ?? { kind: 'text', text: row.text }, at: row.at }
}
