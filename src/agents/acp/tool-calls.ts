// The tool calls of one turn as the agent tells of them: first whole, then only what changed; what a person is asked about
// is all that is known of the call by then.
import type { ToolCallContent, ToolCallUpdate } from '@agentclientprotocol/sdk'
import { inputText } from '../../kit/index.ts'

export interface ToolCallView {
  readonly id: string
  readonly title: string
  readonly kind: string
  readonly status: string
  readonly rawInput: unknown
  readonly rawOutput: unknown
  readonly content: readonly ToolCallContent[]
}

export interface ToolCalls {
  /** The call as it is known after this; a new one counts only up to a bound. */
  merge(update: Partial<ToolCallUpdate> & { readonly toolCallId: string }): ToolCallView
  open(): readonly ToolCallView[]
}

/** More calls than that in one turn are followed no further: each is asked about as it comes. */
const MOST_CALLS = 5_000
const TITLE_CHARS = 200

export function createToolCalls(): ToolCalls {
  const calls = new Map<string, ToolCallView>()
  return {
    merge(update) {
      const known = calls.get(update.toolCallId)
      const merged: ToolCallView = {
        id: update.toolCallId,
        title: oneLine(update.title ?? known?.title ?? update.kind ?? 'a tool'),
        kind: update.kind ?? known?.kind ?? 'other',
        status: update.status ?? known?.status ?? 'pending',
        rawInput: update.rawInput ?? known?.rawInput,
        rawOutput: update.rawOutput ?? known?.rawOutput,
        content: update.content ?? known?.content ?? [],
      }
      if (known || calls.size < MOST_CALLS) calls.set(merged.id, merged)
      return merged
    },
    open: () => [...calls.values()].filter(({ status }) => status === 'pending' || status === 'in_progress'),
  }
}

export function isDone({ status }: ToolCallView): boolean {
  return status === 'completed' || status === 'failed'
}

/**
 * Everything that an approver must see of a call: its arguments, and the changes to files that it would make. Null: it cannot be
 * shown whole, so nobody may be asked.
 */
export function shownInput({ rawInput, content, title }: ToolCallView, mostChars: number): string | null {
  const input = rawInput === undefined || rawInput === null ? '' : inputText(rawInput, mostChars)
  if (input === null) return null
  const parts = [input, ...content.map(contentText)].filter((one) => one !== '')
  const whole = parts.length === 0 ? title : parts.join('\n\n')
  return whole.length > mostChars ? null : whole
}

/** What the agent says came of it, for people. */
export function outcomeText({ rawOutput, content }: ToolCallView): unknown {
  const said = content.map(contentText).filter((one) => one !== '')
  return said.length > 0 ? said.join('\n') : (rawOutput ?? '')
}

function contentText(part: ToolCallContent): string {
  if (part.type === 'diff')
    return `--- ${part.path}\n${part.oldText === null || part.oldText === undefined ? '(new file)' : part.oldText}\n+++ ${part.path}\n${part.newText}`
  if (part.type === 'content' && part.content.type === 'text') return part.content.text
  return ''
}

function oneLine(text: string): string {
  const line = text
    .slice(0, TITLE_CHARS * 4)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  return line.length > TITLE_CHARS ? `${line.slice(0, TITLE_CHARS - 1)}…` : line
}
