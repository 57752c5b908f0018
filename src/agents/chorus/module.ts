// What Switchboard knows of the connector `chorus` before it runs one.
import type { ConnectorModule } from '../../contract/index.ts'
import { chorusOptions } from './config.ts'

export const chorusModule: ConnectorModule = {
  name: 'chorus',
  options: chorusOptions,
  docs: 'docs/agents/chorus.md',
  callsBack: true,
  create: async (deps) => (await import('./index.ts')).createChorusAgent(deps),
}
