// A Slack-style adapter without MCP. Messages of a workspace go to a Chorus agent, and its answers return to the
// channel. The workspace is this terminal: a typed line is a message, and the agent's answer is printed. Run it with:
// PORT=8081 node slack-adapter.mjs http://127.0.0.1:8080/inbox/sk_a1b2c3d4e5f6
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'
import { createService } from 'switchboard/chorus'

const [, , connectionString] = process.argv
const port = Number(process.env.PORT ?? 8081)

/** Your chat.postMessage. */
const post = async (channel, text) => console.log(`${channel}: ${text}`)

const service = createService({
  callbackBase: `http://127.0.0.1:${port}/cb`, // https://adapter.example.com/cb, when agents are elsewhere
  allowPrivate: true, // while the agent is on this machine; leave it out on the internet
  async onEvent(event, { channel }) {
    if (event.type === 'message') await post(channel.id, event.content)
    if (event.type === 'error') await post(channel.id, `:warning: ${event.message}`)
  },
})

/** Your handler of Slack's events. */
const onSlackMessage = ({ channel, user, ts, text }) =>
  service.deliver(connectionString, {
    channel: { id: channel, service: 'Slack' },
    message: { id: `${channel}-${ts}`, sender: user, content: text },
  })

createServer(service.node).listen(port, '127.0.0.1')
let lines = 0
for await (const text of createInterface({ input: process.stdin }))
  await onSlackMessage({ channel: 'C04ABCDEF', user: 'alice', ts: `1.${++lines}`, text })
