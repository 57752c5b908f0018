// How an approval appears in a chat: the whole input, cut safely at the platform's limit, and both ways to answer.
import {
  type ApprovalRow,
  type Ask,
  defined,
  type MarkdownBlock,
  nextCodePoint,
  type OutboundOp,
  renderedSize,
  type TextUnit,
  textEnd,
  textSize,
  type Wording,
} from '../../contract/index.ts'
import type { Words } from '../../words/index.ts'
import type { PromptLimit } from '../links.ts'
import { shownLine, shownText } from './shown-text.ts'
import { showButton, verdictButton } from './verdict-form.ts'

/** Reserved for the note that text was cut, and for line breaks. */
const NOTE_SIZE = 100
/** Reserved for the line above each part. */
const FRAME_SIZE = 400
/** Maximum message size for a platform without a limit. */
const MOST_SIZE = 16_000
const MOST_TOOL_NAME = 100
/** One tap must not fill a chat. The command line shows the rest. */
const MOST_PARTS = 50

export interface PromptPlace {
  readonly limit: PromptLimit
  /** Where a person finds the rest of a cut input: a button of the prompt, or the command line. */
  readonly rest: 'button' | 'command'
  readonly words: Words
}

export function promptOp(
  id: string,
  agent: string,
  ask: Ask,
  { limit, rest, words, expiresAt }: PromptPlace & { readonly expiresAt?: number },
): OutboundOp {
  const { allow, deny, showAll } = words.approvals
  const cut = cutter(words, rest === 'button' ? showAll : showCommand(id))
  const shown = shownAsk(ask)
  const { unit } = limit
  const description = cut(shown.description, textEnd(shown.description, 200, unit))
  const head = `${agent} wants to run ${shown.toolName}: ${description}`
  const foot = `Reply "yes ${id}" or "no ${id}"`
  const room = Math.max(100, limit.size - lineSize(head, limit) - lineSize(foot, limit) - NOTE_SIZE)
  const input = cut(shown.input, fitting(shown.input, 0, room, limit))
  const isCut = input !== shown.input || description !== shown.description || shown.isNameCut
  const lines = [head, ...(input ? ['', fenced(input)] : []), '', foot]
  return {
    kind: 'prompt',
    approval: id,
    text: lines.join('\n'),
    ask: { toolName: shownLine(ask.toolName), description: shown.description, input: shown.input },
    ...defined({ expiresAt }),
    choices: [
      { label: allow, value: verdictButton('allow', id) },
      { label: deny, value: verdictButton('deny', id) },
      ...(isCut && rest === 'button' ? [{ label: showAll, value: showButton(id) }] : []),
    ],
  }
}

/**
 * Returns the text that replaces a decided question: the outcome, followed by the input. Where a card already shows
 * the question (`showsAsk`), it returns the outcome line only.
 */
export function retiredText(
  row: ApprovalRow,
  how: { readonly passedOn: boolean; readonly name: string | null },
  { limit, rest, words, showsAsk }: PromptPlace & { readonly showsAsk: boolean },
): string {
  const line = outcomeText(words, row, how)
  const { input } = shownAsk(row.ask)
  if (showsAsk || input === '') return line
  const room = Math.max(100, limit.size - lineSize(line, limit) - NOTE_SIZE)
  const cut = cutter(words, rest === 'button' ? null : showCommand(row.id))
  return `${line}\n\n${fenced(cut(input, fitting(input, 0, room, limit)))}`
}

function showCommand(id: string): string {
  return `switchboard approvals show ${id}`
}

/** People choose their names, so the id is shown beside the name. */
const MOST_NAME = 60

function personOf({ decidedBy }: ApprovalRow, name: string | null): string {
  const id = decidedBy ?? ''
  const shown = name === null ? '' : shownLine(name).trim()
  if (shown === '' || shown === id) return id
  return `${shortened(shown, textEnd(shown, MOST_NAME, 'code-points'))} (${id})`
}

/** Returns the outcome in one line. It says "allowed" only when the agent has the verdict. */
export function outcomeText(
  words: Words,
  row: ApprovalRow,
  { passedOn, name }: { readonly passedOn: boolean; readonly name: string | null },
): Wording {
  const { outcome } = words.approvals
  const asked = { tool: shownAsk(row.ask).toolName, id: row.id }
  if (row.state === 'withdrawn') return outcome.withdrawn(asked)
  // Hosts with a dialog of their own get no denial on expiry; their dialog is still open.
  if (row.cause === 'expired') return passedOn ? outcome.expiredHere(asked) : outcome.expired(asked)
  if (row.cause === 'unreachable') return outcome.unreachable(asked)
  const decided = { ...asked, allowed: row.behavior === 'allow', who: personOf(row, name) }
  // Found after a crash. The verdict may or may not have been written.
  if (row.state === 'passing') return outcome.interrupted(decided)
  if (row.state === 'undeliverable') return outcome.agentGone(decided)
  if (row.state === 'decided') return outcome.waits(decided)
  return passedOn ? outcome.passedOn(decided) : outcome.decided(decided)
}

