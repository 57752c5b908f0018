// What the loop knows of a model behind an API, whoever serves it: messages without a vendor's words, one question at a
// time, and an answer whole. The vendor's own blocks travel along unread, for only the same vendor can take them back.
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
  /** As the model wrote it: JSON, if all is well. */
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
      /** The vendor's own form, given back unchanged where `by` is the same. */
      readonly raw?: { readonly by: string; readonly content: unknown }
    }
  | { readonly role: 'tool'; readonly results: readonly ToolAnswer[] }

export interface ModelRequest {
  readonly model: string
  readonly system: string
  readonly messages: readonly Message[]
  readonly tools: readonly ToolSpec[]
  readonly maxTokens: number
  /** The text so far, whole each time. */
  readonly onText?: (text: string) => void
  /** The first sign of an answer, whatever it is. */
  readonly onFirst?: () => void
  readonly signal: AbortSignal
}

/**
 * `pause`: send it back and ask on. `overflow`: what was sent is longer than the model takes. `long`: more came than is taken,
 * and the rest was not waited for.
 */
export type StopReason = 'end' | 'length' | 'refusal' | 'pause' | 'overflow' | 'long'

export interface ModelReply {
  readonly text: string
  readonly calls: readonly ToolUse[]
  readonly stop: StopReason
  readonly usage: TokenUsage
  readonly raw: { readonly by: string; readonly content: unknown } | null
}

/** Throws a SwitchboardError: retryable where another try may help. Never a vendor's error, which may hold a key. */
export interface Model {
  ask(request: ModelRequest): Promise<ModelReply>
}

/** What was sent was too long: nothing was answered. */
export const OVERFLOW: ModelReply = {
  text: '',
  calls: [],
  stop: 'overflow',
  usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  raw: null,
}

/** Of one reply, with the arguments of calls, thinking, and so much for each piece. */
const MOST_REPLY_CHARS = 2_000_000
const PIECE_CHARS = 8
const MOST_CALLS = 128

/** The text of a reply while it comes, and whether more came than is taken. */
export interface ReplyText {
  /** All of it, at most one character more than is taken. */
  text(): string
  add(delta: string): void
  /** What came beside the text. */
  count(size: number): void
  isTooLong(calls: number): boolean
  /** What it cost, where nobody waited for the number. */
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
      // To look through the whole text for every piece would be quadratic.
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

/** Its calls did not come whole: none of them is made. */
export function longReply(said: ReplyText, usage: TokenUsage): ModelReply {
  return { text: said.text(), calls: [], stop: 'long', usage, raw: null }
}

/** Deeper than any tool wants it, and shallow enough to be written down again. */
const MOST_LEVELS = 100

/** The arguments as an object; null: they are none, or nested too deep to be one. Empty means no arguments. */
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
