// A turn to an agent behind plain HTTP and back: webhook message → signed POST → answer in the response → visible on the stream,
// beside the same agent called by a bare fetch. Rounds are interleaved; the ratio is the median of the rounds' own.
import { createServer } from 'node:http'
import { quantile, rounded } from '../statistics.ts'
import type { BenchContext } from './context.ts'
import { bodyOf, closeConnections, end, listen, openSwitchboard, run, type Send } from './through-agent.ts'

export interface HttpAgentFigures {
  readonly conversations: number
  readonly messages: number
  readonly p50_ms: number
  readonly bare_p50_ms: number
  /** Of the medians, round by round: how many times as long as the bare fetch. */
  readonly ratio: number
  readonly overhead_ms: number
}

const CONVERSATIONS = [1, 32]
const CONNECTOR = '{ type: http, url: env:BENCH_AGENT, allow_private: true }'

export async function measureHttpAgent(context: BenchContext): Promise<readonly HttpAgentFigures[]> {
  const server = createServer(async (incoming, response) => {
    const { text } = JSON.parse(await bodyOf(incoming)) as { text: string }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ text }))
  })
  const url = await listen(server)
  const sender = await openSwitchboard(context, url, CONNECTOR)
  const bare: Send = async (session, text) => {
    const body = JSON.stringify({ session, text })
    const answer = await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
    await answer.json()
  }
  const rounds = context.options.quick ? 3 : 9
  const each = context.options.quick ? 8 : 32
  const figures: HttpAgentFigures[] = []
  try {
    for (const conversations of CONVERSATIONS) {
      await run(sender.send, conversations, 2)
      await run(bare, conversations, 2)
      const pairs: { readonly through: number; readonly direct: number }[] = []
      for (let round = 0; round < rounds; round++) {
        const through = quantile(await run(sender.send, conversations, each), 0.5)
        pairs.push({ through, direct: quantile(await run(bare, conversations, each), 0.5) })
      }
      const median = (of: (pair: (typeof pairs)[number]) => number) => quantile(pairs.map(of), 0.5)
      const [p50, bareP50] = [median((one) => one.through), median((one) => one.direct)]
      figures.push({
        conversations,
        messages: rounds * each * conversations,
        p50_ms: rounded(p50, 2),
        bare_p50_ms: rounded(bareP50, 2),
        ratio: rounded(
          median((one) => one.through / one.direct),
          2,
        ),
        overhead_ms: rounded(p50 - bareP50, 2),
      })
      context.say(
        `http agent, ${conversations} conversations: ${rounded(p50, 2)} ms, bare fetch ${rounded(bareP50, 2)} ms`,
      )
    }
    return figures
  } finally {
    await sender.close()
    end(server)
    closeConnections()
  }
}
