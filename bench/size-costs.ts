// The cost of the store's methods at one size. `size-costs.ts DATA_DIR ENTRY SESSIONS TURNS` prints one line of JSON.
// SQL seeds past turns without ledger entries, because only their number matters here. The store is that of the
// measured build.
import type { Store } from '../src/contract/index.ts'
import { benchItem } from './load/bench-item.ts'
import { seedPast } from './load/seed-past.ts'
import { inBatches, measuredStore } from './measured-store.ts'
import { median, rounded } from './statistics.ts'

const LEASE_MS = 600_000
const BATCH = 1_000
/** The number of turns that wait in one session. */
const QUEUED = 10_000
const ROUNDS = 15
/** As many lanes as a round of the daemon takes. */
const LANES = 32

const [dataDir = '', entry = '', sessions = '1', turns = '0'] = process.argv.slice(2)
const { database, open } = await measuredStore(dataDir, entry, 'bench-sizes')
await (await open()).close()
seedPast(database, Number(turns))
const store = await open()
// This commit also gathers the places of the seeded turns.
await store.receive([benchItem({ conversation: 'first', messageId: 'first', text: 'hello' })])
const before = heapBytes()
const lanes = await fill(store, Number(sessions))
const waiting = heapBytes() - before
const verbs = await timeVerbs(store, lanes)
const reads = await timeReads(store)
// This is last, because `status` counts waiting turns.
const longQueue = await bytesAWaitingTurn(store)
await store.close()
console.log(
  JSON.stringify({
    ...{ sessions: Number(sessions), turns: Number(turns), ...verbs, ...reads },
    bytes_a_waiting_session: Math.max(0, Math.round(waiting / Number(sessions))),
    bytes_a_waiting_turn: longQueue,
  }),
)

/** Queues one turn in each session. */
async function fill(into: Store, many: number): Promise<readonly string[]> {
  const found: string[] = []
  await inBatches(many, BATCH, async (from, length) => {
    const items = Array.from({ length }, (_, at) =>
      benchItem({ conversation: `person-${from + at}`, messageId: `m-${from + at}`, text: 'hello' }),
    )
    for (const { session } of await into.receive(items)) found.push(session ?? '')
  })
  return found
}

/** The heap for one more turn that waits in an existing session. */
async function bytesAWaitingTurn(of: Store): Promise<number> {
  const before = heapBytes()
  await inBatches(QUEUED, BATCH, (from, length) =>
    of.receive(
      Array.from({ length }, (_, at) =>
        benchItem({ conversation: 'first', messageId: `queued-${from + at}`, text: 'hello' }),
      ),
    ),
  )
  return Math.max(0, Math.round((heapBytes() - before) / QUEUED))
}

/** Microseconds per lane. If there are fewer sessions than lanes, the sessions get new messages in between. */
async function timeVerbs(of: Store, all: readonly string[]) {
  const take: number[] = []
  const settle: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const from = (round * LANES) % all.length
    const wanted = all.slice(from, from + LANES)
    if (round * LANES >= all.length) {
      const items = wanted.map((_, at) =>
        benchItem({ conversation: `person-${from + at}`, messageId: `again-${round}-${at}`, text: 'hello' }),
      )
      await of.receive(items)
    }
    let began = performance.now()
    const taken = await of.takeTurns(
      wanted.map((lane) => ({ lane, window: 1 })),
      LEASE_MS,
    )
    take.push(((performance.now() - began) * 1_000) / wanted.length)
    const held = taken.flatMap((one) => (one.outcome === 'taken' ? [one] : []))
    const moves = held.flatMap(({ lane, token, handed }) =>
      handed.map(({ id }) => ({ lane, token, turn: id, to: 'answered' as const })),
    )
    if (moves.length !== wanted.length) throw new Error(`${wanted.length} lanes gave ${moves.length} turns`)
    began = performance.now()
    await of.moveTurns(moves)
    settle.push(((performance.now() - began) * 1_000) / wanted.length)
    await of.releaseLanes('turns', held)
  }
  return { take_us: rounded(median(take), 0), settle_us: rounded(median(settle), 0) }
}

/** Milliseconds per read. */
async function timeReads(of: Store) {
  const timed = async (read: () => Promise<unknown>) => {
    const times: number[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      const began = performance.now()
      await read()
      times.push(performance.now() - began)
    }
    return rounded(median(times), 2)
  }
  return {
    status_ms: await timed(() => Promise.all([of.counters(), of.queuedTurns(), of.pendingApprovals()])),
    turns_ms: await timed(() => of.turns({ limit: 50 })),
    failed_ms: await timed(() => of.turns({ states: ['failed'], limit: 50 })),
    stream_ms: await timed(() =>
      Promise.all([
        of.transcript('bench', { direction: 'out', afterSeq: 0, limit: 100 }),
        of.onItsWay('bench'),
      ]),
    ),
  }
}

function heapBytes(): number {
  global.gc?.()
  return process.memoryUsage().heapUsed
}
