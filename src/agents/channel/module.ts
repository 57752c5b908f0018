// What Switchboard knows of the connector `channel` before it runs one.
import { z } from 'zod'
import type { ConnectorModule } from '../../contract/index.ts'

export const channelModule: ConnectorModule = {
  name: 'channel',
  options: z
    .strictObject({
      dialect: z
        .enum(['claude', 'nexo'])
        .default('claude')
        .describe('Prefix of capabilities and notifications.'),
    })
    .describe('A host that speaks MCP channels (Claude Code and others) attaches.'),
  docs: 'docs/agents/channel.md',
  asks: () => true,
  title: 'Claude Code as a channel, or another MCP host',
  setup: {
    id: 'claude',
    questions: [],
    paste: ({ id }) => [
      `in the folder of the project that Claude Code works on: switchboard init claude-code --agent ${id}`,
      'then start Claude Code as it says',
    ],
  },
  create: async (deps) => (await import('./index.ts')).createChannelConnector(deps),
}
