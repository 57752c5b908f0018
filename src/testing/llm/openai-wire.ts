// The stream of OpenAI's chat completions, chunk by chunk, as its documentation describes it.
import { pieces } from './anthropic-wire.ts'
import type { FakeReply } from './fake-llm.ts'

export function openAiChunks(reply: FakeReply, model: string, n: number): readonly string[] {
  const { text, calls = [], usage = {} } = reply
  const head = { id: `chatcmpl-${n}`, object: 'chat.completion.chunk', created: 1, model }
  const chunk = (data: object) => `data: ${JSON.stringify({ ...head, ...data })}\n\n`
  const delta = (given: object, finish: string | null = null) =>
    chunk({ choices: [{ index: 0, delta: given, finish_reason: finish }] })
  const events = [delta({ role: 'assistant', content: '' })]
  // OpenAI itself does not send reasoning. Servers with a similar wire format send it like this.
  for (const piece of pieces(reply.thinking ?? '')) events.push(delta({ reasoning_content: piece }))
  for (const piece of pieces(text ?? '')) events.push(delta({ content: piece }))
  for (const [index, { name, input, id }] of calls.entries()) {
    const written = typeof input === 'string' ? input : JSON.stringify(input)
    const own = { index, id: id ?? `call_${n}_${index}`, type: 'function', function: { name, arguments: '' } }
    events.push(delta({ tool_calls: [own] }))
    for (const part of pieces(written))
      events.push(delta({ tool_calls: [{ index, function: { arguments: part } }] }))
  }
  if (reply.errorInStream) {
    events.push(`data: ${JSON.stringify({ error: reply.errorInStream })}\n\n`)
    return events
  }
  if (reply.stop === 'refusal') events.push(delta({ refusal: 'I cannot help with that.' }))
  events.push(delta({}, reply.stop === 'length' ? 'length' : calls.length > 0 ? 'tool_calls' : 'stop'))
  events.push(
    chunk({
      choices: [],
      usage: {
        prompt_tokens: (usage.input ?? 10) + (usage.cacheRead ?? 0),
        completion_tokens: usage.output ?? 5,
        prompt_tokens_details: { cached_tokens: usage.cacheRead ?? 0 },
      },
    }),
  )
  events.push('data: [DONE]\n\n')
  return events
}

export function openAiError({
  type = 'server_error',
  code,
  message = 'it failed',
}: NonNullable<FakeReply['error']>): object {
  return { error: { type, code: code ?? null, message, param: null } }
}
