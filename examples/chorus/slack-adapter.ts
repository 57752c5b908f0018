// A Slack-style adapter without MCP: messages of a workspace go to a Chorus agent, its answers come back to the channel.
import { createServer } from 'node:http'
import { createService } from '../../src/chorus/index.ts' // in your project: 'switchboard/chorus'

export interface SlackMessage {
  readonly channel: string
  readonly user: string
  readonly ts: string
  readonly text: string
}

/** `post` is your chat.postMessage; `connectionString` is what the agent's owner gave you. */
export function slackAdapter(options: {
  readonly connectionString: string
  readonly callbackBase: string
  readonly allowPrivate?: boolean
  post(channel: string, text: string): Promise<void>
}) {
  const service = createService({
    callbackBase: options.callbackBase,
    allowPrivate: options.allowPrivate ?? false,
    async onEvent(event, { channel }) {
      if (event.type === 'message') await options.post(channel.id, event.content)
      if (event.type === 'error') await options.post(channel.id, `:warning: ${event.message}`)
    },
  })
  return {
    server: createServer(service.node),
    onSlackMessage: (message: SlackMessage) =>
      service.deliver(options.connectionString, {
        channel: { id: message.channel, service: 'Slack' },
        message: { id: `${message.channel}-${message.ts}`, sender: message.user, content: message.text },
      }),
  }
}
