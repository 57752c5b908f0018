// Migration 6: files that all nodes need (uploads, files to send), in parts that one statement carries easily.
import type { Migration } from './migration.ts'

const AGE = 'CREATE INDEX files_age ON files (at)'

export const files: Migration = {
  number: 6,
  name: 'files',
  statements: [],
  sqliteOnly: [
    `CREATE TABLE files (
      integration TEXT NOT NULL, name TEXT NOT NULL, part INTEGER NOT NULL, parts INTEGER NOT NULL,
      bytes BLOB NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (integration, name, part))`,
    AGE,
  ],
  postgresOnly: [
    `CREATE TABLE files (
      integration TEXT COLLATE "C" NOT NULL, name TEXT COLLATE "C" NOT NULL, part INTEGER NOT NULL,
      parts INTEGER NOT NULL, bytes BYTEA NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (integration, name, part))`,
    // Pictures and archives do not get smaller: trying to would only cost time.
    'ALTER TABLE files ALTER COLUMN bytes SET STORAGE EXTERNAL',
    AGE,
  ],
}
