// A walk over histories whose platform floods, lists without end, forgets and lies: it stays bounded and fair, and
// reports the problem.
import { expect, it } from 'vitest'
import {
  type HistoryEntry,
  type HistoryLinkRow,
  type HistoryMark,
  type HistoryPage,
  type HistoryPlace,
  type HistoryQuery,
  type MarkMove,
  type Received,
  SwitchboardError,
} from '../../contract/index.ts'
import { type WalkDeps, walkHistory } from './walk.ts'

const DAY = 24 * 3_600_000
const NOW = 1_700_000_000_000
const ROW: HistoryLinkRow = {
  ...{ integration: 'chat', beganAt: NOW - 300 * DAY, until: null, comparedAt: NOW - 600_000 },
  ...{ state: 'behind', detail: null },
}
const RECEIVED: Received = { id: null, duplicate: false, state: 'queued', reason: null, session: null }

interface World extends Partial<WalkDeps> {
  readonly places?: readonly HistoryPlace[]
  readonly read?: (query: HistoryQuery) => Promise<HistoryPage>
  readonly known?: () => Promise<readonly never[]>
}

function world({ places = [], read, ...over }: World = {}) {
  const marks = new Map<string, HistoryMark>()
  const taken: string[] = []
  const moves: MarkMove[] = []
  const gaps: { readonly place: string; readonly from: number; readonly to: number }[] = []
  let most = 0
  const deps: WalkDeps = {
    integration: 'chat',
    reader: {
      places: async () => ({ places }),
      read: read ?? (async () => ({ entries: [], more: false })),
    },
    store: {
      historyMarks: async (_, ids) => ids.flatMap((id) => marks.get(id) ?? []),
      marksSince: async () => [],
      knownMessages: async () => [],
      forgetPlace: async (_, id) => void marks.delete(id),
    },
    now: () => NOW,
    late: async (events, mark) => {
      most = Math.max(most, events.length)
      taken.push(...events.map((event) => ('text' in event ? event.text : '')))
      if (mark !== null) {
        moves.push(mark)
        marks.set(mark.place, mark)
      }
      return events.map(() => RECEIVED)
    },
    known: async () => [],
    firstHeard: async () => null,
    hold: async () => null,
    inTime: (answer) => answer,
    pause: async () => true,
    gapMs: 0,
    missed: () => undefined,
    gap: async ({ id: place }, span) => void gaps.push({ place, ...span }),
    ...over,
  }
  return { deps, marks, taken, moves, gaps, most: () => most }
}

const said = (n: number, at: number, place = 'flood'): HistoryEntry => ({
  ...{ position: String(n).padStart(9, '0'), at },
  event: {
    ...{ kind: 'message', conversation: place, chat: 'direct', sender: { id: 'mallory' }, at },
    ...{ messageId: `m${n}`, text: `${place} ${n}` },
  },
})

/** `count` messages, each created on demand. */
const endless =
  (count: number, at = NOW - DAY) =>
  async ({ after, limit, place }: HistoryQuery): Promise<HistoryPage> => {
    if (place.id !== 'flood')
      return { entries: after === null ? [said(1, NOW - DAY, place.id)] : [], more: false }
    const from = after === null ? 0 : Number(after) + 1
    const entries = Array.from({ length: Math.max(0, Math.min(limit, count - from)) }, (_, n) =>
      said(from + n, at),
    )
    return { entries, more: from + limit < count }
  }

/** Nothing was compared yet, so any message may have been missed. */
const FIRST: HistoryLinkRow = { ...ROW, comparedAt: null }

it('[I15.reader-lies] a listing that pages without end is a fault, and what it listed is compared all the same', async () => {
  let pages = 0
  const { deps, taken } = world({ read: endless(0) })
  const places = async () => ({ places: [{ id: 'anna' }], next: `page ${++pages}` })
  const outcome = await walkHistory(FIRST, { ...deps, reader: { ...deps.reader, places } })
  expect(outcome).toMatchObject({ end: 'walked', settled: false, problem: expect.stringMatching(/list/) })
  expect(pages).toBeLessThanOrEqual(5_001)
  expect(taken).toEqual(['anna 1'])
})

