// `switchboard restore --settle`: settles a database that PostgreSQL's own tool restored.
import { readLedgerKey } from '../../config/index.ts'
import { SwitchboardError } from '../../contract/index.ts'
import { createNodeClock, createRealRandom } from '../../runtime/real-clock.ts'
import { openStore } from '../../store/open.ts'
import type { StorePlace } from './place.ts'
import { settleAll } from './restore-backup.ts'

/** A node that was seen within this time may be running. */
const ALIVE_MS = 60_000

/** Throws `conflict` while a node runs, and `store_corrupt` if the chain does not verify. */
export async function settleInPlace(options: {
  readonly place: StorePlace
  readonly by: string
}): Promise<{ readonly sends_unknown: number; readonly head: string | null; readonly entries: number }> {
  const { folder, env, store: at, database } = options.place
  if (database !== null)
    throw new SwitchboardError('input_invalid', '--settle is for a database that pg_restore put back', {
      hint: 'an embedded one is restored with: switchboard restore BACKUP',
    })
  const clock = createNodeClock()
  const store = await openStore(at, {
    clock,
    random: createRealRandom(),
    node: 'restore',
    ledgerKey: readLedgerKey({ dataDir: folder.path, env }),
    onDatabaseTime: clock.adjust,
  })
  try {
    const alive = (await store.nodes()).find(
      (node) => node.leftAt === null && clock.now() - node.seenAt < ALIVE_MS,
    )
    if (alive)
      throw new SwitchboardError('conflict', `the node ${alive.node} uses this database`, {
        hint: 'stop all nodes first; one that was killed counts for a minute',
      })
    const [last] = await store.turns({ limit: 1 })
    const takenAt = last?.updatedAt ?? clock.now()
    const before = await store.verify()
    if (!before.ok)
      throw new SwitchboardError('store_corrupt', `it does not verify: ${before.brokenAt?.problem}`, {
        hint: 'nothing was changed: is ledger.key the one that sealed it?',
      })
    const sends = await settleAll(store, takenAt, options.by)
    const { head, entries } = await store.verify()
    return { sends_unknown: sends, head, entries }
  } finally {
    await store.close()
  }
}
