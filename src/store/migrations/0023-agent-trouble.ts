// What keeps an agent that is attached to a node from answering, for the other nodes.
import type { Migration } from './migration.ts'

export const agentTrouble: Migration = {
  number: 23,
  name: 'agent-trouble',
  statements: ['ALTER TABLE attachments ADD COLUMN trouble TEXT'],
}