/** Returns the whole input as messages that each fit the limit, for approvers who read the rest before deciding. */
export function wholeAsk(
  words: Words,
  { id, ask }: Pick<ApprovalRow, 'id' | 'ask'>,
  limit: PromptLimit,
): readonly string[] {
  const shown = shownAsk(ask)
  const all = allOf(ask)
  const size = Math.max(100, Math.min(limit.size, MOST_SIZE) - FRAME_SIZE)
  const parts = inParts(all, size, limit)
  const left = lengthOf(all) - parts.reduce((sum, part) => sum + lengthOf(part), 0)
  const { part: heading, moreByCommand } = words.approvals
  const rest = left > 0 ? [moreByCommand({ count: left, id })] : []
  const of = parts.length
  return [
    ...parts.map(
      (part, index) => `${heading({ tool: shown.toolName, id, at: index + 1, of })}\n${fenced(part)}`,
    ),
    ...rest,
  ]
}

/** Returns the whole input as one file. */
export function askAsFile(words: Words, { id, ask }: Pick<ApprovalRow, 'id' | 'ask'>): OutboundOp {
  const shown = shownAsk(ask)
  const caption = words.approvals.whole({ tool: shown.toolName, id })
  return { kind: 'text', text: allOf(ask), plain: true, asFile: { name: `approval-${id}.txt`, caption } }
}

/** Everything the agent gave, with line breaks. The tool name is included only when the line above cuts it. */
function allOf(ask: Ask): string {
  const { isNameCut } = shownAsk(ask)
  return [
    ...(isNameCut ? [ask.toolName] : []),
    ...(ask.description === '' ? [] : [ask.description]),
    ask.input,
  ]
    .map(shownText)
    .join('\n\n')
}

interface ShownAsk {
  readonly toolName: string
  readonly isNameCut: boolean
  readonly description: string
  readonly input: string
}

/** The request as people read it. Invisible characters and characters that reorder text are written out. */
function shownAsk(ask: Ask): ShownAsk {
  const wholeName = shownLine(ask.toolName)
  const toolName = shortName(wholeName)
  return {
    toolName,
    isNameCut: toolName !== wholeName,
    description: shownLine(ask.description),
    input: shownText(ask.input),
  }
}

function inParts(text: string, size: number, limit: PromptLimit): readonly string[] {
  const parts: string[] = []
  for (let at = 0; at < text.length && parts.length < MOST_PARTS; ) {
    const end = afterWord(text, at, fitting(text, at, size, limit))
    parts.push(text.slice(at, end))
    at = end
  }
  return parts
}

/** How far back a part may end so that it splits no word. */
const LONGEST_WORD = 200

function afterWord(text: string, from: number, end: number): number {
  if (end >= text.length) return end
  for (let at = end; at > from && at > end - LONGEST_WORD; at -= 1)
    if (/\s/.test(text[at - 1] ?? '')) return at
  return end
}

/**
 * Returns where the text that fits ends. It checks the size as written and as the platform shows it, because escapes
 * add length.
 */
function fitting(text: string, from: number, room: number, limit: PromptLimit): number {
  const end = fittingWritten(text, from, room, limit.unit)
  const fits = (until: number) =>
    shownSize({ kind: 'code', language: '', text: text.slice(from, until) }, limit) <= room
  if (room === Number.POSITIVE_INFINITY || fits(end)) return end
  let [low, high] = [nextCodePoint(text, from), end]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (fits(middle)) low = middle
    else high = middle - 1
  }
  return isWithinPair(text, low) ? low - 1 : low
}

/** Whether the position is between the two halves of one character. */
function isWithinPair(text: string, at: number): boolean {
  return /[\uD800-\uDBFF]/.test(text[at - 1] ?? '') && /[\uDC00-\uDFFF]/.test(text[at] ?? '')
}

function lineSize(text: string, limit: PromptLimit): number {
  const shown = shownSize({ kind: 'paragraph', children: [{ kind: 'text', text }] }, limit)
  return Math.max(textSize(text, limit.unit), shown)
}

/** Returns 0 where the platform shows text as written; the written size already counts there. */
function shownSize(block: MarkdownBlock, { markdown, unit }: PromptLimit): number {
  return markdown === 'written' ? 0 : renderedSize(markdown.render([block]), unit)
}

/** The size as written includes the code fences, which grow with the content. */
function fittingWritten(text: string, from: number, room: number, unit: TextUnit): number {
  const most = textEnd(text, room, unit, from)
  let run = 0
  let longest = 2
  let used = 0
  for (let at = from; at < most; ) {
    const next = nextCodePoint(text, at)
    run = text[at] === '`' ? run + 1 : 0
    longest = Math.max(longest, run)
    used += textSize(text.slice(at, next), unit)
    if (used + 2 * (longest + 1) > room) return at === from ? next : at
    at = next
  }
  return most
}

function lengthOf(text: string): number {
  return textSize(text, 'code-points')
}

function shortName(name: string): string {
  return shortened(name, textEnd(name, MOST_TOOL_NAME, 'code-points'))
}

/** Returns a function that cuts a text at `end`, with a note where the rest is. `way` null: no note. */
function cutter(words: Words, way: string | null): (text: string, end: number) => string {
  return (text, end) => {
    const short = shortened(text, end)
    if (short === text || way === null) return short
    return `${short} ${words.approvals.more({ count: lengthOf(text.slice(end)), way })}`
  }
}

function shortened(text: string, end: number): string {
  return end >= text.length ? text : `${text.slice(0, end)}…`
}

// The fence is longer than any run of backticks inside, so the input cannot close it.
function fenced(text: string): string {
  let longest = 2
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${text}\n${fence}`
}
