// Long queues in one place: a dead destination with many sends, and a conversation with many turns.
import { createServer } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from '../../../src/testing/free-port.ts'
import { countsOf, startSwitchboard } from '../../servers/switchboard.ts'
import { quantile, rounded } from '../../statistics.ts'
import type { BenchContext } from '../context.ts'
import { bodyOf, closeConnections, end, listen, openSwitchboard, run } from '../through-agent.ts'
import { agent, bound, makeLargeFolder, seed, UNLIMITED, webhook } from './folder.ts'

const HTTP = '{ type: http, url: env:BENCH_AGENT, allow_private: true }'
const TALKERS = 4
const DEAD_CONVERSATIONS = 1_000

/** The median of a message and its answer on a healthy hook, without and with many sends to a dead destination. */
export async function measureDeadDestination(context: BenchContext, sends: number) {
  const times = context.options.quick ? 10 : 100
  const server = createServer(async (incoming, response) => {
    const { text } = JSON.parse(await bodyOf(incoming)) as { text: string }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ text }))
  })
  const url = await listen(server)
  const deadPort = await freePort()
  const integration = `{ id: dead, platform: webhook, scope: all, out: { url: "http://127.0.0.1:${deadPort}/", allow_private: true } }`
  const talk = async (many: number) => {
    const sender = await openSwitchboard(context, url, HTTP, {
      integration,
      prepare: (folder) =>
        seed(context, folder, {
          sends: { integration: 'dead', many, conversations: DEAD_CONVERSATIONS, dueInMs: 0 },
        }),
    })
    try {
      await run(sender.send, TALKERS, 5)
      return quantile(await run(sender.send, TALKERS, times), 0.5)
    } finally {
      await sender.close()
    }
  }
  try {
    const alone = await talk(0)
    const beside = await talk(sends)
    context.say(
      `a message and its answer: ${alone.toFixed(1)} ms; with ${sends} sends to a dead place ${beside.toFixed(1)} ms`,
    )
    return {
      p50_ms: rounded(alone, 1),
      beside_dead_p50_ms: rounded(beside, 1),
      ratio: rounded(beside / alone, 2),
    }
  } finally {
    end(server)
    closeConnections()
  }
}

/** Answers per second in one conversation with this many queued turns. */
export async function measureLongQueue(context: BenchContext, queued: number): Promise<number> {
  const watchMs = context.options.quick ? 1_000 : 10_000
  const folder = makeLargeFolder(context, 'long-queue', {
    tunables: UNLIMITED,
    integrations: [webhook('bench')],
    agents: [agent('bench', [bound('bench')], 'demo')],
  })
  await seed(context, folder, { turns: { conversation: 'long', many: queued } })
  const server = await startSwitchboard(folder, 'any')
  try {
    const answered = async () => (await countsOf(folder, server.url)).answered
    while ((await answered()) === 0) await wait(10)
    const [first, began] = [await answered(), performance.now()]
    let last = first
    while (performance.now() - began < watchMs && last < queued) {
      await wait(100)
      last = await answered()
    }
    const rate = ((last - first) * 1000) / (performance.now() - began)
    context.say(`one conversation with ${queued} queued: ${Math.round(rate)} answered a second`)
    return rounded(rate, 0)
  } finally {
    await server.stop()
  }
}