it('[I15.reader-lies] a listing whose page names are absurd, or a place that cannot be named, stops nothing else', async () => {
  const { deps, taken } = world({ read: endless(0), known: async () => [{ conversation: 'x' }] as never })
  const places = async () => ({ places: [{ id: 'anna' }], next: 'x'.repeat(1_000_000) })
  const placeOf = () => {
    throw new Error('no such place')
  }
  const outcome = await walkHistory(FIRST, { ...deps, reader: { ...deps.reader, places, placeOf } })
  expect(outcome).toMatchObject({ end: 'walked', problem: expect.stringMatching(/list/) })
  expect(taken).toEqual(['anna 1'])
})

it('[I14.walked-all] every thread and chat that was active lately is compared, however many there are', async () => {
  const many = Array.from({ length: 5_000 }, (_, n) => ({ place: `thread-${n}`, position: '0', at: NOW - n }))
  const { deps, taken } = world({ read: endless(0) })
  const marksSince: WalkDeps['store']['marksSince'] = async (_, __, { limit, after }) => {
    const from = after === undefined ? 0 : many.findIndex(({ place }) => place === after.place) + 1
    return many.slice(from, from + limit)
  }
  const asked: number[] = []
  const outcome = await walkHistory(ROW, {
    ...deps,
    reader: { ...deps.reader, placeOf: () => null },
    store: { ...deps.store, marksSince },
    known: async (sinceMs) => {
      asked.push(sinceMs)
      return []
    },
  })
  expect(outcome).toMatchObject({ end: 'walked', places: 5_000 })
  expect(new Set(taken).size).toBe(5_000)
  // The walk reads everything since the last comparison.
  expect(asked).toEqual([(ROW.comparedAt ?? ROW.beganAt) - 60_000])
})

it('[I15.fair-walk] a flood in one place, behind a rate limit, does not keep what was missed in others waiting for its end', async () => {
  let calls = 0
  const flood = endless(100_050)
  const limited = async (query: HistoryQuery) => {
    if (++calls % 2 === 0) throw new SwitchboardError('rate_limited', 'slow down', { retryAfterMs: 60_000 })
    return flood(query)
  }
  const { deps, taken, most } = world({ places: [{ id: 'flood' }, { id: 'anna' }], read: limited })
  const first = await walkHistory(FIRST, deps)
  expect(taken.indexOf('anna 1')).toBeGreaterThan(0)
  expect(taken.indexOf('anna 1')).toBeLessThan(5_000)
  expect(first).toMatchObject({ settled: false, problem: expect.stringMatching(/more than one walk takes/) })
  // The next walk reads all of it, in order, once, at most one page at a time.
  expect(await walkHistory(FIRST, deps)).toMatchObject({ settled: true, problem: null })
  const floods = taken.filter((text) => text.startsWith('flood'))
  expect(floods).toHaveLength(100_050)
  expect(floods.every((text, n) => text === `flood ${n}`)).toBe(true)
  expect(most()).toBeLessThanOrEqual(100)
})

it('[I15.forgotten-told] what the platform has forgotten is told once, and never of a place that was compared since', async () => {
  const read = async () => ({ entries: [], more: false, begins: NOW - 90 * DAY })
  const { deps, marks, gaps } = world({ places: [{ id: 'quiet' }], read })
  marks.set('quiet', { place: 'quiet', position: '1', at: NOW - 200 * DAY })
  await walkHistory(ROW, deps)
  expect(gaps).toEqual([])
  await walkHistory({ ...ROW, comparedAt: NOW - 100 * DAY }, deps)
  expect(gaps).toEqual([{ place: 'quiet', from: NOW - 100 * DAY, to: NOW - 90 * DAY }])
})

it('[I15.forgotten-told] what is older than rows are kept is not taken for missed, and told', async () => {
  const read = async ({ after }: HistoryQuery): Promise<HistoryPage> =>
    after === '0'
      ? { entries: [said(1, NOW - 60 * DAY), said(2, NOW - 40 * DAY), said(3, NOW - DAY)], more: false }
      : { entries: [], more: false }
  const { deps, marks, taken, gaps } = world({ places: [{ id: 'flood' }], read })
  // The place was unreadable for two months while others were compared. Some of its rows may be pruned.
  marks.set('flood', { place: 'flood', position: '0', at: NOW - 61 * DAY })
  await walkHistory(ROW, deps)
  expect(taken).toEqual(['flood 3'])
  expect(gaps).toEqual([{ place: 'flood', from: NOW - 60 * DAY, to: NOW - 40 * DAY }])
})

