// What the database says while nodes come and go: which owner holds what, by the database's clock. It only reads. It
// avoids the wires that a test cuts, and reconnects by itself.
import pg from 'pg'
import { pause } from '../until.ts'

export interface Held {
  /** The time by the database's clock. */
  readonly at: number
  /** Lanes of sessions with open turns, by owner (`node/boot`). */
  readonly turns: ReadonlyMap<string, number>
  /** Lanes of conversations with open sends, by owner. */
  readonly sends: ReadonlyMap<string, number>
  /** The owners of named leases, by name. */
  readonly leases: ReadonlyMap<string, string>
}

export interface StoredTurn {
  readonly integration: string
  readonly conversation: string
  readonly message_id: string
  readonly state: string
  readonly reason: string | null
  readonly attempts: number
  readonly received_at: number
  readonly updated_at: number
}

export interface DatabaseProbe {
  now(): Promise<number>
  held(): Promise<Held>
  /** All turns, oldest first. */
  turns(): Promise<readonly StoredTurn[]>
  /** The number of open turns and sends. */
  open(): Promise<number>
  /** How many sends the ledger calls `sent` more than once. */
  sentTwice(): Promise<number>
  /** The owner (`node/boot`) that is sending to a conversation, or null. */
  senderOf(conversation: string): Promise<string | null>
  rows<T>(text: string, values?: readonly unknown[]): Promise<readonly T[]>
  stop(): Promise<void>
}

const INT8 = 20
const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
}
const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

const HELD = `SELECT ${NOW} AS at,
  (SELECT json_object_agg(owner, n) FROM (
     SELECT l.owner, count(*) AS n FROM lanes l JOIN sessions s ON s.id = l.lane
     WHERE l.kind = 'turns' AND l.owner IS NOT NULL AND EXISTS (
       SELECT 1 FROM turns t WHERE t.lane = s.seq AND t.state IN ('queued','handed','seen')) GROUP BY 1) x) AS turns,
  (SELECT json_object_agg(owner, n) FROM (
     SELECT l.owner, count(*) AS n FROM lanes l
     WHERE l.kind = 'sends' AND l.owner IS NOT NULL AND EXISTS (
       SELECT 1 FROM outbox o WHERE o.lane = l.lane AND o.state IN ('queued','sending')) GROUP BY 1) x) AS sends,
  (SELECT json_object_agg(name, owner) FROM leases WHERE owner IS NOT NULL) AS leases`

export async function createDatabaseProbe(url: string): Promise<DatabaseProbe> {
  const pool = new pg.Pool({ connectionString: url, types, max: 2, application_name: 'probe' })
  pool.on('error', () => undefined)
  let stopped = false

  const rows = async <T>(text: string, values: readonly unknown[] = []): Promise<readonly T[]> => {
    for (;;) {
      try {
        return (await pool.query(text, [...values])).rows as T[]
      } catch (thrown) {
        // 42P01: no daemon has made the tables yet. A database that is away comes back.
        const { code } = thrown as { code?: string }
        if (stopped || (code !== undefined && /^(?!08|57|42P01|ECONN)/.test(code))) throw thrown
        await pause(100)
      }
    }
  }
  const one = async <T>(text: string): Promise<T> => {
    const [first] = await rows<T>(text)
    if (!first) throw new Error(`nothing came of ${text}`)
    return first
  }
  type Counts = Record<string, number> | null

  return {
    rows,
    now: async () => (await one<{ at: number }>(`SELECT ${NOW} AS at`)).at,
    async held() {
      const found = await one<{
        at: number
        turns: Counts
        sends: Counts
        leases: Record<string, string> | null
      }>(HELD)
      return {
        at: found.at,
        turns: new Map(Object.entries(found.turns ?? {})),
        sends: new Map(Object.entries(found.sends ?? {})),
        leases: new Map(Object.entries(found.leases ?? {})),
      }
    },
    turns: () =>
      rows<StoredTurn>(`SELECT integration, conversation, message_id, state, reason, attempts, received_at, updated_at
        FROM turns ORDER BY seq`),
    open: async () =>
      (
        await one<{ n: number }>(`SELECT
          (SELECT count(*) FROM turns WHERE state IN ('queued','handed','seen'))
          + (SELECT count(*) FROM outbox WHERE state IN ('queued','sending')) AS n`)
      ).n,
    sentTwice: async () =>
      (
        await one<{ n: number }>(`SELECT count(*) AS n FROM (
          SELECT ref FROM ledger WHERE kind = 'send' AND to_state = 'sent' GROUP BY ref HAVING count(*) > 1) x`)
      ).n,
    async senderOf(conversation) {
      const [found] = await rows<{ owner: string }>(
        `SELECT l.owner FROM lanes l JOIN outbox o ON o.lane = l.lane
         WHERE l.kind = 'sends' AND l.owner IS NOT NULL AND o.conversation = $1 AND o.state = 'sending'`,
        [conversation],
      )
      return found?.owner ?? null
    },
    async stop() {
      stopped = true
      await pool.end()
    },
  }
}

/** The node of an owner `node/boot`. */
export function nodeOf(owner: string): string {
  return owner.slice(0, owner.lastIndexOf('/'))
}
