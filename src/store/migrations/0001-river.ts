// Migration 1: the tables of the river. Shared by both databases; what differs is one token and PostgreSQL's sequences.
import type { Migration } from './migration.ts'

export const river: Migration = {
  number: 1,
  name: 'river',
  statements: [
    `CREATE TABLE turns (
      seq @seq, integration TEXT NOT NULL, conversation TEXT NOT NULL, message_id TEXT NOT NULL,
      edit_version BIGINT NOT NULL, thread TEXT, platform TEXT NOT NULL, source TEXT NOT NULL, agent TEXT,
      session TEXT, lane BIGINT, sender TEXT NOT NULL, state TEXT NOT NULL, reason TEXT, attempts INTEGER NOT NULL DEFAULT 0,
      repeat INTEGER NOT NULL DEFAULT 0, resume INTEGER NOT NULL DEFAULT 0, body TEXT,
      received_at BIGINT NOT NULL, updated_at BIGINT NOT NULL)`,
    'CREATE INDEX turns_source ON turns (source, seq)',
    `CREATE VIEW goal_turns AS SELECT session AS goal_id, seq AS turn_index, received_at AS recorded_at,
      state AS outcome, source, agent, integration, conversation, thread, sender, message_id, reason, attempts,
      updated_at FROM turns`,
    // A session's position is what its turns and their indexes carry (turns.lane): small, and near for those born near.
    `CREATE TABLE sessions (
      seq @seq, id TEXT NOT NULL UNIQUE, session_key TEXT NOT NULL, agent TEXT NOT NULL, address TEXT NOT NULL,
      generation INTEGER NOT NULL, created_at BIGINT NOT NULL, UNIQUE (session_key, generation))`,
    `CREATE TABLE lanes (
      kind TEXT NOT NULL, lane TEXT NOT NULL, owner TEXT, token BIGINT NOT NULL, until BIGINT NOT NULL,
      not_before BIGINT NOT NULL DEFAULT 0, PRIMARY KEY (kind, lane))`,
    `CREATE TABLE outbox (
      seq @seq, lane TEXT NOT NULL, integration TEXT NOT NULL, platform TEXT NOT NULL, conversation TEXT NOT NULL,
      thread TEXT, agent TEXT, session TEXT, turn TEXT, approval TEXT, cause TEXT NOT NULL, op TEXT,
      state TEXT NOT NULL, reason TEXT, detail TEXT, attempts INTEGER NOT NULL DEFAULT 0, platform_ids TEXT,
      grp TEXT, part INTEGER NOT NULL DEFAULT 0, idem TEXT, due_at BIGINT NOT NULL, created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL)`,
    `CREATE INDEX outbox_open ON outbox (integration, lane, state, seq) WHERE state IN ('queued','sending')`,
    'CREATE UNIQUE INDEX outbox_idem ON outbox (idem) WHERE idem IS NOT NULL',
    'CREATE INDEX outbox_approval ON outbox (approval, seq) WHERE approval IS NOT NULL',
    'CREATE INDEX outbox_conversation ON outbox (integration, conversation, seq)',
    `CREATE TABLE approvals (
      seq @seq, id TEXT NOT NULL, host_id TEXT, agent TEXT NOT NULL, session TEXT NOT NULL, turn TEXT,
      ask TEXT NOT NULL, input_hash TEXT NOT NULL, state TEXT NOT NULL, behavior TEXT, cause TEXT, decided_by TEXT,
      decided_via TEXT, decided_at BIGINT, created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL)`,
    // An id is unique among those that still wait for something; afterwards it may come again.
    `CREATE UNIQUE INDEX approvals_live ON approvals (id) WHERE state IN ('pending','decided')`,
    'CREATE INDEX approvals_id ON approvals (id, seq)',
    `CREATE TABLE ledger (
      seq @seq, chain INTEGER NOT NULL, n BIGINT NOT NULL, at BIGINT NOT NULL, kind TEXT NOT NULL, ref TEXT NOT NULL,
      integration TEXT NOT NULL, from_state TEXT NOT NULL, to_state TEXT NOT NULL, reason TEXT NOT NULL,
      count BIGINT NOT NULL, digest TEXT NOT NULL, detail TEXT NOT NULL, mac TEXT NOT NULL)`,
    `CREATE TABLE ledger_chains (
      id INTEGER PRIMARY KEY, name TEXT NOT NULL, prev_chain INTEGER NOT NULL, prev_n BIGINT NOT NULL,
      prev_mac TEXT NOT NULL, n BIGINT NOT NULL, head TEXT NOT NULL, seal TEXT NOT NULL)`,
    `CREATE TABLE counters (
      node TEXT NOT NULL, integration TEXT NOT NULL, name TEXT NOT NULL, reason TEXT NOT NULL,
      count BIGINT NOT NULL, PRIMARY KEY (node, integration, name, reason))`,
    'CREATE TABLE cursors (integration TEXT PRIMARY KEY, value TEXT NOT NULL)',
    `CREATE TABLE leases (
      name TEXT PRIMARY KEY, owner TEXT, token BIGINT NOT NULL, until BIGINT NOT NULL)`,
    `CREATE TABLE grants (
      integration TEXT NOT NULL, sender TEXT NOT NULL, access_right TEXT NOT NULL, granted_by TEXT NOT NULL,
      granted_at BIGINT NOT NULL, PRIMARY KEY (integration, sender, access_right))`,
    `CREATE TABLE pairings (
      integration TEXT NOT NULL, sender TEXT NOT NULL, code TEXT NOT NULL UNIQUE, sender_name TEXT,
      conversation TEXT NOT NULL, replies INTEGER NOT NULL, created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL,
      PRIMARY KEY (integration, sender))`,
    `CREATE TABLE tokens (
      id TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, scope TEXT NOT NULL,
      created_at BIGINT NOT NULL, expires_at BIGINT, revoked_at BIGINT)`,
    'CREATE TABLE secrets (name TEXT PRIMARY KEY, ciphertext TEXT NOT NULL)',
  ],
  // Every page that a commit touches is written to the log and again to the file, so on the one disk of a small machine
  // indexes decide what intake costs. The unique key is the duplicate check; message ids grow, so it is led by them and
  // new ones lie side by side. A conversation's turns are gathered later, many at once: see sqlite/turn-places.ts.
  sqliteOnly: [
    'CREATE UNIQUE INDEX turns_message ON turns (integration, message_id, conversation, edit_version)',
    `CREATE INDEX turns_queued ON turns (lane) WHERE state = 'queued'`,
    `CREATE INDEX turns_flight ON turns (lane) WHERE state IN ('handed','seen')`,
    `CREATE TABLE turn_places (
      integration TEXT NOT NULL, conversation TEXT NOT NULL, seq INTEGER NOT NULL,
      PRIMARY KEY (integration, conversation, seq)) WITHOUT ROWID`,
  ],
  postgresOnly: [
    'CREATE UNIQUE INDEX turns_message ON turns (integration, conversation, message_id, edit_version)',
    `CREATE INDEX turns_queued ON turns (lane, seq) WHERE state = 'queued'`,
    `CREATE INDEX turns_flight ON turns (lane, seq) WHERE state IN ('handed','seen')`,
    'CREATE SEQUENCE sessions_position',
    'CREATE SEQUENCE turns_position',
    'CREATE SEQUENCE outbox_position',
    'CREATE SEQUENCE approvals_position',
    'CREATE SEQUENCE ledger_position',
  ],
}
