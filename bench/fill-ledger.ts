// Fills a data folder with turns that were received, handed over and answered. It uses the store's own methods, so the
// ledger's chain and the counters are correct. The store comes from the measured build, so that both agree on the
// schema. Usage: `fill-ledger.ts DATA_DIR TURNS ENTRY`.
import type { ReceiveItem, Store, TurnMove } from '../src/contract/index.ts'
import { benchItem } from './load/bench-item.ts'
import { inBatches, measuredStore } from './measured-store.ts'

const BATCH = 4_000
// The people of one batch write in that batch only, because taking a lane costs more than a turn.
const PEOPLE = 100
const LEASE_MS = 600_000
const TEXT = 'Please look into the failed deploy and tell me what you would change before nine. '.repeat(3)

const [dataDir = '', wanted = '0', entry = ''] = process.argv.slice(2)
const store = await (await measuredStore(dataDir, entry, 'bench-fill')).open()
await inBatches(Number(wanted), BATCH, (from, count) => fillBatch(store, from, count))
await store.close()

async function fillBatch(into: Store, from: number, count: number): Promise<void> {
  const items = Array.from({ length: count }, (_, at) => itemOf(from + at))
  const received = await into.receive(items)
  const sessions = new Set(received.map((one) => one.session ?? ''))
  const taken = await into.takeTurns(
    [...sessions].map((lane) => ({ lane, window: BATCH })),
    LEASE_MS,
  )
  const moves: TurnMove[] = []
  const held: { lane: string; token: number }[] = []
  for (const one of taken) {
    if (one.outcome !== 'taken') throw new Error(`lane ${one.lane}: ${one.outcome}`)
    held.push({ lane: one.lane, token: one.token })
    for (const { id } of one.handed)
      moves.push({ lane: one.lane, token: one.token, turn: id, to: 'answered' })
  }
  if (moves.length !== count) throw new Error(`${count} turns were received, ${moves.length} were handed`)
  await into.moveTurns(moves)
  await into.releaseLanes('turns', held)
}

function itemOf(number: number): ReceiveItem {
  const conversation = `person-${Math.floor(number / BATCH) * PEOPLE + (number % PEOPLE)}`
  return benchItem({ conversation, messageId: `filled-${number}`, text: `${TEXT}${number}` })
}
