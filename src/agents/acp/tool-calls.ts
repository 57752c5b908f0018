// The tool calls of one turn. The agent describes a call once in full and later sends only what changed. A person is asked
// about everything that is known of the call by then.
import type { ToolCallContent, ToolCallUpdate } from '@agentclientprotocol/sdk'
import { inputText } from '../../kit/index.ts'

export interface ToolCallView {
  readonly id: string
  /** One short line, for statuses and events. */
  readonly title: string
  /** The title as the agent wrote it. */
  readonly wholeTitle: string
  readonly kind: string
  readonly status: string
  readonly rawInput: unknown
  readonly rawOutput: unknown
  readonly content: readonly ToolCallContent[]
  readonly locations: readonly unknown[]
}

export interface ToolCalls {
  /** The call as it is known after this; a new one counts only up to a bound. */
  merge(update: Partial<ToolCallUpdate> & { readonly toolCallId: string }): ToolCallView
  open(): readonly ToolCallView[]
}

/** More calls than that in one turn are followed no further: each is asked about as it comes. */
const MOST_CALLS = 5_000
/** As long as a prompt shows the name of a tool. */
const TITLE_CHARS = 100

export function createToolCalls(): ToolCalls {
  const calls = new Map<string, ToolCallView>()
  return {
    merge(update) {
      const known = calls.get(update.toolCallId)
      const wholeTitle = update.title ?? known?.wholeTitle ?? update.kind ?? 'a tool'
      const merged: ToolCallView = {
        id: update.toolCallId,
        wholeTitle,
        title: oneLine(wholeTitle),
        kind: update.kind ?? known?.kind ?? 'other',
        status: update.status ?? known?.status ?? 'pending',
        rawInput: update.rawInput ?? known?.rawInput,
        rawOutput: update.rawOutput ?? known?.rawOutput,
        content: update.content ?? known?.content ?? [],
        locations: update.locations ?? known?.locations ?? [],
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
 * Everything that an approver must see of a call: its title where one line does not hold it, its arguments, the content that
 * it shows (changes to files above all), and where it works. Null: the call cannot be shown whole, so no person may be asked.
 */
export function shownInput(call: ToolCallView, mostChars: number): string | null {
  const { rawInput, content, locations, title, wholeTitle } = call
  const isLonger = wholeTitle !== title
  const values = [
    ...(rawInput === undefined || rawInput === null ? [] : [inputText(rawInput, mostChars)]),
    ...content.map((part) => shownContent(part, mostChars)),
    ...(locations.length === 0 ? [] : [locationsText(locations, mostChars)]),
  ]
  if (values.includes(null)) return null
  const parts = [...(isLonger ? [wholeTitle] : []), ...values].filter((one) => one !== '')
  const whole = parts.length === 0 ? title : parts.join('\n\n')
  return whole.length > mostChars ? null : whole
}

/** What the agent says came of it, for people. */
export function outcomeText({ rawOutput, content }: ToolCallView): unknown {
  const said = content.map(contentText).filter((one) => one !== '')
  return said.length > 0 ? said.join('\n') : (rawOutput ?? '')
}

function contentText(part: ToolCallContent): string {
  if (part.type === 'diff' && typeof part.path === 'string' && typeof part.newText === 'string') {
    const old = part.oldText ?? '(new file)'
    return typeof old === 'string' ? `--- ${part.path}\n${old}\n+++ ${part.path}\n${part.newText}` : ''
  }
  if (part.type === 'content' && part.content?.type === 'text' && typeof part.content.text === 'string')
    return part.content.text
  return ''
}

/** What is no text and no change to a file, or has an unknown form, is shown as it came. */
function shownContent(part: ToolCallContent, mostChars: number): string | null {
  return contentText(part) || inputText(part, mostChars)
}

function locationsText(locations: readonly unknown[], mostChars: number): string | null {
  const at = inputText(locations, mostChars)
  return at === null ? null : `Where: ${at}`
}

function oneLine(text: string): string {
  const line = text
    .slice(0, TITLE_CHARS * 4)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  return line.length > TITLE_CHARS ? `${line.slice(0, TITLE_CHARS - 1)}…` : line
}
