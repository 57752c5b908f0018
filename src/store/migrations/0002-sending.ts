// Migration 2: sending with truth. Content keys, claims and routes, the notification log, what schedules fired.
import type { Migration } from './migration.ts'

export const sending: Migration = {
  number: 2,
  name: 'sending',
  statements: [
    'ALTER TABLE outbox ADD COLUMN claim TEXT',
    // The latest send of a content: what it became is in its own row, so nothing is marked before it is true.
    'CREATE TABLE send_keys (content TEXT PRIMARY KEY, send BIGINT NOT NULL, at BIGINT NOT NULL)',
    'CREATE INDEX send_keys_age ON send_keys (at)',
    // `place` is the conversation's lane: integration and conversation in one encoded text.
    `CREATE TABLE claims (
      place TEXT NOT NULL, message_id TEXT NOT NULL, integration TEXT NOT NULL, conversation TEXT NOT NULL,
      thread TEXT NOT NULL, session TEXT NOT NULL, agent TEXT NOT NULL, label TEXT NOT NULL, state TEXT NOT NULL,
      send BIGINT NOT NULL, created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL, decided_by TEXT,
      decided_at BIGINT, PRIMARY KEY (place, message_id))`,
    'CREATE INDEX claims_live ON claims (place, expires_at)',
    'CREATE INDEX claims_session ON claims (session)',
    `CREATE TABLE routes (
      place TEXT NOT NULL, thread TEXT NOT NULL, session TEXT NOT NULL, agent TEXT NOT NULL, label TEXT NOT NULL,
      message_id TEXT NOT NULL, since BIGINT NOT NULL, PRIMARY KEY (place, thread))`,
    `CREATE TABLE notification_log (
      id TEXT PRIMARY KEY, user_id TEXT NOT NULL, agent TEXT, session TEXT, channel TEXT NOT NULL, message TEXT,
      digest TEXT NOT NULL, urgency TEXT NOT NULL, source TEXT NOT NULL, status TEXT NOT NULL, error TEXT,
      send BIGINT, at BIGINT NOT NULL)`,
    'CREATE INDEX notification_log_time ON notification_log (at, id)',
    'CREATE INDEX notification_log_kept ON notification_log (at) WHERE message IS NOT NULL',
    `CREATE TABLE schedules_fired (
      agent TEXT NOT NULL, schedule TEXT NOT NULL, fire_at BIGINT NOT NULL, outcome TEXT NOT NULL,
      node TEXT NOT NULL, turn TEXT, at BIGINT NOT NULL, PRIMARY KEY (agent, schedule, fire_at))`,
  ],
}
