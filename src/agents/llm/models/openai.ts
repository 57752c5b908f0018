// OpenAI's chat completions through its SDK, and the many servers that speak nearly the same. Their known quirks are
// handled here, so that the loop gets whole calls and a true stop reason.
import type OpenAiClient from 'openai'
import type { ChatCompletionChunk, ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import { NO_TOKENS, type TokenUsage } from '../../../contract/index.ts'
import type { WireConfig } from './anthropic.ts'
import { brokenStream, misread, modelFault } from './fault.ts'
import {
  createReplyText,
  longReply,
  type Message,
  type Model,
  type ModelReply,
  type ModelRequest,
  OVERFLOW,
  parsedArguments,
  type ToolUse,
} from './model.ts'

const BY = 'openai'
const MOST_REFUSAL = 10_000

export async function createOpenAiModel(
  config: WireConfig & { readonly compatible: boolean },
): Promise<Model> {
  const { default: OpenAI } = await import('openai')
  const client: OpenAiClient = new OpenAI({
    // Private servers often need no key, but the SDK requires one.
    apiKey: config.apiKey ?? 'none',
    baseURL: config.baseUrl ?? 'https://api.openai.com/v1',
    organization: null,
    project: null,
    maxRetries: 0,
    fetch: config.fetch as typeof fetch,
    logLevel: 'off',
  })
  return {
    async ask(request) {
      const { model, system, messages, tools, maxTokens } = request
      try {
        const stream = await client.chat.completions.create(
          {
            model,
            messages: [{ role: 'system', content: system }, ...messages.flatMap(messageParams)],
            stream: true,
            stream_options: { include_usage: true },
            // Older servers know only `max_tokens`. OpenAI's newest models refuse it.
            ...(config.compatible ? { max_tokens: maxTokens } : { max_completion_tokens: maxTokens }),
            ...(tools.length === 0
              ? {}
              : {
                  tools: tools.map(({ name, description, schema }) => ({
                    type: 'function' as const,
                    function: { name, description, parameters: schema as Record<string, unknown> },
                  })),
                }),
          },
          { signal: request.signal },
        )
        return await gather(stream, request)
      } catch (thrown) {
        if (request.signal.aborted) throw thrown
        const secrets = config.apiKey === null ? [] : [config.apiKey]
        const fault = modelFault(thrown, { model, now: config.clock.now(), secrets })
        if (fault === null) return OVERFLOW
        throw fault
      }
    },
  }
}

function messageParams(message: Message): ChatCompletionMessageParam[] {
  switch (message.role) {
    case 'user': {
      const files = message.files ?? []
      if (files.length === 0) return [{ role: 'user', content: message.text }]
      return [
        {
          role: 'user',
          content: [
            ...files.map(({ mime, base64 }) => ({
              type: 'image_url' as const,
              image_url: { url: `data:${mime};base64,${base64}` },
            })),
            { type: 'text' as const, text: message.text },
          ],
        },
      ]
    }
    case 'assistant': {
      const own = message.raw?.by === BY ? (message.raw.content as readonly RawCall[]) : null
      const calls = own ?? message.calls.map((call) => rawOf(call))
      if (calls.length === 0 && message.text === '') return []
      return [
        {
          role: 'assistant',
          content: message.text === '' ? null : message.text,
          ...(calls.length === 0 ? {} : { tool_calls: calls as never }),
        },
      ]
    }
    case 'tool':
      // The protocol has no mark for an error result, so a word says it.
      return message.results.map(({ id, text, isError }) => ({
        role: 'tool',
        tool_call_id: id,
        content: isError ? `Error: ${text}` : text,
      }))
  }
}

/** A call as it is sent back. Unknown fields are kept, because some servers refuse it without them. */
type RawCall = { readonly [key: string]: unknown }

function rawOf({ id, name, arguments: given }: ToolUse, extra: RawCall = {}): RawCall {
  // Invalid JSON would make the API refuse the whole request. The result says what was wrong.
  const written = parsedArguments(given) === null || given.trim() === '' ? '{}' : given
  return { ...extra, id, type: 'function', function: { name, arguments: written } }
}

interface Gathered {
  id: string
  name: string
  arguments: string
  index: number | undefined
  extra: Record<string, unknown>
}

async function gather(
  stream: AsyncIterable<ChatCompletionChunk>,
  request: ModelRequest,
): Promise<ModelReply> {
  const calls: Gathered[] = []
  const said = createReplyText(request.onText)
  let refused = ''
  let finish: string | null = null
  let usage: TokenUsage = NO_TOKENS
  let chunks = 0
  for await (const chunk of stream) {
    chunks += 1
    try {
      if (chunk.usage) usage = usageOf(chunk.usage)
      const choice = chunk.choices?.[0]
      if (!choice) continue
      const delta = choice.delta ?? {}
      request.onFirst?.()
      if (typeof delta.content === 'string' && delta.content !== '') {
        said.add(delta.content)
      }
      if (typeof delta.refusal === 'string') {
        refused += delta.refusal.slice(0, MOST_REFUSAL - refused.length)
        said.count(delta.refusal.length)
      }
      for (const piece of delta.tool_calls ?? []) said.count(takePiece(calls, piece as unknown as Piece))
      said.count(0)
      if (said.isTooLong(calls.length)) {
        const long = longReply(said, { ...usage, output: said.outputTokens() })
        return refused === '' ? long : { ...long, text: refused, stop: 'refusal' }
      }
      finish = choice.finish_reason ?? finish
    } catch (thrown) {
      throw misread(thrown)
    }
  }
  if (finish === null) throw brokenStream(chunks)
  const named = calls.filter(({ name }) => name !== '')
  const taken = new Set(
    request.messages.flatMap((one) => (one.role === 'assistant' ? one.calls.map(({ id }) => id) : [])),
  )
  const uses = named.map(({ id, name, arguments: given }, at) => {
    // Some servers give no ids, or the same in every answer. A result must belong to one call.
    const own = id === '' || taken.has(id) ? `call_${request.messages.length}_${at}` : id
    taken.add(own)
    return { id: own, name, arguments: given }
  })
  const content = uses.map((use, at) => rawOf(use, named[at]?.extra))
  return {
    text: refused === '' ? said.text() : refused,
    calls: uses,
    // Some servers report `stop` although tools were called. The calls decide.
    stop: refused !== '' || finish === 'content_filter' ? 'refusal' : finish === 'length' ? 'length' : 'end',
    usage,
    raw: { by: BY, content },
  }
}

interface Piece {
  readonly [key: string]: unknown
  readonly index?: number
  readonly id?: string | null
  readonly function?: { readonly name?: string | null; readonly arguments?: unknown }
}

/** A new id or name begins a call. Other pieces continue their call; names are never extended. Returns the length. */
function takePiece(calls: Gathered[], piece: Piece): number {
  const { index, id, function: part, type: _type, ...extra } = piece
  const name = part?.name ?? ''
  const given = part?.arguments
  const written =
    typeof given === 'string' ? given : given === undefined || given === null ? '' : JSON.stringify(given)
  const known = id ? calls.find((call) => call.id === id) : goesOn(calls, index, name)
  const call = known ?? begin(calls, { id: id ?? '', index })
  if (call.name === '') call.name = name
  call.arguments += written
  Object.assign(call.extra, extra)
  return written.length
}

function goesOn(calls: readonly Gathered[], index: number | undefined, name: string): Gathered | undefined {
  const last = index === undefined ? calls.at(-1) : calls.findLast((call) => call.index === index)
  if (!last) return undefined
  return name === '' || last.name === '' || last.name === name ? last : undefined
}

function begin(calls: Gathered[], { id, index }: { id: string; index: number | undefined }): Gathered {
  const call = { id, name: '', arguments: '', index, extra: {} }
  calls.push(call)
  return call
}

function usageOf(usage: NonNullable<ChatCompletionChunk['usage']>): TokenUsage {
  return {
    input: usage.prompt_tokens ?? 0,
    output: usage.completion_tokens ?? 0,
    cacheRead: usage.prompt_tokens_details?.cached_tokens ?? 0,
    cacheWrite: 0,
  }
}
