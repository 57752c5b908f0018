// The stream of Anthropic's Messages API, event by event, as its documentation describes it.
import type { FakeReply } from './fake-llm.ts'

export function anthropicEvents(reply: FakeReply, model: string, n: number): readonly string[] {
  const { text, calls = [], thinking, usage = {} } = reply
  const events: string[] = []
  const event = (type: string, data: object) =>
    events.push(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
  event('message_start', {
    message: {
      ...{
        id: `msg_${n}`,
        type: 'message',
        role: 'assistant',
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
      },
      usage: {
        input_tokens: usage.input ?? 10,
        output_tokens: 1,
        cache_creation_input_tokens: usage.cacheWrite ?? 0,
        cache_read_input_tokens: usage.cacheRead ?? 0,
      },
    },
  })
  event('ping', {})
  let index = 0
  const block = (start: object, deltas: readonly object[]) => {
    event('content_block_start', { index, content_block: start })
    for (const delta of deltas) event('content_block_delta', { index, delta })
    event('content_block_stop', { index })
    index += 1
  }
  if (thinking !== undefined)
    block({ type: 'thinking', thinking: '', signature: '' }, [
      { type: 'thinking_delta', thinking },
      { type: 'signature_delta', signature: `sig-${n}` },
    ])
  if (text !== undefined)
    block(
      { type: 'text', text: '' },
      pieces(text).map((piece) => ({ type: 'text_delta', text: piece })),
    )
  for (const [at, { name, input, id }] of calls.entries()) {
    const written = typeof input === 'string' ? input : JSON.stringify(input)
    block(
      { type: 'tool_use', id: id ?? `toolu_${n}_${at}`, name, input: {} },
      pieces(written).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    )
  }
  if (reply.errorInStream) {
    event('error', { error: reply.errorInStream })
    return events
  }
  const stops = { length: 'max_tokens', refusal: 'refusal', pause: 'pause_turn' }
  const stop = reply.stop ? stops[reply.stop] : calls.length > 0 ? 'tool_use' : 'end_turn'
  event('message_delta', {
    delta: { stop_reason: stop, stop_sequence: null },
    usage: { output_tokens: usage.output ?? 5 },
  })
  event('message_stop', {})
  return events
}

export function anthropicBody({
  type = 'api_error',
  message = 'it failed',
}: NonNullable<FakeReply['error']>): object {
  return { type: 'error', error: { type, message } }
}

/** Splits a text in two, as a stream does, so that no reader can rely on whole texts. */
export function pieces(text: string): readonly string[] {
  const half = Math.floor(text.length / 2)
  return [text.slice(0, half), text.slice(half)].filter((one) => one !== '')
}
