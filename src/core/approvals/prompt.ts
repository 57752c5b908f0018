// What an approval looks like in a chat: the whole input, cut safely where a platform has a limit, and both ways to answer.
import type { ApprovalRow, Ask, OutboundOp } from '../../contract/index.ts'
import { showButton, verdictButton } from '../inbound/verdict-form.ts'
import { shownLine, shownText } from './shown-text.ts'

/** For what says that something was cut, and the line breaks. */
const NOTE_CODE_POINTS = 100
/** For the line above a part of the whole. */
const FRAME_CODE_POINTS = 400
/** A platform without a limit gets it in messages of this size all the same. */
const MOST_CODE_POINTS = 16_000
const MOST_TOOL_NAME = 100
/** One tap does not fill a chat: the rest is on the command line. */
const MOST_PARTS = 50
const SHOW_ALL = 'Show all'

export interface PromptPlace {
  /** Code points of one message. */
  readonly limit: number
  /** Where the rest is, when it is cut: a button of the prompt, or the command line. */
  readonly rest: 'button' | 'command'
}

export function promptOp(id: string, agent: string, ask: Ask, { limit, rest }: PromptPlace): OutboundOp {
  const way = rest === 'button' ? SHOW_ALL : `switchboard approvals show ${id}`
  const shown = shownAsk(ask)
  const description = cut(shown.description, 200, way)
  const head = `${agent} wants to run ${shown.toolName}: ${description}`
  const foot = `Reply "yes ${id}" or "no ${id}"`
  const room = Math.max(100, limit - lengthOf(head) - lengthOf(foot) - NOTE_CODE_POINTS)
  const input = cut(shown.input, fitting([...shown.input], room), way)
  const isCut = input !== shown.input || description !== shown.description
  const lines = [head, ...(input ? ['', fenced(input)] : []), '', foot]
  return {
    kind: 'prompt',
    approval: id,
    text: lines.join('\n'),
    ask: shown,
    choices: [
      { label: 'Allow', value: verdictButton('allow', id) },
      { label: 'Deny', value: verdictButton('deny', id) },
      ...(isCut && rest === 'button' ? [{ label: SHOW_ALL, value: showButton(id) }] : []),
    ],
  }
}

/** The line that replaces the question once it is decided. "Allowed" only when the agent has the verdict. */
export function outcomeText(row: ApprovalRow, passedOn: boolean): string {
  const what = `${shownAsk(row.ask).toolName} (${row.id})`
  if (row.state === 'withdrawn') return `${what}: no longer asked`
  // A host with a dialog of its own was told nothing: it still asks there.
  if (row.cause === 'expired' && passedOn) return `${what}: expired here; the agent still asks where it runs`
  if (row.cause === 'expired') return `${what}: expired, denied`
  if (row.cause === 'unreachable') return `${what}: denied, nobody could be reached`
  const verb = row.behavior === 'allow' ? 'allowed' : 'denied'
  if (row.state === 'undeliverable')
    return `${what}: decided (${verb} by ${row.decidedBy}), but the agent is gone`
  if (row.state === 'decided')
    return `${what}: decided (${verb} by ${row.decidedBy}), waits for the agent to come back`
  return passedOn
    ? `${what}: passed on (${verb} by ${row.decidedBy})`
    : `${what}: ${verb} by ${row.decidedBy}`
}

/** All that is asked, in messages that each fit: for whoever wants to see the rest before deciding. */
export function wholeAsk({ id, ask }: Pick<ApprovalRow, 'id' | 'ask'>, limit: number): readonly string[] {
  const shown = shownAsk(ask)
  const said = shown.description === '' ? [] : [shown.description]
  const points = [...[...said, shown.input].join('\n\n')]
  const size = Math.max(100, Math.min(limit, MOST_CODE_POINTS) - FRAME_CODE_POINTS)
  const parts = inParts(points, size)
  const left = points.length - parts.reduce((sum, part) => sum + lengthOf(part), 0)
  const rest = left > 0 ? [`${left} more characters: switchboard approvals show ${id}`] : []
  return [
    ...parts.map(
      (part, index) => `${shown.toolName} (${id}), part ${index + 1} of ${parts.length}:\n${fenced(part)}`,
    ),
    ...rest,
  ]
}

/** As people read it: what cannot be seen, or changes how the rest is read, is written out. */
function shownAsk(ask: Ask): { toolName: string; description: string; input: string } {
  return {
    toolName: cut(shownLine(ask.toolName), MOST_TOOL_NAME, ''),
    description: shownLine(ask.description),
    input: shownText(ask.input),
  }
}

function inParts(points: readonly string[], size: number): readonly string[] {
  const parts: string[] = []
  for (let at = 0; at < points.length && parts.length < MOST_PARTS; ) {
    const count = fitting(points.slice(at, at + size), size)
    parts.push(points.slice(at, at + count).join(''))
    at += count
  }
  return parts
}

/** How many of the points fit into a room together with the fences around them, which grow with what is inside. */
function fitting(points: readonly string[], room: number): number {
  let run = 0
  let longest = 2
  for (const [at, point] of points.entries()) {
    run = point === '`' ? run + 1 : 0
    longest = Math.max(longest, run)
    if (at + 1 + 2 * (longest + 1) > room) return Math.max(1, at)
  }
  return points.length
}

function lengthOf(text: string): number {
  return [...text].length
}

function cut(text: string, limit: number, way: string): string {
  const points = [...text]
  if (!Number.isFinite(limit) || points.length <= limit) return text
  const rest = way === '' ? '' : ` (${points.length - limit} more characters: ${way})`
  return `${points.slice(0, limit).join('')}…${rest}`
}

// A fence longer than any run of backticks inside, so that the input cannot end it.
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((run) => run[0].length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${text}\n${fence}`
}
