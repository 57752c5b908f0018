// Migration 19: turns that came to one of the ends that few come to, found among millions that were answered.
import type { Migration } from './migration.ts'

export const turnsAside: Migration = {
  number: 19,
  name: 'turns-aside',
  statements: [
    `CREATE INDEX turns_aside ON turns (state, seq) WHERE state IN ('refused','consumed','failed','expired')`,
  ],
}
