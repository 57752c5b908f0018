// What both stores are given, and the names they make of it.
import type { Clock, Logger, Random } from '../contract/index.ts'

export interface StoreDeps {
  readonly clock: Clock
  readonly random: Random
  /** This node's name: part of counters, lanes and the ledger's chains. */
  readonly node: string
  /** Key of the ledger's HMAC chain. */
  readonly ledgerKey: Uint8Array
  /**
   * Present: the database's clock decides, with every commit, and this is told what it said. Absent: the given clock
   * decides (an embedded database; a test that drives the time).
   */
  readonly onDatabaseTime?: (databaseNow: number, askedAt: number, answeredAt: number) => void
  /** Told when the database goes away and comes back. */
  readonly log?: Logger
  /** So long a commit that nobody waits for may wait for others to share it with. Absent: not at all. */
  readonly unhurriedMs?: number
  /** Connections for reading at the same time, where a store has such. Absent: four. */
  readonly readers?: number
  /** Named points where a fault test may kill the process: `store.before-commit`, `store.after-commit`. */
  readonly crashPoint?: (name: string) => void
}

/** `<node>/<boot>`: never the same twice, so a restarted node cannot be taken for its former self. */
export function ownerName({ node, clock, random }: Pick<StoreDeps, 'node' | 'clock' | 'random'>): string {
  const boot = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z')
  return `${node}/${boot}-${Buffer.from(random.bytes(4)).toString('hex')}`
}

/** Six letters or digits that tell this database's ids from another's. */
export function freshTag(random: Random): string {
  const number = Buffer.from(random.bytes(6)).readUIntBE(0, 6)
  return (number % 36 ** 6).toString(36).padStart(6, '0')
}
