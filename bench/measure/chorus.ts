// A round trip to a Chorus agent: webhook message → delivery → callback → visible on the stream, with 1, 32 and 256
// conversations. The peers call the same agent: a bare loop within one process, a bare relay in its own process like
// Switchboard, and a relay that writes both texts to disk first. No durable gateway needs less than that relay.
import { createServer } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startServer } from '../processes.ts'
import { median, quantile, rounded } from '../statistics.ts'
import type { BenchContext } from './context.ts'
import {
  bodyOf,
  closeConnections,
  createWaiting,
  end,
  listen,
  openSwitchboard,
  post,
  run,
  type Send,
  talkThrough,
} from './through-agent.ts'

export interface ChorusFigures {
  readonly conversations: number
  readonly messages: number
  readonly rounds: number
  readonly p50_ms: number
  readonly p99_ms: number
  readonly bare_p50_ms: number
  readonly bare_p99_ms: number
  readonly bare_relay_p50_ms: number
  readonly durable_relay_p50_ms: number
  /** The time that Switchboard adds to the bare loop, at the median. */
  readonly overhead_ms: number
  readonly per_second: number
  readonly bare_per_second: number
  /** Medians of the rounds' ratios to the bare loop: of the time here, and of the rate below. */
  readonly times_bare: number
  readonly rate_vs_bare: number
  /** Medians of the rounds' time ratios to the bare relay, and below to the durable relay. */
  readonly times_relay: number
  readonly times_durable_relay: number
  /** The time ratio of the durable relay to the bare loop. No durable gateway can be below it. */
  readonly durable_relay_times_bare: number
}

const CONVERSATIONS = [1, 32, 256]
const ROUNDS = 9
/**
 * Both ways are warm before they are measured, like the servers of the intake. Otherwise compiling would be measured.
 */
const WARM_UP = { conversations: 32, times: 192, quick: 4 }
const CONNECTOR = '{ type: chorus, url: env:BENCH_AGENT, allow_private: true }'

type Way = 'through' | 'relayed' | 'durable' | 'direct'

export async function measureChorus(context: BenchContext): Promise<readonly ChorusFigures[]> {
  const agent = await openAgent()
  const ways = {
    through: await openSwitchboard(context, agent.url, CONNECTOR),
    relayed: await openRelay(agent.url, {}),
    durable: await openRelay(agent.url, { BENCH_LOG: join(context.freshFolder('relay'), 'log') }),
    direct: await openBare(agent.url),
  }
  const all = Object.entries(ways) as [Way, (typeof ways)[Way]][]
  const each = context.options.quick ? 32 : 64
  const figures: ChorusFigures[] = []
  try {
    const warm = context.options.quick ? WARM_UP.quick : WARM_UP.times
    for (const [, way] of all) await run(way.send, WARM_UP.conversations, warm)
    for (const [at, conversations] of CONVERSATIONS.entries()) {
      const times = Math.max(2, Math.ceil(each / conversations))
      for (const [, way] of all) await run(way.send, conversations, 2)
      const spoken: Record<Way, Spoken[]> = { through: [], relayed: [], durable: [], direct: [] }
      const wanted = Math.min(ROUNDS, context.options.rounds)
      for (const round of context.rounds.of(wanted, (at + 1) / CONVERSATIONS.length))
        for (const [name, way] of round % 2 === 0 ? all : all.toReversed())
          spoken[name].push(await speak(way.send, conversations, times))
      const one = figuresOf(conversations, spoken)
      figures.push(one)
      context.say(
        `chorus, ${conversations} conversations: ${one.p50_ms} ms, bare ${one.bare_p50_ms} ms (${one.times_bare}×), ` +
          `relay ${one.bare_relay_p50_ms} ms (${one.times_relay}×), durable relay ${one.durable_relay_p50_ms} ms ` +
          `(${one.times_durable_relay}×); ${one.per_second}/s, bare ${one.bare_per_second}/s (${one.rate_vs_bare}×)`,
      )
    }
    return figures
  } finally {
    for (const [, way] of all) await way.close()
    agent.close()
    closeConnections()
  }
}

interface Spoken {
  readonly latencies: readonly number[]
  readonly perSecond: number
}

async function speak(send: Send, conversations: number, times: number): Promise<Spoken> {
  const startedAt = performance.now()
  const latencies = await run(send, conversations, times)
  return { latencies, perSecond: (latencies.length * 1000) / (performance.now() - startedAt) }
}

function figuresOf(
  conversations: number,
  { through, relayed, durable, direct }: Readonly<Record<Way, readonly Spoken[]>>,
): ChorusFigures {
  const p50 = ({ latencies }: Spoken) => quantile(latencies, 0.5)
  const all = (of: readonly Spoken[]) => of.flatMap(({ latencies }) => latencies)
  const ratio = (pick: (one: Spoken) => number, to: readonly Spoken[], of = through) =>
    median(of.map((one, at) => pick(one) / pick(to[at] as Spoken)))
  const [ours, bare] = [median(through.map(p50)), median(direct.map(p50))]
  return {
    conversations,
    messages: all(through).length,
    rounds: through.length,
    p50_ms: rounded(ours, 2),
    p99_ms: rounded(quantile(all(through), 0.99), 2),
    bare_p50_ms: rounded(bare, 2),
    bare_p99_ms: rounded(quantile(all(direct), 0.99), 2),
    bare_relay_p50_ms: rounded(median(relayed.map(p50)), 2),
    durable_relay_p50_ms: rounded(median(durable.map(p50)), 2),
    overhead_ms: rounded(ours - bare, 2),
    per_second: rounded(median(through.map((one) => one.perSecond)), 0),
    bare_per_second: rounded(median(direct.map((one) => one.perSecond)), 0),
    times_bare: rounded(ratio(p50, direct), 2),
    rate_vs_bare: rounded(
      ratio((one) => one.perSecond, direct),
      3,
    ),
    times_relay: rounded(ratio(p50, relayed), 2),
    times_durable_relay: rounded(ratio(p50, durable), 2),
    durable_relay_times_bare: rounded(ratio(p50, direct, durable), 2),
  }
}

/** The agent answers 200 at once. Then it posts the text to the callback. */
async function openAgent() {
  const server = createServer(async (incoming, response) => {
    const { callback, message } = JSON.parse(await bodyOf(incoming)) as {
      callback: string
      message: { content: string }
    }
    response.end()
    // At the end a post may still be in progress. `run` reports a message without an answer.
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
  return { send, close: async () => end(server) }
}

async function openRelay(agent: string, more: Readonly<Record<string, string>>) {
  const file = fileURLToPath(new URL('../servers/relay.ts', import.meta.url))
  const server = await startServer('server', ['--import', 'tsx', file], { BENCH_AGENT: agent, ...more })
  const talk = talkThrough(`${server.url}/hook`, `${server.url}/events`, {})
  return {
    send: talk.send,
    async close() {
      talk.close()
      await server.stop()
    },
  }
}
