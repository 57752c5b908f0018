// An agent of one's own behind an MCP channel server: it shouts back, and asks before it deletes anything.
import { createChannelHost } from '../../src/host/index.ts' // in your project: 'switchboard/host'

export async function shoutingAgent(server: {
  command: string
  args: string[]
  env?: Record<string, string>
}) {
  const host = createChannelHost({
    mcp_servers: { webhook: server },
    agents: [
      {
        id: 'shouter',
        channels: {
          enabled: true,
          default_rate_limit: { rps: 5, burst: 20 },
          approved: [{ server: 'webhook', outbound_tool_name: 'reply' }],
        },
        inbound_bindings: [{ plugin: 'local', allowed_channel_servers: ['webhook'] }],
      },
    ],

    async onMessage(message) {
      if (!message.content.startsWith('delete ')) {
        await message.reply(message.content.toUpperCase())
        return
      }
      const asked = host.ask({
        toolName: 'delete',
        description: 'Deletes what was named',
        input: message.content,
        timeoutMs: 60_000,
      })
      const { behavior, by } = await asked.outcome
      await message.reply(behavior === 'allow' ? `Deleted, as ${by} said.` : 'Left alone.')
    },

    onRefused: (refusal) => console.error('not let in:', refusal),
  })
  await host.start()
  return host
}
