// What Switchboard knows of the connector `chorus` before it runs one.
import type { ConnectorModule } from '../../contract/index.ts'
import { chorusOptions } from './config.ts'

export const chorusModule: ConnectorModule = {
  name: 'chorus',
  options: chorusOptions,
  docs: 'docs/agents/chorus.md',
  title: 'A Chorus agent',
  callsBack: true,
  setup: {
    questions: [{ key: 'url', flag: 'url', ask: 'connection string of the agent', secret: true }],
  },
  create: async (deps) => (await import('./index.ts')).createChorusAgent(deps),
}
