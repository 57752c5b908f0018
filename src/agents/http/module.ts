// What Switchboard knows of the connector `http` before it runs one.
import type { ConnectorModule } from '../../contract/index.ts'
import { httpOptions } from './config.ts'

export const httpModule: ConnectorModule = {
  name: 'http',
  options: httpOptions,
  docs: 'docs/agents/http.md',
  callsBack: true,
  create: async (deps) => (await import('./index.ts')).createHttpAgent(deps),
}
