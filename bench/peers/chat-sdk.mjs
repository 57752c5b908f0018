// Peer (c): Vercel Chat SDK with its Slack adapter and in-memory state, at its fastest settings: no locks
// (`concurrent`), no log, the sender's name in the event so that it need not ask Slack, a handler that does nothing.
// It checks Slack's signature, parses, deduplicates in memory and calls the handler; it stores nothing on a disk.
// Plain JavaScript, because its types are there only once `bench/peers` is installed.
import { createServer } from 'node:http'
import { createSlackAdapter } from '@chat-adapter/slack'
import { createMemoryState } from '@chat-adapter/state-memory'
import { Chat } from 'chat'

const silent = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }

const bot = new Chat({
  userName: 'bench',
  adapters: {
    slack: createSlackAdapter({
      botToken: 'xoxb-bench',
      botUserId: 'U99999999',
      signingSecret: process.env.BENCH_SECRET,
      // Nothing leaves this machine: a call to Slack would fail here, and is counted.
      apiUrl: 'http://127.0.0.1:9/api/',
      logger: silent,
    }),
  },
  state: createMemoryState(),
  concurrency: 'concurrent',
  logger: 'silent',
})

let handled = 0
bot.onDirectMessage(async () => {
  handled++
})
bot.onNewMention(async () => {
  handled++
})
await bot.initialize()

const options = { waitUntil: (task) => void task.catch(() => undefined) }

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.end(JSON.stringify({ handled }))
    return
  }
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', async () => {
    const body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
    const reply = await bot.webhooks.slack(
      new Request('http://127.0.0.1/slack', { method: 'POST', headers: request.headers, body }),
      options,
    )
    const text = await reply.text()
    response.writeHead(reply.status, {
      'content-type': 'text/plain',
      'content-length': Buffer.byteLength(text),
    })
    response.end(text)
  })
})
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` }))
})
process.on('SIGTERM', () => process.exit(0))
