// Migration 24: inputs of others that are being read, so that one that breaks its reader is known after a crash.
import type { Migration } from './migration.ts'

export const inputTries: Migration = {
  number: 24,
  name: 'input-tries',
  statements: [
    `CREATE TABLE input_tries (
      integration TEXT NOT NULL, input TEXT NOT NULL, tries BIGINT NOT NULL, at BIGINT NOT NULL,
      PRIMARY KEY (integration, input))`,
  ],
}
