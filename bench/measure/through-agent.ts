// A message through Switchboard to an agent and back to a stream, and the bare pieces of such a measurement.
import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { Agent, type IncomingMessage, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type SwitchboardFolder, startSwitchboard } from '../servers/switchboard.ts'
import { quantile, rounded } from '../statistics.ts'
import type { BenchContext } from './context.ts'

const connections = new Agent({ keepAlive: true })

/** Call this after the last post. */
export function closeConnections(): void {
  connections.destroy()
}

export type Send = (conversation: string, text: string) => Promise<void>

/** An answer that is not visible by then never comes. */
const GIVE_UP_MS = 120_000

/** Every conversation writes again as soon as its answer is visible. Throws when an answer never comes. */
export async function run(
  send: Send,
  conversations: number,
  rounds: number,
  giveUpMs = GIVE_UP_MS,
): Promise<readonly number[]> {
  const latencies: number[] = []
  const speak = async (conversation: string) => {
    for (let round = 0; round < rounds; round++) {
      const startedAt = performance.now()
      await send(conversation, randomBytes(8).toString('hex'))
      latencies.push(performance.now() - startedAt)
    }
  }
  const all = Promise.all(Array.from({ length: conversations }, (_, at) => speak(`c${at}`)))
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<never>((_, reject) => {
    const say = () => {
      const missing = conversations * rounds - latencies.length
      reject(new Error(`${missing} of ${conversations * rounds} messages had no answer after ${giveUpMs} ms`))
    }
    timer = setTimeout(say, giveUpMs)
  })
  await Promise.race([all, tooLate]).finally(() => clearTimeout(timer))
  return latencies
}

export interface AgentFigures {
  readonly conversations: number
  readonly messages: number
  readonly p50_ms: number
  readonly bare_p50_ms: number
  /** The median of the rounds' ratios of medians: how many times as long as the bare way. */
  readonly ratio: number
  readonly overhead_ms: number
}

const CONVERSATIONS = [1, 32]

/**
 * A turn through Switchboard beside the same agent called directly. Rounds alternate and have their own conversations.
 */
export async function besideBare(
  context: BenchContext,
  what: { readonly agent: string; readonly bare: string },
  ways: { readonly through: Send; readonly direct: Send },
  /** With `warm` every round uses the conversations of the first. */
  how: { readonly conversations?: readonly number[]; readonly warm?: true } = {},
): Promise<readonly AgentFigures[]> {
  const rounds = context.options.quick ? 3 : 9
  const each = context.options.quick ? 8 : 32
  const figures: AgentFigures[] = []
  const all = how.conversations ?? CONVERSATIONS
  for (const [at, conversations] of all.entries()) {
    const named = (send: Send, round: number): Send => {
      return (conversation, text) =>
        send(how.warm ? conversation : `${conversation}-${conversations}-${round}`, text)
    }
    await run(named(ways.through, -1), conversations, 2)
    await run(named(ways.direct, -1), conversations, 2)
    const pairs: { readonly through: number; readonly direct: number }[] = []
    for (const round of context.rounds.of(rounds, (at + 1) / all.length)) {
      const through = quantile(await run(named(ways.through, round), conversations, each), 0.5)
      pairs.push({
        through,
        direct: quantile(await run(named(ways.direct, round), conversations, each), 0.5),
      })
    }
    const median = (of: (pair: (typeof pairs)[number]) => number) => quantile(pairs.map(of), 0.5)
    const [p50, bareP50] = [median((one) => one.through), median((one) => one.direct)]
    figures.push({
      conversations,
      messages: pairs.length * each * conversations,
      p50_ms: rounded(p50, 2),
      bare_p50_ms: rounded(bareP50, 2),
      ratio: rounded(
        median((one) => one.through / one.direct),
        2,
      ),
      overhead_ms: rounded(p50 - bareP50, 2),
    })
    context.say(
      `${what.agent}, ${conversations} conversations: ${rounded(p50, 2)} ms, ${what.bare} ${rounded(bareP50, 2)} ms`,
    )
  }
  return figures
}

/** `connector` is one line of YAML. It may name env:BENCH_AGENT. */
export async function openSwitchboard(
  context: BenchContext,
  agent: string,
  connector: string,
  also: {
    /** One more integration, as one line of YAML. */
    readonly integration?: string
    /** Runs before the daemon starts. */
    readonly prepare?: (folder: SwitchboardFolder) => Promise<void>
  } = {},
) {
  const dir = context.freshFolder('agent')
  const dataDir = join(dir, 'data')
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const configFile = join(dir, 'switchboard.yaml')
  writeFileSync(
    configFile,
    `tunables: { sender_limit: { rps: 0, burst: 0 }, flood_limit: { rps: 0, burst: 0 } }
integrations:
  - { id: bench, platform: webhook, secret: env:BENCH_SECRET, signature: plain, two_way: true }
${also.integration === undefined ? '' : `  - ${also.integration}\n`}agents:
  - id: far
    connector: ${connector}
    inbound_bindings: [{ plugin: webhook, instance: bench }]
`,
  )
  const env = { BENCH_SECRET: context.secret, BENCH_AGENT: agent }
  const folder = { dataDir, configFile, entry: context.options.entry, env }
  await also.prepare?.(folder)
  const daemon = await startSwitchboard(folder)
  const hook = `${daemon.url}/hooks/bench`
  const talk = talkThrough(hook, `${hook}/events`, { 'x-webhook-secret': context.secret })
  return {
    send: talk.send,
    async close() {
      talk.close()
      await daemon.stop()
    },
  }
}

/** Posts to `hook`. The text is visible once it is a line of `events`. */
export function talkThrough(hook: string, events: string, headers: Readonly<Record<string, string>>) {
  const waiting = createWaiting()
  const stream = request(events, { headers, agent: false })
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
    await post(hook, text, { ...headers, 'x-conversation': conversation })
    await visible
  }
  return { send, close: () => void stream.destroy() }
}

export function createWaiting() {
  const waiting = new Map<string, () => void>()
  return {
    until: (text: string) => new Promise<void>((resolve) => waiting.set(text, resolve)),
    arrived(text: string) {
      waiting.get(text)?.()
      waiting.delete(text)
    },
  }
}

export function post(url: string, body: string, headers: Record<string, string> = {}): Promise<void> {
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

export async function bodyOf(incoming: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of incoming) text += String(chunk)
  return text
}

/** Keeps idle connections open. A connection that closes just as it is used again would lose a message. */
export async function listen(server: Server): Promise<string> {
  server.keepAliveTimeout = 0
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export function end(server: Server): void {
  server.closeAllConnections()
  server.close()
}
