// Migration 10: lines that tell what an agent is doing, for as long as they stand in a chat.
import type { Migration } from './migration.ts'

export const statusLines: Migration = {
  number: 10,
  name: 'status-lines',
  statements: [
    `CREATE TABLE status_lines (
      turn TEXT PRIMARY KEY, address TEXT NOT NULL, line TEXT NOT NULL, owner TEXT NOT NULL, at BIGINT NOT NULL)`,
  ],
}
