// A node without the gateway: a process with the store of the measured build. On command it claims lanes, writes turns
// and listens for hints.
import type { ReceiveItem, Store } from '../../src/contract/index.ts'
import { measuredSource } from '../measured-source.ts'
import { benchItem } from './bench-item.ts'
import type { Claimed, FromStoreNode, ToStoreNode, Written } from './store-messages.ts'

// As many as the drain takes in one round.
const LANES_PER_ROUND = 32
const LEASE_MS = 15_000
const MOST_PASSES = 200

let store: Store | null = null
let heard: { lane: string; at: number }[] = []
const now = () => Number(process.hrtime.bigint())

process.on('message', (message: ToStoreNode) => {
  work(message).then(
    (answer) => process.send?.(answer),
    (error) => process.send?.({ is: 'failed', error: String(error) } satisfies FromStoreNode),
  )
})
process.on('disconnect', () => void (store?.close() ?? Promise.resolve()).finally(() => process.exit(0)))

async function work(message: ToStoreNode): Promise<FromStoreNode> {
  if (message.do === 'open') {
    store = await open(message)
    store.onHint((hint) => {
      if (hint.kind === 'turns') heard.push({ lane: hint.lane, at: now() })
    })
    return { is: 'open' }
  }
  if (store === null) throw new Error('no store is open')
  switch (message.do) {
    case 'fill':
      return { is: 'filled', lanes: await fill(store, message.lanes, message.prefix) }
    case 'claim':
      return { is: 'claimed', claimed: await claim(store, message.lanes) }
    case 'write':
      return { is: 'written', written: await write(store, message.count, message.prefix) }
    case 'heard': {
      const all = heard
      heard = []
      return { is: 'heard', heard: all }
    }
  }
}

/** Opens the store of the measured build, so that the daemon and this process agree on the schema. */
async function open({ store: at, node, entry, key }: ToStoreNode & { do: 'open' }): Promise<Store> {
  const { clock, store } = await measuredSource(entry)
  const ledgerKey = Buffer.from(key, 'base64')
  const deps = { clock: clock.createRealClock(), random: clock.createRealRandom(), node, ledgerKey }
  return await store.openStore(at, deps)
}

async function fill(into: Store, lanes: number, prefix: string): Promise<readonly string[]> {
  const items = Array.from({ length: lanes }, (_, at) => itemOf(`${prefix}-${at}`))
  return (await into.receive(items)).map((one) => one.session ?? '')
}

/** Claims lanes in the same order on every node. A hint wakes all nodes, and all ask for the same lanes at once. */
async function claim(from: Store, lanes: readonly string[]): Promise<Claimed> {
  const began = now()
  let won = 0
  let asked = 0
  let open = [...lanes]
  for (let pass = 0; open.length > 0; pass++) {
    if (pass === MOST_PASSES) throw new Error(`${open.length} lanes stay busy`)
    const busy: string[] = []
    for (let at = 0; at < open.length; at += LANES_PER_ROUND) {
      const part = open.slice(at, at + LANES_PER_ROUND).map((lane) => ({ lane, window: 1 }))
      asked += part.length
      const taken = await from.takeTurns(part, LEASE_MS)
      const held: { lane: string; token: number }[] = []
      const moves: Parameters<Store['moveTurns']>[0][number][] = []
      for (const one of taken) {
        if (one.outcome !== 'taken') busy.push(one.lane)
        else {
          held.push({ lane: one.lane, token: one.token })
          won += one.handed.length
          for (const { id } of one.handed)
            moves.push({ lane: one.lane, token: one.token, turn: id, to: 'answered' })
        }
      }
      // Both calls are in one turn of the loop, so they make one commit.
      await Promise.all([from.moveTurns(moves), from.releaseLanes('turns', held)])
    }
    open = busy
  }
  return { won, asked, began, ended: now() }
}

async function write(into: Store, count: number, prefix: string): Promise<readonly Written[]> {
  const written: Written[] = []
  for (let at = 0; at < count; at++) {
    const began = now()
    const [one] = await into.receive([itemOf(`${prefix}-${at}`)])
    written.push({ lane: one?.session ?? '', began, committed: now() })
  }
  return written
}

function itemOf(conversation: string): ReceiveItem {
  return benchItem({ conversation, messageId: 'm', text: 'Is the deploy through? '.repeat(9) })
}
