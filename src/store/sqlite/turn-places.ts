// Where a conversation's turns are, on SQLite. An index would dirty a page of its own for nearly every message received;
// so the turns are told to `turn_places` some thousand at a time, and readers look through the few since then.
import type { Connection } from './connection.ts'

export const PLACES = 'turn_places'

/** Meta: turns up to this position are in `turn_places`. */
const PLACED = 'placed_turns'
/** Few enough to be read through in some milliseconds, many enough that each page of `turn_places` is written once for many. */
const AT_A_TIME = 4096

/** The condition that a turn is in this conversation, as a list of positions. */
export function atPlace(integration: string, conversation: string): string {
  return `seq IN (SELECT seq FROM ${PLACES} WHERE integration = ${integration} AND conversation = ${conversation}
    UNION ALL SELECT seq FROM turns WHERE seq > COALESCE((SELECT CAST(value AS INTEGER) FROM meta WHERE name = '${PLACED}'), 0)
    AND conversation || '' = ${conversation} AND integration || '' = ${integration})`
}

export interface TurnPlaces {
  /** Reads how far it has come; another process may have written. */
  refresh(): void
  /** Inside a commit whose last turn is `last`. Returns how to take it back, if anything was done. */
  gather(last: number): void
  /** The commit failed. */
  undo(): void
}

export function createTurnPlaces(connection: Connection): TurnPlaces {
  let placed = 0
  let before = 0
  return {
    refresh() {
      const sql = `SELECT value FROM meta WHERE name = '${PLACED}'`
      const [row] = connection.execute({ form: 'rows', sql, params: [] }) as readonly { value: string }[]
      placed = row ? Number(row.value) : 0
      before = placed
    },
    gather(last) {
      before = placed
      if (last - placed < AT_A_TIME) return
      connection.execute({
        form: 'run',
        sql: `INSERT INTO ${PLACES} (integration, conversation, seq) SELECT integration, conversation, seq FROM turns
          WHERE seq > $1 AND seq <= $2 ORDER BY integration, conversation, seq`,
        params: [placed, last],
      })
      connection.execute({
        form: 'run',
        sql: `INSERT INTO meta (name, value) VALUES ('${PLACED}', $1)
          ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
        params: [String(last)],
      })
      placed = last
    },
    undo() {
      placed = before
    },
  }
}