it('[I15.forgotten-told] after a long absence everything since the last comparison is taken, however old', async () => {
  const { deps, marks, taken, gaps } = world({
    places: [{ id: 'flood' }],
    read: endless(3, NOW - 60 * DAY),
  })
  marks.delete('flood')
  await walkHistory({ ...ROW, comparedAt: NOW - 100 * DAY }, deps)
  expect(taken).toHaveLength(3)
  expect(gaps).toEqual([])
})

it('[I15.clocks-differ] a place is passed over only if it was quiet for longer than clocks differ before the last look', async () => {
  const activeAt = NOW - 600_000 - 200_000
  const reads: string[] = []
  const read = async ({ place }: HistoryQuery) => {
    reads.push(place.id)
    return { entries: [], more: false }
  }
  const places = [
    { id: 'just before', activeAt },
    { id: 'long before', activeAt: activeAt - 3_600_000 },
  ]
  const { deps } = world({ places, read })
  await walkHistory(ROW, deps)
  expect(reads).toEqual(['just before'])
  // A comparison in the future was recorded by a clock that was ahead. It proves nothing.
  await walkHistory({ ...ROW, comparedAt: NOW + DAY }, deps)
  expect(reads).toEqual(['just before', 'just before', 'long before'])
})

it('[I35.b32] a listing that fails holds up no chat that the river knows, and is asked for again', async () => {
  const order: string[] = []
  let isAway = true
  const { deps, taken } = world({
    read: (query) => {
      order.push(query.place.id)
      return endless(0)(query)
    },
    known: async () => [{ conversation: 'anna' }] as never,
    pause: async () => {
      isAway = false
      return true
    },
  })
  const places = async () => {
    order.push('listing')
    if (isAway) throw new SwitchboardError('platform_unavailable', 'HTTP 500')
    return { places: [{ id: 'room' }] }
  }
  const reader = { ...deps.reader, places, placeOf: () => ({ id: 'anna' }) }
  const outcome = await walkHistory(FIRST, { ...deps, reader })
  expect(outcome).toMatchObject({ problem: null, settled: true })
  expect(order).toEqual(['listing', 'anna', 'listing', 'listing', 'room'])
  expect(taken).toEqual(['anna 1', 'room 1'])
})

it('[I35.b32] a listing that fails for good, or only in part, is never called complete', async () => {
  const { deps, taken } = world({ read: endless(0), known: async () => [{ conversation: 'anna' }] as never })
  const failing = async () => {
    throw new SwitchboardError('platform_unavailable', 'HTTP 500')
  }
  const reader = { ...deps.reader, placeOf: () => ({ id: 'anna' }) }
  expect(await walkHistory(FIRST, { ...deps, reader: { ...reader, places: failing } })).toMatchObject({
    ...{ end: 'walked', settled: false, problem: expect.stringContaining('HTTP 500') },
  })
  expect(taken).toEqual(['anna 1'])
  const partly = async () => ({
    places: [{ id: 'room' }],
    unlisted: [{ detail: 'threads cannot be listed', lasting: true }],
  })
  expect(await walkHistory(FIRST, { ...deps, reader: { ...reader, places: partly } })).toMatchObject({
    ...{ end: 'walked', settled: true, problem: 'threads cannot be listed' },
  })
  expect(taken).toContain('room 1')
})

it('[I35.b32] a place whose pages do not move on is behind with the reason, and the others are compared', async () => {
  const turns: readonly ((query: HistoryQuery) => HistoryPage)[] = [
    // Promises more, and returns nothing.
    () => ({ entries: [], more: true }),
    // The same page for ever.
    () => ({ entries: [said(7, NOW - DAY)], more: true }),
    // Two pages in alternation.
    ({ after }) => ({ entries: [said(after?.endsWith('7') ? 6 : 7, NOW - DAY)], more: true }),
  ]
  for (const page of turns) {
    let reads = 0
    const read = async (query: HistoryQuery) => {
      if (query.place.id !== 'flood') return endless(0)(query)
      // A walk that continues ends here.
      return ++reads > 10 ? { entries: [], more: false } : page(query)
    }
    const { deps, taken } = world({ places: [{ id: 'flood' }, { id: 'room' }], read })
    const outcome = await walkHistory(FIRST, deps)
    expect(outcome).toMatchObject({ settled: false, problem: 'flood: its history does not move on' })
    expect(reads).toBeLessThan(5)
    expect(taken).toContain('room 1')
  }
})
