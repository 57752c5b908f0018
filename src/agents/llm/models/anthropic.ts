// Anthropic's Messages API through its SDK: streamed, with marks for its prompt cache. Thinking is returned unchanged.
import type AnthropicClient from '@anthropic-ai/sdk'
import type { Messages } from '@anthropic-ai/sdk/resources/messages'
import type { Clock, TokenUsage } from '../../../contract/index.ts'
import type { StreamingFetch } from '../../../kit/index.ts'
import { brokenStream, misread, modelFault } from './fault.ts'
import {
  createReplyText,
  longReply,
  type Message,
  type Model,
  type ModelFile,
  type ModelReply,
  type ModelRequest,
  OVERFLOW,
  parsedArguments,
  type StopReason,
  type ToolUse,
} from './model.ts'

export interface WireConfig {
  readonly apiKey: string | null
  readonly baseUrl: string | null
  readonly fetch: StreamingFetch
  readonly clock: Clock
}

const BY = 'anthropic'
const CACHED = { type: 'ephemeral' } as const
const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

export async function createAnthropicModel(config: WireConfig): Promise<Model> {
  const { default: Anthropic } = await import('@anthropic-ai/sdk')
  const client: AnthropicClient = new Anthropic({
    apiKey: config.apiKey ?? 'none',
    authToken: null,
    // The SDK must not read the environment. Unset options mean the vendor's defaults.
    baseURL: config.baseUrl ?? 'https://api.anthropic.com',
    // The loop retries itself, because its tries must survive a restart and be reported.
    maxRetries: 0,
    fetch: config.fetch as typeof fetch,
    logLevel: 'off',
  })
  return {
    async ask(request) {
      try {
        const stream = await client.messages.create(
          { ...body(request), stream: true },
          { signal: request.signal },
        )
        return await gather(stream, request)
      } catch (thrown) {
        if (request.signal.aborted) throw thrown
        const secrets = config.apiKey === null ? [] : [config.apiKey]
        const fault = modelFault(thrown, { model: request.model, now: config.clock.now(), secrets })
        if (fault === null) return OVERFLOW
        throw fault
      }
    },
  }
}

function body({
  model,
  system,
  messages,
  tools,
  maxTokens,
}: ModelRequest): Messages.MessageCreateParamsNonStreaming {
  const offered = tools.map(
    ({ name, description, schema }, at): Messages.Tool => ({
      name,
      description,
      input_schema: schema as Messages.Tool.InputSchema,
      ...(at === tools.length - 1 ? { cache_control: CACHED } : {}),
    }),
  )
  return {
    model,
    max_tokens: maxTokens,
    system: [{ type: 'text', text: system, cache_control: CACHED }],
    messages: marked(mergeNeighbours(messages.map(messageParam))),
    ...(offered.length === 0 ? {} : { tools: offered }),
  }
}

type Block = Messages.ContentBlockParam

interface Said {
  readonly role: 'user' | 'assistant'
  readonly content: Block[]
}

function messageParam(message: Message): Said {
  switch (message.role) {
    case 'user':
      return {
        role: 'user',
        content: [...(message.files ?? []).map(fileBlock), { type: 'text', text: message.text }],
      }
    case 'assistant':
      return { role: 'assistant', content: assistantBlocks(message) }
    case 'tool':
      // All results of one answer come first, in one message.
      return {
        role: 'user',
        content: message.results.map(({ id, text, isError }) => ({
          type: 'tool_result',
          tool_use_id: id,
          content: text === '' ? '(empty)' : text,
          ...(isError ? { is_error: true } : {}),
        })),
      }
  }
}

function assistantBlocks({ raw, text, calls }: Extract<Message, { role: 'assistant' }>): Block[] {
  if (raw?.by === BY) return [...(raw.content as Block[])]
  return [
    ...(text.trim() === '' ? [] : [{ type: 'text' as const, text }]),
    ...calls.map(
      ({ id, name, arguments: given }): Block => ({
        ...{ type: 'tool_use', id, name },
        input: parsedArguments(given) ?? {},
      }),
    ),
  ]
}

function fileBlock({ mime, name, base64 }: ModelFile): Block {
  if (IMAGES.includes(mime))
    return {
      type: 'image',
      source: { type: 'base64', media_type: mime as 'image/png', data: base64 },
    }
  return {
    ...{ type: 'document', title: name },
    source: { type: 'base64', media_type: 'application/pdf', data: base64 },
  }
}

/** Merges neighbouring messages of one role, and drops empty ones. */
function mergeNeighbours(messages: readonly Said[]): Said[] {
  const all: Said[] = []
  for (const { role, content } of messages) {
    if (content.length === 0) continue
    const last = all.at(-1)
    if (last?.role === role) last.content.push(...content)
    else all.push({ role, content: [...content] })
  }
  return all
}

