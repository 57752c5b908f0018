// Migration 4: several nodes. Nodes and what is attached to them as rows, who asked for an approval, shared limits.
import type { Migration } from './migration.ts'

export const nodes: Migration = {
  number: 4,
  name: 'nodes',
  statements: [
    `CREATE TABLE nodes (
      owner TEXT PRIMARY KEY, node TEXT NOT NULL, version TEXT NOT NULL, url TEXT NOT NULL, digest TEXT NOT NULL,
      skew_ms BIGINT NOT NULL, watched BIGINT NOT NULL, links TEXT NOT NULL, activity TEXT NOT NULL, started_at BIGINT NOT NULL, seen_at BIGINT NOT NULL,
      left_at BIGINT)`,
    // One that ended stays for a while: since when an agent is away is the same on every node.
    `CREATE TABLE attachments (
      agent TEXT NOT NULL, owner TEXT NOT NULL, detail TEXT, since BIGINT NOT NULL, ended_at BIGINT,
      PRIMARY KEY (agent, owner))`,
    'ALTER TABLE approvals ADD COLUMN asker TEXT',
    `CREATE INDEX approvals_open ON approvals (seq) WHERE state IN ('pending','decided')`,
  ],
  sqliteOnly: [
    `CREATE TABLE buckets (
      name TEXT PRIMARY KEY, tokens REAL NOT NULL, granted BIGINT NOT NULL, at BIGINT NOT NULL)`,
  ],
  postgresOnly: [
    // Not in the log: after a crash of the database everybody may speak again, and nothing is lost.
    `CREATE UNLOGGED TABLE buckets (
      name TEXT COLLATE "C" PRIMARY KEY, tokens DOUBLE PRECISION NOT NULL, granted BIGINT NOT NULL, at BIGINT NOT NULL)
     WITH (fillfactor = 50)`,
  ],
}
