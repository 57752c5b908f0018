// A turn to an agent behind plain HTTP and back: webhook message → signed POST → answer in the response → visible on
// the stream. The peer calls the same agent by a bare fetch. Rounds are interleaved. The ratio is the median of the
// rounds'.
import { createServer } from 'node:http'
import type { BenchContext } from './context.ts'
import {
  type AgentFigures,
  besideBare,
  bodyOf,
  closeConnections,
  end,
  listen,
  openSwitchboard,
  type Send,
} from './through-agent.ts'

const CONNECTOR = '{ type: http, url: env:BENCH_AGENT, allow_private: true }'

export async function measureHttpAgent(context: BenchContext): Promise<readonly AgentFigures[]> {
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
  try {
    const what = { agent: 'http agent', bare: 'bare fetch' }
    return await besideBare(context, what, { through: sender.send, direct: bare })
  } finally {
    await sender.close()
    end(server)
    closeConnections()
  }
}
