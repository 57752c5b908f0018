// Pruning as the daemon does it, in a process without other work. `prune-gap.ts DATA_DIR ENTRY MS` prunes all bodies
// for MS and prints the longest time for which nothing else could run. The daemon's own pruning would begin in ten
// minutes.
import type { Clock } from '../src/contract/index.ts'
import { measuredStore } from './measured-store.ts'

const [dataDir = '', entry = '', forMs = '1000'] = process.argv.slice(2)
const { source, clock: real, open } = await measuredStore(dataDir, entry, 'bench-prune')
const { keepPruning } = source.retention
const store = await open()
/** The first wait, for the hour of pruning, ends at once. */
let waited = false
const clock: Clock = {
  now: () => real.now(),
  after(ms, run) {
    const first = !waited
    waited = true
    return real.after(first ? 0 : ms, run)
  },
}
const nothing = () => undefined
const log = { debug: nothing, info: nothing, warn: console.error, error: console.error, child: () => log }
const KEPT = { attachmentRetentionMs: 0, rowRetentionMs: 0, ledgerRetentionMs: 0, queueExpiryMs: 1 }
const tunables = () => ({ ...KEPT, bodyRetentionMs: 1 })

let slices = 0
let rows = 0
const counted = {
  ...store,
  async pruneBodies(olderThanMs: number, limit: number) {
    const gone = await store.pruneBodies(olderThanMs, limit)
    slices += 1
    rows += gone
    return gone
  },
}
const stop = keepPruning({ store: counted, clock, log, tunables })
const began = performance.now()
let longest = 0
for (let last = began; last - began < Number(forMs); ) {
  await new Promise<void>((resolve) => setImmediate(resolve))
  const now = performance.now()
  longest = Math.max(longest, now - last)
  last = now
}
stop()
console.log(JSON.stringify({ gap_ms: Math.round(longest), slices, rows }))
await store.close()
process.exit(0)
