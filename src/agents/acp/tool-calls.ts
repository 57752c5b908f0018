// The tool calls of one turn. The agent describes a call once in full and later sends only changes. A person is asked
// about everything that is known of the call at that time.
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
  /** Unknown fields, and known fields that do not have the protocol's form. */
  readonly more: Readonly<Record<string, unknown>>
  /** False: too many calls are open, and earlier details of this one are lost. */
  readonly isFollowed: boolean
}

export interface ToolCalls {
  /** Returns the call with this update. */
  merge(update: Partial<ToolCallUpdate> & { readonly toolCallId: string }): ToolCallView
  open(): readonly ToolCallView[]
}

/** The most calls of one turn that are kept. Beyond it, finished calls are dropped. */
const MOST_CALLS = 5_000
/** The length at which a prompt cuts the name of a tool. */
const TITLE_CHARS = 100

export function createToolCalls(): ToolCalls {
  const calls = new Map<string, ToolCallView>()
  const hasRoom = () => {
    if (calls.size < MOST_CALLS) return true
    for (const [id, call] of calls) if (isDone(call)) calls.delete(id)
    return calls.size < MOST_CALLS
  }
  return {
    merge(update) {
      const known = calls.get(update.toolCallId)
      const { fields, more } = sorted(update)
      const wholeTitle = fields.title ?? known?.wholeTitle ?? fields.kind ?? 'a tool'
      const merged: ToolCallView = {
        id: update.toolCallId,
        wholeTitle,
        title: oneLine(wholeTitle),
        kind: fields.kind ?? known?.kind ?? 'other',
        status: fields.status ?? known?.status ?? 'pending',
        rawInput: fields.rawInput ?? known?.rawInput,
        rawOutput: fields.rawOutput ?? known?.rawOutput,
        content: fields.content ?? known?.content ?? [],
        locations: fields.locations ?? known?.locations ?? [],
        more: { ...known?.more, ...more },
        isFollowed: known !== undefined || hasRoom(),
      }
      if (merged.isFollowed) calls.set(merged.id, merged)
      return merged
    },
    open: () => [...calls.values()].filter(({ status }) => status === 'pending' || status === 'in_progress'),
  }
}

const isText = (value: unknown) => typeof value === 'string'
const isAny = () => true

const FORMS: Readonly<Record<string, (value: unknown) => boolean>> = {
  ...{ sessionUpdate: isAny, toolCallId: isAny, rawInput: isAny, rawOutput: isAny },
  ...{ title: isText, kind: isText, status: isText, content: Array.isArray, locations: Array.isArray },
}

/** Separates the fields in the protocol's form from all others. */
function sorted(update: Partial<ToolCallUpdate>) {
  const given = Object.entries(update).filter(([, value]) => value !== undefined && value !== null)
  const isField = ([name, value]: [string, unknown]) => Object.hasOwn(FORMS, name) && FORMS[name]?.(value)
  return {
    fields: Object.fromEntries(given.filter(isField)) as {
      [K in keyof ToolCallUpdate]?: NonNullable<ToolCallUpdate[K]>
    },
    more: Object.fromEntries(given.filter((one) => !isField(one))),
  }
}

export function isDone({ status }: ToolCallView): boolean {
  return status === 'completed' || status === 'failed'
}

/**
 * Returns everything that an approver must see of a call: a title longer than one line, its arguments, its content
 * (above all changes to files), its locations, its kind, and every unknown field. Null: the call cannot be shown whole,
 * so no person may be asked.
 */
export function shownInput(call: ToolCallView, mostChars: number): string | null {
  const { rawInput, content, locations, title, wholeTitle, kind, more, isFollowed } = call
  if (!isFollowed) return null
  const isLonger = wholeTitle !== title
  const values = [
    ...(rawInput === undefined || rawInput === null ? [] : [inputText(rawInput, mostChars)]),
    ...content.map((part) => shownContent(part, mostChars)),
    ...(locations.length === 0 ? [] : [named('Where', locations, mostChars)]),
    ...(Object.keys(more).length === 0 ? [] : [named('Also', more, mostChars)]),
  ]
  if (values.includes(null)) return null
  const parts = [...(isLonger ? [wholeTitle] : []), ...values].filter((one) => one !== '')
  const ofKind = kind === 'other' ? [] : [`Kind: ${kind}`]
  const whole = [...(parts.length === 0 ? [title] : parts), ...ofKind].join('\n\n')
  return whole.length > mostChars ? null : whole
}

/** Returns the result of the call for people. */
export function outcomeText({ rawOutput, content }: ToolCallView): unknown {
  const said = content.map(contentText).filter((one) => one !== '')
  return said.length > 0 ? said.join('\n') : (rawOutput ?? '')
}

function contentText(part: unknown): string {
  return partText(part)?.text ?? ''
}

/** Returns the text of a part, and its other fields. Null: it is neither text nor a change to a file. */
function partText(part: unknown): { readonly text: string; readonly more: Fields } | null {
  const { type, ...rest } = fieldsOf(part)
  if (type === 'diff') {
    const { path, oldText, newText, ...more } = rest
    const old = oldText ?? '(new file)'
    if (typeof path !== 'string' || typeof newText !== 'string' || typeof old !== 'string') return null
    return { text: `--- ${path}\n${old}\n+++ ${path}\n${newText}`, more }
  }
  const { content, ...beside } = rest
  const { type: form, text, ...within } = fieldsOf(content)
  if (type !== 'content' || form !== 'text' || typeof text !== 'string') return null
  return { text, more: Object.keys(within).length === 0 ? beside : { ...beside, content: within } }
}

type Fields = Readonly<Record<string, unknown>>

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

/** Other parts are shown as JSON. */
function shownContent(part: unknown, mostChars: number): string | null {
  const { text, more } = partText(part) ?? { text: '', more: {} }
  if (text === '') return inputText(part, mostChars)
  if (Object.keys(more).length === 0) return text
  const also = named('Also', more, mostChars)
  return also === null ? null : `${text}\n${also}`
}

function named(name: string, value: unknown, mostChars: number): string | null {
  const text = inputText(value, mostChars)
  return text === null ? null : `${name}: ${text}`
}

function oneLine(text: string): string {
  const line = text
    .slice(0, TITLE_CHARS * 4)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  return line.length > TITLE_CHARS ? `${line.slice(0, TITLE_CHARS - 1)}…` : line
}
