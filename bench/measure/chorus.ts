// End to end to a Chorus agent and back: webhook message → delivery → callback → visible on the stream, at 1, 32 and 256
// conversations, against the same agent called by a bare fetch loop. The difference is what durability costs.
import { createServer } from 'node:http'
import { quantile, rounded } from '../statistics.ts'
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
} from './through-agent.ts'

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
const CONNECTOR = '{ type: chorus, url: env:BENCH_AGENT, allow_private: true }'

export async function measureChorus(context: BenchContext): Promise<readonly ChorusFigures[]> {
  const agent = await openAgent()
  const bare = await openBare(agent.url)
  const sender = await openSwitchboard(context, agent.url, CONNECTOR)
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
    closeConnections()
  }
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
