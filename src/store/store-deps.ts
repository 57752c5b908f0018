// The dependencies of both stores, and the names derived from them.
import type { Clock, Logger, Random } from '../contract/index.ts'

export interface StoreDeps {
  readonly clock: Clock
  readonly random: Random
  /** This node's name: part of counters, lanes and the ledger's chains. */
  readonly node: string
  /** Key of the ledger's HMAC chain. */
  readonly ledgerKey: Uint8Array
  /**
   * If present, the database's clock decides for every commit, and this function gets its time. If absent, the given
   * clock decides (an embedded database, or a test that drives the time).
   */
  readonly onDatabaseTime?: (databaseNow: number, askedAt: number, answeredAt: number) => void
  /** Logs when the database goes away and returns. */
  readonly log?: Logger
  /** How long an unhurried commit may wait for others to share it. Absent: not at all. */
  readonly unhurriedMs?: number
  /** Parallel connections for reads, where a store has them. Absent: four. */
  readonly readers?: number
  /** Named points where a fault test may kill the process: `store.before-commit`, `store.after-commit`. */
  readonly crashPoint?: (name: string) => void
}

/** Returns `<node>/<boot>`. It is never the same twice, so a restarted node is not mistaken for its earlier run. */
export function ownerName({ node, clock, random }: Pick<StoreDeps, 'node' | 'clock' | 'random'>): string {
  const boot = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z')
  return `${node}/${boot}-${Buffer.from(random.bytes(4)).toString('hex')}`
}

/** Returns six letters or digits that distinguish this database's ids from another's. */
export function freshTag(random: Random): string {
  const number = Buffer.from(random.bytes(6)).readUIntBE(0, 6)
  return (number % 36 ** 6).toString(36).padStart(6, '0')
}
