// Migration 26: turns that rest leave the index of those in flight: each look at what holds a lane up read them, too.
import type { Migration } from './migration.ts'

export const restingTurns: Migration = {
  number: 26,
  name: 'resting-turns',
  statements: [
    'DROP INDEX turns_flight',
    `CREATE INDEX turns_acknowledged ON turns (lane) WHERE state IN ('handed','seen') AND reason = 'acknowledged'`,
    `CREATE INDEX turns_one_way ON turns (lane) WHERE state IN ('handed','seen') AND reason = 'one_way'`,
  ],
  sqliteOnly: [
    `CREATE INDEX turns_flight ON turns (lane) WHERE state IN ('handed','seen') AND (reason IS NULL OR reason NOT IN ('acknowledged','one_way'))`,
  ],
  postgresOnly: [
    `CREATE INDEX turns_flight ON turns (lane, seq) WHERE state IN ('handed','seen') AND (reason IS NULL OR reason NOT IN ('acknowledged','one_way'))`,
  ],
}
