// The chat's history: both directions of the transcript merged in order, and the cursor that resumes a stream. Inbound
// and outbound rows count separately, so a cursor contains both positions. A send that is due later (a reminder)
// appears with a lower position, so the cursor also names such sends.
import type { TranscriptEntry, TranscriptQuery } from '../../contract/index.ts'
import { fitHoles, MAX_HOLES } from '../../kit/index.ts'
import { isPendingSend, type WireEntry, wireEntry } from './render.ts'

export type ReadTranscript = (query: TranscriptQuery) => Promise<readonly TranscriptEntry[]>

export interface Cursor {
  readonly in: number
  readonly out: number
  /** Positions at or below `out` that may still be sent. */
  readonly pending: readonly number[]
}

/** If too many are pending, an earlier position is used. Some entries are then seen twice, none is missed. */
export function formatCursor(cursor: Cursor): string {
  const { upTo, holes } = fitHoles(cursor.out, cursor.pending)
  return `i${cursor.in}.o${upTo}${holes.length === 0 ? '' : `.p${holes.join('-')}`}`
}

/** Null for anything that `formatCursor` did not make. */
export function parseCursor(text: string | null): Cursor | null {
  if (text === null || text.length > 4_000) return null
  const found = /^i(\d{1,15})\.o(\d{1,15})(?:\.p(\d{1,15}(?:-\d{1,15}){0,199}))?$/.exec(text)
  if (found === null) return null
  const pending = found[3] === undefined ? [] : found[3].split('-').map(Number)
  pending.sort((a, b) => a - b)
  return { in: Number(found[1]), out: Number(found[2]), pending }
}

/** Merges two runs by time, each in the order of its positions. */
export function mergeByTime(
  a: readonly TranscriptEntry[],
  b: readonly TranscriptEntry[],
): readonly TranscriptEntry[] {
  const merged: TranscriptEntry[] = []
  const times = { a: risingTimes(a), b: risingTimes(b) }
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    const left = a[i]
    const right = b[j]
    if (right === undefined || (left !== undefined && (times.a[i] ?? 0) <= (times.b[j] ?? 0))) {
      if (left !== undefined) merged.push(left)
      i += 1
    } else {
      merged.push(right)
      j += 1
    }
  }
  return merged
}

/** Makes times rise: a late reminder in an early place would hold back the other run. */
function risingTimes(run: readonly TranscriptEntry[]): readonly number[] {
  let least = Number.POSITIVE_INFINITY
  return run
    .toReversed()
    .map((entry) => {
      least = Math.min(least, entry.at)
      return least
    })
    .reverse()
}

export interface HistoryPage {
  readonly entries: readonly WireEntry[]
  /** Where the next older page begins; null when there is none. */
  readonly before: string | null
  /** Where a stream continues. Everything up to here is known. */
  readonly cursor: string
}

export async function readHistory(
  read: ReadTranscript,
  conversation: string,
  page: { readonly before: Cursor | null; readonly limit: number },
): Promise<HistoryPage> {
  const { before, limit } = page
  const [ins, outs, waiting] = await Promise.all([
    before?.in === 0
      ? []
      : read({ conversation, direction: 'in', limit, ...(before === null ? {} : { beforeSeq: before.in }) }),
    before?.out === 0
      ? []
      : read({
          conversation,
          direction: 'out',
          limit,
          ...(before === null ? {} : { beforeSeq: before.out }),
        }),
    // Pending sends of any age, the newest that fit. A stream that is opened now reports the rest.
    before === null ? read({ conversation, direction: 'out', onItsWay: true, limit: MAX_HOLES }) : [],
  ])
  const taken = mergeByTime(ins, outs).slice(-limit)
  const takenIn = taken.filter((entry) => entry.direction === 'in')
  const takenOut = taken.filter((entry) => entry.direction === 'out')
  const more = {
    in: ins.length > takenIn.length || ins.length === limit,
    out: outs.length > takenOut.length || outs.length === limit,
  }
  // 0 means that nothing is older on this side. A side that gave no entry begins after its newest one.
  const edge = (entries: readonly TranscriptEntry[], left: boolean, all: readonly TranscriptEntry[]) =>
    left ? (entries[0]?.seq ?? (all.at(-1)?.seq ?? 0) + 1) : 0
  const older = {
    in: edge(takenIn, more.in, ins),
    out: edge(takenOut, more.out, outs),
    pending: [],
  }
  return {
    entries: taken.map(wireEntry).filter((entry) => entry !== null),
    before: more.in || more.out ? formatCursor(older) : null,
    cursor: formatCursor({
      in: ins.at(-1)?.seq ?? 0,
      out: outs.at(-1)?.seq ?? 0,
      pending: waiting
        .filter((entry) => isPendingSend(entry) && entry.seq <= (outs.at(-1)?.seq ?? 0))
        .map((entry) => entry.seq),
    }),
  }
}
