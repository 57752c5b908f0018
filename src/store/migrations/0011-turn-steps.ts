// Migration 11: the journal of loops that run in this process, and the tokens that they used: by turn, and by agent and day.
import type { Migration } from './migration.ts'

export const turnSteps: Migration = {
  number: 11,
  name: 'turn-steps',
  statements: [
    `CREATE TABLE turn_steps (
      turn BIGINT NOT NULL, n INTEGER NOT NULL, at BIGINT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL,
      PRIMARY KEY (turn, n))`,
    'ALTER TABLE turns ADD COLUMN usage TEXT',
    `CREATE TABLE agent_usage (
      agent TEXT NOT NULL, day TEXT NOT NULL, model TEXT NOT NULL, calls BIGINT NOT NULL, input BIGINT NOT NULL,
      output BIGINT NOT NULL, cache_read BIGINT NOT NULL, cache_write BIGINT NOT NULL, cost_micros BIGINT NOT NULL,
      PRIMARY KEY (agent, day, model))`,
  ],
}
