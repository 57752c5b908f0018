// Fills a data folder with turns that were received, handed over and answered, by the store's own verbs: the ledger's
// chain and the counters come out whole. `fill-ledger.ts DATA_DIR TURNS`.
import { createHash } from 'node:crypto'
import { createRealClock, createRealRandom } from '../src/app/real-clock.ts'
import { dataFolderAt, openKeyRing, prepareDataFolder } from '../src/config/index.ts'
import { address, type ReceiveItem, type Store, type TurnMove } from '../src/contract/index.ts'
import { openStore } from '../src/store/open.ts'

const BATCH = 4_000
const PEOPLE = 2_000
const LEASE_MS = 600_000
const TEXT = 'Please look into the failed deploy and tell me what you would change before nine. '.repeat(3)

const [dataDir = '', wanted = '0'] = process.argv.slice(2)
const folder = dataFolderAt({ data: dataDir, env: {} })
prepareDataFolder(folder)
const store = await openStore(folder.defaultStore, {
  clock: createRealClock(),
  random: createRealRandom(),
  node: 'bench-fill',
  ledgerKey: openKeyRing({ dataDir: folder.path, env: {} }).ledgerKey,
})
const lanes = new Map<string, number>()
for (let done = 0; done < Number(wanted); done += BATCH) {
  await fillBatch(store, done, Math.min(BATCH, Number(wanted) - done))
}
await store.releaseLanes(
  'turns',
  [...lanes].map(([lane, token]) => ({ lane, token })),
)
await store.close()

async function fillBatch(into: Store, from: number, count: number): Promise<void> {
  const items = Array.from({ length: count }, (_, at) => itemOf(from + at))
  const received = await into.receive(items)
  const sessions = new Set(received.map((one) => one.session ?? ''))
  const taken = await into.takeTurns(
    [...sessions].map((lane) => {
      const token = lanes.get(lane)
      return { lane, window: BATCH, ...(token === undefined ? {} : { token }) }
    }),
    LEASE_MS,
  )
  const moves: TurnMove[] = []
  for (const one of taken) {
    if (one.outcome !== 'taken') throw new Error(`lane ${one.lane}: ${one.outcome}`)
    lanes.set(one.lane, one.token)
    for (const { id } of one.handed)
      moves.push({ lane: one.lane, token: one.token, turn: id, to: 'answered' })
  }
  if (moves.length !== count) throw new Error(`${count} turns were received, ${moves.length} were handed`)
  await into.moveTurns(moves)
}

function itemOf(number: number): ReceiveItem {
  const person = `person-${number % PEOPLE}`
  const body = {
    kind: 'message',
    text: `${TEXT}${number}`,
    meta: { path: '/hooks/bench', method: 'POST' },
  } as const
  return {
    turn: {
      at: address('bench', person),
      platform: 'webhook',
      messageId: `filled-${number}`,
      editVersion: 0,
      source: 'webhook:bench',
      agent: 'bench',
      sender: 'webhook',
      body,
      bodyDigest: createHash('sha256').update(JSON.stringify(body)).digest('hex'),
    },
    state: 'queued',
    reason: null,
    keepRow: true,
    effects: [],
  }
}
