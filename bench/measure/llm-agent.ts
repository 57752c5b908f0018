// A turn of the connector llm: webhook message → model → a read-only tool → model → visible on the stream, with every
// step in the database. The peer is a loop with the vendor's own SDK over the same API, which keeps its history in
// memory.
import { createFakeLlm, type FakeRequest } from '../../src/testing/llm/fake-llm.ts'
import type { BenchContext } from './context.ts'
import {
  type AgentFigures,
  besideBare,
  closeConnections,
  openSwitchboard,
  type Send,
} from './through-agent.ts'

const MODEL = 'bench'
const KEY = 'bench-key'
const TOOL = 'get_roster'
const MOST_STEPS = 5

export async function measureLlmAgent(context: BenchContext): Promise<readonly AgentFigures[]> {
  // The call's id carries the text through, so that the answer can be matched.
  const fake = createFakeLlm({
    key: KEY,
    script: (request) =>
      request.isResult
        ? { text: wordsOf(request) }
        : { calls: [{ name: TOOL, input: {}, id: `call_${request.last}` }] },
  })
  const api = await fake.listen()
  const connector = `{ type: llm, provider: anthropic, base_url: "${api.url}", api_key: env:BENCH_AGENT, model: ${MODEL} }`
  const sender = await openSwitchboard(context, KEY, connector)
  try {
    const direct = await bareLoop(api.url)
    const what = { agent: 'llm agent', bare: 'bare SDK loop' }
    return await besideBare(context, what, { through: sender.send, direct })
  } finally {
    await sender.close()
    await api.close()
    closeConnections()
  }
}

function wordsOf({ body }: FakeRequest): string {
  const messages = body.messages as readonly {
    readonly content: readonly { readonly tool_use_id?: string }[]
  }[]
  return String(messages.at(-1)?.content[0]?.tool_use_id ?? '').slice('call_'.length)
}

/** The loop that a program without a gateway has: it streams, runs the calls, and repeats until the end. */
async function bareLoop(url: string): Promise<Send> {
  const { default: Anthropic } = await import('@anthropic-ai/sdk')
  const client = new Anthropic({ apiKey: KEY, baseURL: url, maxRetries: 0 })
  type Params = Parameters<typeof client.messages.stream>[0]
  const histories = new Map<string, Params['messages']>()
  const tools: Params['tools'] = [
    { name: TOOL, description: 'Who takes part.', input_schema: { type: 'object' } },
  ]
  return async (conversation, text) => {
    const messages = histories.get(conversation) ?? []
    histories.set(conversation, messages)
    messages.push({ role: 'user', content: text })
    for (let step = 0; step < MOST_STEPS; step++) {
      const stream = client.messages.stream({
        model: MODEL,
        max_tokens: 8_192,
        system: 'Be brief.',
        messages,
        tools,
      })
      const { content } = await stream.finalMessage()
      messages.push({ role: 'assistant', content })
      const calls = content.filter((block) => block.type === 'tool_use')
      if (calls.length === 0) return
      const results = calls.map(({ id }) => ({
        type: 'tool_result' as const,
        tool_use_id: id,
        content: '[]',
      }))
      messages.push({ role: 'user', content: results })
    }
    throw new Error('the bare loop did not end')
  }
}
