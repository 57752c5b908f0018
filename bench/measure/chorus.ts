// End to end to a Chorus agent and back: webhook message → delivery → callback → visible on the stream, at 1, 32 and 256
// conversations, against the same agent called by a bare fetch loop. The difference is what durability costs.
import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { Agent, createServer, type IncomingMessage, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { startSwitchboard } from '../servers/switchboard.ts'
import { quantile, rounded } from '../statistics.ts'
import type { BenchContext } from './context.ts'

export interface ChorusFigures {
  readonly conversations: number
  readonly messages: number
  readonly p50_ms: number
  readonly p99_ms: number
  readonly bare_p50_ms: number
  readonly bare_p99_ms: number
  /** What Switchboard adds, at the median. */
  readonly overhead_ms: number
  readonly per_second: number
}

const CONVERSATIONS = [1, 32, 256]
const connections = new Agent({ keepAlive: true })

export async function measureChorus(context: BenchContext): Promise<readonly ChorusFigures[]> {
  const agent = await openAgent()
  const bare = await openBare(agent.url)
  const sender = await openSwitchboard(context, agent.url)
  const each = context.options.quick ? 64 : 512
  const figures: ChorusFigures[] = []
  try {
    for (const conversations of CONVERSATIONS) {
      const rounds = Math.max(2, Math.ceil(each / conversations))
      await run(sender.send, conversations, 2)
      const startedAt = performance.now()
      const through = await run(sender.send, conversations, rounds)
      const tookMs = performance.now() - startedAt
      const direct = await run(bare.send, conversations, rounds)
      const [p50, bareP50] = [quantile(through, 0.5), quantile(direct, 0.5)]
      figures.push({
        conversations,
        messages: through.length,
        p50_ms: rounded(p50, 2),
        p99_ms: rounded(quantile(through, 0.99), 2),
        bare_p50_ms: rounded(bareP50, 2),
        bare_p99_ms: rounded(quantile(direct, 0.99), 2),
        overhead_ms: rounded(p50 - bareP50, 2),
        per_second: rounded((through.length * 1000) / tookMs, 0),
      })
      context.say(
        `chorus, ${conversations} conversations: ${rounded(p50, 2)} ms, bare ${rounded(bareP50, 2)} ms`,
      )
    }
    return figures
  } finally {
    await sender.close()
    bare.close()
    agent.close()
    connections.destroy()
  }
}

type Send = (conversation: string, text: string) => Promise<void>

/** Every conversation speaks again as soon as its answer is visible. */
async function run(send: Send, conversations: number, rounds: number): Promise<readonly number[]> {
  const latencies: number[] = []
  const speak = async (conversation: string) => {
    for (let round = 0; round < rounds; round++) {
      const startedAt = performance.now()
      await send(conversation, randomBytes(8).toString('hex'))
      latencies.push(performance.now() - startedAt)
    }
  }
  await Promise.all(Array.from({ length: conversations }, (_, at) => speak(`c${at}`)))
  return latencies
}

/** The agent: 200 at once, then the text comes back to the callback. */
async function openAgent() {
  const server = createServer(async (incoming, response) => {
    const { callback, message } = JSON.parse(await bodyOf(incoming)) as {
      callback: string
      message: { content: string }
    }
    response.end()
    await post(callback, JSON.stringify({ type: 'message', content: message.content })).catch(() => undefined)
  })
  return { url: `${await listen(server)}/inbox/sk_bench`, close: () => end(server) }
}

async function openBare(agent: string) {
  const waiting = createWaiting()
  const server = createServer(async (incoming, response) => {
    const { content } = JSON.parse(await bodyOf(incoming)) as { content: string }
    response.end()
    waiting.arrived(content)
  })
  const base = await listen(server)
  const send: Send = async (conversation, text) => {
    const visible = waiting.until(text)
    const message = { id: text, sender: 'bench', content: text }
    await post(
      agent,
      JSON.stringify({ channel: { id: conversation }, message, callback: `${base}/cb/${text}` }),
    )
    await visible
  }
  return { send, close: () => end(server) }
}

async function openSwitchboard(context: BenchContext, agent: string) {
  const dir = context.freshFolder('chorus')
  const dataDir = join(dir, 'data')
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const configFile = join(dir, 'switchboard.yaml')
  writeFileSync(
    configFile,
    `tunables: { sender_limit: { rps: 0, burst: 0 }, flood_limit: { rps: 0, burst: 0 } }
integrations:
  - { id: bench, platform: webhook, secret: env:BENCH_SECRET, signature: plain, two_way: true }
agents:
  - id: far
    connector: { type: chorus, url: env:BENCH_AGENT, allow_private: true }
    inbound_bindings: [{ plugin: webhook, instance: bench }]
`,
  )
  const env = { BENCH_SECRET: context.secret, BENCH_AGENT: agent }
  const daemon = await startSwitchboard({ dataDir, configFile, entry: context.options.entry, env })
  const waiting = createWaiting()
  const credential = { 'x-webhook-secret': context.secret }
  const stream = request(`${daemon.url}/hooks/bench/events`, { headers: credential, agent: false })
  stream.on('response', (response) => {
    let text = ''
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      const lines = text.split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) if (line.startsWith('data: ')) waiting.arrived(line.slice(6))
    })
  })
  stream.on('error', () => undefined)
  stream.end()
  const send: Send = async (conversation, text) => {
    const visible = waiting.until(text)
    await post(`${daemon.url}/hooks/bench`, text, { ...credential, 'x-conversation': conversation })
    await visible
  }
  return {
    send,
    async close() {
      stream.destroy()
      await daemon.stop()
    },
  }
}

function createWaiting() {
  const waiting = new Map<string, () => void>()
  return {
    until: (text: string) => new Promise<void>((resolve) => waiting.set(text, resolve)),
    arrived(text: string) {
      waiting.get(text)?.()
      waiting.delete(text)
    },
  }
}

function post(url: string, body: string, headers: Record<string, string> = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    const length = { 'content-length': Buffer.byteLength(body) }
    const outgoing = request(url, { method: 'POST', agent: connections, headers: { ...headers, ...length } })
    outgoing.on('error', reject)
    outgoing.on('response', (response) => {
      response.resume()
      const status = response.statusCode ?? 0
      response.on('end', () => (status < 300 ? resolve() : reject(new Error(`answered ${status}`))))
    })
    outgoing.end(body)
  })
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of incoming) text += String(chunk)
  return text
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function end(server: Server): void {
  server.closeAllConnections()
  server.close()
}