/** Marks the messages so far for the cache. */
function marked(messages: Said[]): Said[] {
  const last = messages.at(-1)
  if (!last) return messages
  const block = last.content.at(-1)
  if (!block || block.type === 'thinking' || block.type === 'redacted_thinking') return messages
  return [
    ...messages.slice(0, -1),
    { ...last, content: [...last.content.slice(0, -1), { ...block, cache_control: CACHED } as Block] },
  ]
}

type Loose = { [key: string]: unknown; type: string }

async function gather(
  stream: AsyncIterable<Messages.RawMessageStreamEvent>,
  request: ModelRequest,
): Promise<ModelReply> {
  // A map, because the API chooses the numbers and an array would be as long as the largest.
  const blocks = new Map<number, Loose>()
  const inputs = new Map<number, string>()
  let stop: string | null = null
  let ended = false
  const said = createReplyText(request.onText)
  let input = { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }
  let output = 0
  let events = 0
  for await (const event of stream) {
    events += 1
    try {
      switch (event.type) {
        case 'message_start': {
          const { usage } = event.message
          input = { ...input, ...present(usage) }
          output = usage.output_tokens
          break
        }
        case 'content_block_start':
          request.onFirst?.()
          blocks.set(event.index, { ...(event.content_block as unknown as Loose) })
          if (event.content_block.type === 'tool_use') inputs.set(event.index, '')
          break
        case 'content_block_delta': {
          const block = blocks.get(event.index)
          if (!block) break
          const { delta } = event
          if (delta.type === 'text_delta') {
            block.text = `${block.text ?? ''}${delta.text}`
            said.add(delta.text)
          } else if (delta.type === 'input_json_delta') {
            inputs.set(event.index, (inputs.get(event.index) ?? '') + delta.partial_json)
            said.count(delta.partial_json.length)
          } else if (delta.type === 'thinking_delta') {
            block.thinking = `${block.thinking ?? ''}${delta.thinking}`
            said.count(delta.thinking.length)
          } else if (delta.type === 'signature_delta') block.signature = delta.signature
          break
        }
        case 'content_block_stop': {
          const block = blocks.get(event.index)
          const given = inputs.get(event.index)
          if (block && given !== undefined) {
            block.input = parsedArguments(given) ?? {}
            block.done = true
          }
          break
        }
        case 'message_delta':
          stop = event.delta.stop_reason
          output = event.usage.output_tokens
          input = { ...input, ...present(event.usage) }
          break
        case 'message_stop':
          ended = true
          break
      }
      if (said.isTooLong(inputs.size))
        return longReply(said, usageOf(input, Math.max(output, said.outputTokens())))
    } catch (thrown) {
      throw misread(thrown)
    }
  }
  // A call whose block did not end does not count, and neither does an answer that did not end.
  if (!ended && stop === null) throw brokenStream(events)
  const whole = [...blocks.values()].filter((block) => block.type !== 'tool_use' || block.done === true)
  const calls = [...blocks].flatMap(([at, block]): ToolUse[] =>
    block.type === 'tool_use' && block.done === true
      ? [{ id: String(block.id), name: String(block.name), arguments: inputs.get(at) ?? '' }]
      : [],
  )
  const content = whole
    .filter((block) => block.type !== 'text' || String(block.text ?? '').trim() !== '')
    .map(({ done: _done, ...block }) => block)
  return {
    text: said.text(),
    calls,
    stop: stopOf(stop),
    usage: usageOf(input, output),
    raw: { by: BY, content },
  }
}

function stopOf(stop: string | null): StopReason {
  if (stop === 'max_tokens') return 'length'
  if (stop === 'refusal') return 'refusal'
  if (stop === 'pause_turn') return 'pause'
  return stop === 'model_context_window_exceeded' ? 'length' : 'end'
}

interface InputTokens {
  readonly input_tokens: number
  readonly cache_creation_input_tokens: number
  readonly cache_read_input_tokens: number
}

function present(usage: { readonly [key: string]: unknown } | object): Partial<InputTokens> {
  const given = usage as Readonly<Record<string, unknown>>
  const names = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'] as const
  return Object.fromEntries(
    names.flatMap((name) => (typeof given[name] === 'number' ? [[name, given[name]]] : [])),
  )
}

function usageOf(input: InputTokens, output: number): TokenUsage {
  const cacheWrite = input.cache_creation_input_tokens
  const cacheRead = input.cache_read_input_tokens
  return { input: input.input_tokens + cacheWrite + cacheRead, output, cacheRead, cacheWrite }
}
