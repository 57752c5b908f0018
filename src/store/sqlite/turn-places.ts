// Maps conversations to turns on SQLite. An index would change one page for nearly every received message. So turns are
// added to `turn_places` some thousand at a time, and readers scan the few newer ones.
import type { Connection } from './connection.ts'

export const PLACES = 'turn_places'

/** Meta key: turns up to this position are in `turn_places`. */
const PLACED = 'placed_turns'
/**
 * Few enough to scan in some milliseconds, and enough that each page of `turn_places` is written once for many turns.
 */
const AT_A_TIME = 4096

/** Returns the condition that a turn is in this conversation, as a list of positions. */
export function atPlace(integration: string, conversation: string): string {
  return `seq IN (SELECT seq FROM ${PLACES} WHERE integration = ${integration} AND conversation = ${conversation}
    UNION ALL SELECT seq FROM turns WHERE seq > COALESCE((SELECT CAST(value AS INTEGER) FROM meta WHERE name = '${PLACED}'), 0)
    AND conversation || '' = ${conversation} AND integration || '' = ${integration})`
}

export interface TurnPlaces {
  /** Reads the present position, because another process may have written. */
  refresh(): void
  /** Runs inside a commit whose last turn is `last`. */
  gather(last: number): void
  /** Restores the position after a failed commit. */
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
