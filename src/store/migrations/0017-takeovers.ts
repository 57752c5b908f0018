// Migration 17: stepping in. Takeovers (one live row an address), which rows one of them touched, and the list of
// conversations, which new rows are told to some thousand at a time so that no message pays for it.
import type { Migration } from './migration.ts'

export const takeovers: Migration = {
  number: 17,
  name: 'takeovers',
  statements: [
    `CREATE TABLE takeovers (
      id TEXT PRIMARY KEY, address TEXT NOT NULL, integration TEXT NOT NULL, conversation TEXT NOT NULL, thread TEXT,
      platform TEXT NOT NULL, agent TEXT, state TEXT NOT NULL, asked_by TEXT, asked_reason TEXT, asked_summary TEXT,
      asked_at BIGINT, holder TEXT, holder_name TEXT, since BIGINT, last_word_at BIGINT, ended_at BIGINT,
      ended_how TEXT, ended_by TEXT, began_at BIGINT NOT NULL)`,
    `CREATE UNIQUE INDEX takeovers_live ON takeovers (address) WHERE state IN ('asked','held')`,
    'CREATE INDEX takeovers_address ON takeovers (address, began_at)',
    'ALTER TABLE turns ADD COLUMN takeover TEXT',
    'ALTER TABLE outbox ADD COLUMN takeover TEXT',
    `CREATE TABLE conversations (
      integration TEXT NOT NULL, conversation TEXT NOT NULL, thread TEXT NOT NULL, platform TEXT NOT NULL, agent TEXT,
      sender TEXT, words TEXT NOT NULL, turns BIGINT NOT NULL, sends BIGINT NOT NULL, first_at BIGINT NOT NULL,
      last_at BIGINT NOT NULL, first_turn BIGINT, last_turn BIGINT, last_send BIGINT,
      PRIMARY KEY (integration, conversation, thread))`,
    'CREATE INDEX conversations_latest ON conversations (last_at, integration, conversation, thread)',
    `CREATE INDEX conversations_integration ON conversations (integration, last_at, conversation, thread)`,
    'CREATE INDEX conversations_agent ON conversations (agent, last_at, integration, conversation, thread)',
    'CREATE TABLE gathered (name TEXT PRIMARY KEY, seq BIGINT NOT NULL)',
    `INSERT INTO gathered (name, seq) VALUES ('turns', 0), ('outbox', 0)`,
  ],
}
