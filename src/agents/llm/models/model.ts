// A model behind an API, independent of the vendor: messages in a neutral form, one question at a time, and a whole
// answer. The vendor's own blocks are kept unread, because only the same vendor accepts them back.
import { MOST_ANSWER_CHARS, type TokenUsage } from '../../../contract/index.ts'
import { isNestedDeeper } from '../../../kit/index.ts'

export interface ToolSpec {
  readonly name: string
  readonly description: string
  readonly schema: Readonly<Record<string, unknown>>
}

export interface ToolUse {
  readonly id: string
  readonly name: string
  /** As the model wrote it, usually JSON. */
  readonly arguments: string
}

export interface ToolAnswer {
  readonly id: string
  readonly name: string
  readonly text: string
  readonly isError: boolean
}

/** A file of a message as bytes in base64. */
export interface ModelFile {
  readonly mime: string
  readonly name: string
  readonly base64: string
}

export type Message =
  | { readonly role: 'user'; readonly text: string; readonly files?: readonly ModelFile[] }
  | {
      readonly role: 'assistant'
      readonly text: string
      readonly calls: readonly ToolUse[]
      /** The vendor's own form. It is returned unchanged to the vendor named by `by`. */
      readonly raw?: { readonly by: string; readonly content: unknown }
    }
  | { readonly role: 'tool'; readonly results: readonly ToolAnswer[] }

export interface ModelRequest {
  readonly model: string
  readonly system: string
  readonly messages: readonly Message[]
  readonly tools: readonly ToolSpec[]
  readonly maxTokens: number
  /** Called with the whole text so far. */
  readonly onText?: (text: string) => void
  /** Called at the first sign of an answer. */
  readonly onFirst?: () => void
  readonly signal: AbortSignal
}

/**
 * `pause`: send it back and continue. `overflow`: the input is longer than the model accepts. `long`: the answer is
 * longer than we accept, and its rest was not read.
 */
export type StopReason = 'end' | 'length' | 'refusal' | 'pause' | 'overflow' | 'long'

export interface ModelReply {
  readonly text: string
  readonly calls: readonly ToolUse[]
  readonly stop: StopReason
  readonly usage: TokenUsage
  readonly raw: { readonly by: string; readonly content: unknown } | null
}

/** Throws a SwitchboardError, retryable if another try may help. Never a vendor's error, which may contain a key. */
export interface Model {
  ask(request: ModelRequest): Promise<ModelReply>
}

/** The input was too long, so there is no answer. */
export const OVERFLOW: ModelReply = {
  text: '',
  calls: [],
  stop: 'overflow',
  usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  raw: null,
}

/** The limit of one reply, including arguments of calls, thinking, and some overhead for each piece. */
const MOST_REPLY_CHARS = 2_000_000
const PIECE_CHARS = 8
const MOST_CALLS = 128

/** The text of a reply as it arrives, and whether it exceeds the limit. */
export interface ReplyText {
  /** Returns the whole text, at most one character over the limit. */
  text(): string
  add(delta: string): void
  /** Counts other content. */
  count(size: number): void
  isTooLong(calls: number): boolean
  /** Estimates the output tokens of a reply that was cut off. */
  outputTokens(): number
}

export function createReplyText(onText: ModelRequest['onText']): ReplyText {
  let text = ''
  let size = 0
  let hasWords = false
  return {
    text: () => text,
    add(delta) {
      size += delta.length + PIECE_CHARS
      text += delta.slice(0, MOST_ANSWER_CHARS + 1 - text.length)
      // Kept as a flag, because searching the whole text for every piece would be quadratic.
      hasWords ||= delta.trim() !== ''
      if (hasWords) onText?.(text)
    },
    count(more) {
      size += more + PIECE_CHARS
    },
    isTooLong: (calls) => text.length > MOST_ANSWER_CHARS || size > MOST_REPLY_CHARS || calls > MOST_CALLS,
    outputTokens: () => Math.ceil(size / 4),
  }
}

/** Its calls are incomplete, so none of them runs. */
export function longReply(said: ReplyText, usage: TokenUsage): ModelReply {
  return { text: said.text(), calls: [], stop: 'long', usage, raw: null }
}

/** Deeper than any tool needs, and shallow enough to be written as JSON again. */
const MOST_LEVELS = 100

/** Returns the arguments as an object; null: they are not an object, or nested too deep. Empty means no arguments. */
export function parsedArguments(text: string): Record<string, unknown> | null {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    const usable = typeof value === 'object' && value !== null && !Array.isArray(value)
    return usable && !isNestedDeeper(value, MOST_LEVELS) ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
