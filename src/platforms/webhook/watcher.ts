// One reader of GET /hooks/ID/events: replays from the outbox what it missed, then shows what is sent, in order,
// with no gap and nothing twice.
//
// The outbox row is the durable record. A live message only says "look": the reader pumps rows after its position out
// of the transcript. A row that is not sent yet leaves a hole, which is filled when the row is sent.
import type { Address, Clock, PlatformDeps, StreamSink, TranscriptEntry } from '../../contract/index.ts'
import { address, createBoundedMap } from '../../contract/index.ts'
import { formatSse, formatSseComment } from '../../kit/index.ts'
import { formatPosition, type Position } from './position.ts'
import { eventData, type Shown } from './render.ts'

const PAGE = 100
/** How often the outbox is looked at unasked: what another node sent wakes nobody here. */
const LOOK_MS = 5_000
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
  show(message: Shown): void
  /** Something was sent there by another node. */
  heard(conversation: string): void
  end(): void
}

export function createWatcher(
  config: WatcherConfig,
  deps: Pick<PlatformDeps, 'transcript'> & { readonly clock: Clock; readonly sink: StreamSink },
): Watcher {
  const { sink } = deps
  const live = new Map<number, Shown>()
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

  const scope = config.conversation === null ? {} : { conversation: config.conversation }
  const rows = (query: { readonly afterSeq?: number; readonly limit: number }) =>
    deps.transcript({ direction: 'out', ...scope, ...query })

  /** A new reader starts behind the newest row; rows that are still on their way are news. */
  async function begin(): Promise<void> {
    if (resumedAt !== null) return goOn(resumedAt)
    for (const row of await rows({ limit: PAGE })) {
      at.upTo = row.seq
      if (onItsWay(row)) leaveHole(row)
    }
    begun = true
  }

  /** A position beyond the newest row is of another store: all that this one has is news to its reader. */
  async function goOn(from: number): Promise<void> {
    // Asked with an end: without one the newest rows are held back while a commit before them is under way.
    const newestOf = { direction: 'out', beforeSeq: Number.MAX_SAFE_INTEGER, limit: 1 } as const
    const [newest] = from === 0 ? [] : await deps.transcript(newestOf)
    if (from > (newest?.seq ?? 0)) {
      resumedAt = 0
      at.upTo = 0
      at.holes.clear()
    }
    begun = true
  }

  function leaveHole(row: TranscriptEntry): void {
    at.holes.add(row.seq)
    placeOf.set(row.seq, row.conversation)
  }

  function closeHole(seq: number): void {
    at.holes.delete(seq)
    placeOf.delete(seq)
  }

  function emit(message: Shown): void {
    live.delete(message.seq)
    closeHole(message.seq)
    if (recent.has(message.seq)) return
    recent.set(message.seq, true)
    at.upTo = Math.max(at.upTo, message.seq)
    const { kind } = message.op
    const event = kind === 'edit' || kind === 'react' ? { event: kind } : {}
    sink.write(formatSse({ ...event, id: formatPosition(at), data: eventData(message, config.format) }))
  }

  async function readOn(): Promise<void> {
    for (;;) {
      const page = await rows({ afterSeq: at.upTo, limit: PAGE })
      for (const row of page) await take(row)
      await sink.drained()
      if (page.length < PAGE || sink.closed) return
    }
  }

  async function take(row: TranscriptEntry): Promise<void> {
    const shown = live.get(row.seq) ?? (wasShown(row) ? fromRow(config.integration, row) : null)
    if (shown !== null) await emitInOrder(shown)
    else if (onItsWay(row)) leaveHole(row)
    at.upTo = Math.max(at.upTo, row.seq)
  }

  /** What was sent before it in the same conversation, and was still on its way when it was looked at, comes first. */
  async function emitInOrder(message: Shown): Promise<void> {
    await fillHoles((hole) => {
      const place = placeOf.get(hole)
      return hole < message.seq && (place === undefined || place === message.to.conversation)
    })
    emit(message)
  }

  async function fillHoles(which: (hole: number) => boolean): Promise<void> {
    for (const hole of [...at.holes].filter(which).sort((a, b) => a - b)) {
      const waiting = live.get(hole)
      if (waiting !== undefined) {
        emit(waiting)
        continue
      }
      const row = (await rows({ afterSeq: hole - 1, limit: 1 }))[0]
      if (row !== undefined && (row.seq !== hole || !onItsWay(row))) {
        if (row.seq === hole && wasShown(row)) emit(live.get(hole) ?? fromRow(config.integration, row))
        closeHole(hole)
      }
    }
  }

  async function pump(unasked: boolean): Promise<void> {
    again = true
    if (unasked) fill = true
    if (pumping) return
    pumping = true
    try {
      while (again && !sink.closed) {
        again = false
        const first = !begun
        if (first) await begin()
        await readOn()
        if (fill || first) {
          fill = false
          await fillHoles(() => true)
        }
        // Sent just now, with a position that was passed before: late, but news.
        for (const message of [...live.values()].sort((a, b) => a.seq - b.seq)) await emitInOrder(message)
      }
    } catch {
      // The store is away. The reader comes back with its position and misses nothing.
      sink.end()
    } finally {
      pumping = false
    }
  }

  const look = () => {
    if (looks++ % LOOKS_PER_HEARTBEAT === 0) sink.write(formatSseComment('alive'))
    void pump(true)
    cancel = deps.clock.after(LOOK_MS, look)
  }
  let cancel = deps.clock.after(LOOK_MS, look)
  sink.onClose(() => cancel())
  sink.write(formatSseComment('connected'))
  void pump(true)

  const known = (seq: number) => resumedAt !== null && seq <= resumedAt && !at.holes.has(seq)
  return {
    show(message) {
      if (config.conversation !== null && message.to.conversation !== config.conversation) return
      if (recent.has(message.seq) || known(message.seq)) return
      live.set(message.seq, message)
      void pump(false)
    },
    heard(conversation) {
      if (config.conversation === null || conversation === config.conversation) void pump(true)
    },
    end() {
      cancel()
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
