// The module of the connector `demo`: what Switchboard knows before it runs one.
import { z } from 'zod'
import type { ConnectorModule } from '../../contract/index.ts'

export const demoModule: ConnectorModule = {
  name: 'demo',
  options: z.strictObject({}).describe('The built-in demo agent; no key needed.'),
  docs: 'docs/agents/demo.md',
  title: 'The demo agent (no key needed)',
  first: true,
  create: async () => (await import('./index.ts')).createDemoAgent(),
}
