// An own agent behind an MCP channel server: it repeats messages in capitals, and asks before it deletes anything.
// Run it with: node shouting-agent.mjs COMMAND ARGUMENTS…   (the command of the channel server)
import { createChannelHost } from 'switchboard/host'

const [, , command, ...args] = process.argv
// A server gets only the variables that are passed to it.
const env = { WEBHOOK_PORT: process.env.WEBHOOK_PORT ?? '8788' }

const host = createChannelHost({
  mcp_servers: { webhook: { command, args, env } },
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
console.log(`hosting ${command}; Ctrl-C ends it`)
process.once('SIGINT', () => host.stop())
