// A bare relay in its own process. A post to /hook goes to the agent, and a post to the callback becomes a line of
// /events. It keeps connections, stores nothing and checks no identity. With a file it is the smallest durable relay:
// it writes both texts to the file and syncs the disk before it forwards them.
import { fdatasyncSync, openSync, writeSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { bodyOf, listen, post } from '../measure/through-agent.ts'

const readers = new Set<ServerResponse>()
const { BENCH_AGENT: agent = '', BENCH_LOG: log } = process.env
const file = log === undefined ? null : openSync(log, 'a')
let count = 0
let base = ''

function keep(body: string): void {
  if (file === null) return
  writeSync(file, `${body}\n`)
  fdatasyncSync(file)
}

const server = createServer(async (incoming, response) => {
  if (incoming.url === '/events') {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    readers.add(response)
    response.on('close', () => readers.delete(response))
    return
  }
  const body = await bodyOf(incoming)
  keep(body)
  response.end()
  if (incoming.url === '/hook') await toAgent(String(incoming.headers['x-conversation']), body)
  else for (const reader of readers) reader.write(`data: ${(JSON.parse(body) as Said).content}\n\n`)
})

interface Said {
  readonly content: string
}

async function toAgent(conversation: string, content: string): Promise<void> {
  const id = String(++count)
  const message = { id, sender: 'bench', content }
  const delivery = { channel: { id: conversation }, message, callback: `${base}/callback/${id}` }
  await post(agent, JSON.stringify(delivery))
}

base = await listen(server)
process.stdout.write(`${JSON.stringify({ url: base })}\n`)
