// What an approval looks like in a chat: the whole input, cut safely where a platform has a limit, and both ways to answer.
import type { ApprovalRow, Ask, OutboundOp } from '../../contract/index.ts'
import { showButton, verdictButton } from '../inbound/verdict-form.ts'

// Room for the frame around the input within a platform's limit.
const FRAME_CODE_POINTS = 400
/** A platform without a limit gets it in messages of this size all the same. */
const MOST_CODE_POINTS = 16_000
const SHOW_ALL = 'Show all'

export interface PromptPlace {
  /** Code points of one message. */
  readonly limit: number
  /** Where the rest is, when it is cut: a button of the prompt, or the command line. */
  readonly rest: 'button' | 'command'
}

export function promptOp(id: string, agent: string, ask: Ask, { limit, rest }: PromptPlace): OutboundOp {
  const way = rest === 'button' ? SHOW_ALL : `switchboard approvals show ${id}`
  const input = cut(ask.input, Math.max(100, limit - FRAME_CODE_POINTS), way)
  const description = cut(ask.description, 200, way)
  const isCut = input !== ask.input || description !== ask.description
  const lines = [
    `${agent} wants to run ${ask.toolName}: ${description}`,
    ...(input ? ['', fenced(input)] : []),
    '',
    `Reply "yes ${id}" or "no ${id}"`,
  ]
  return {
    kind: 'prompt',
    approval: id,
    text: lines.join('\n'),
    ask: { toolName: ask.toolName, description: ask.description, input: ask.input },
    choices: [
      { label: 'Allow', value: verdictButton('allow', id) },
      { label: 'Deny', value: verdictButton('deny', id) },
      ...(isCut && rest === 'button' ? [{ label: SHOW_ALL, value: showButton(id) }] : []),
    ],
  }
}

/** The line that replaces the question once it is decided. "Allowed" only when the agent has the verdict. */
export function outcomeText(row: ApprovalRow, passedOn: boolean): string {
  const what = `${row.ask.toolName} (${row.id})`
  if (row.state === 'withdrawn') return `${what}: no longer asked`
  if (row.cause === 'expired') return `${what}: expired, denied`
  if (row.cause === 'unreachable') return `${what}: denied, nobody could be reached`
  const verb = row.behavior === 'allow' ? 'allowed' : 'denied'
  if (row.state === 'undeliverable')
    return `${what}: decided (${verb} by ${row.decidedBy}), but the agent is gone`
  return passedOn
    ? `${what}: passed on (${verb} by ${row.decidedBy})`
    : `${what}: ${verb} by ${row.decidedBy}`
}

/** All that is asked, in messages that each fit: for whoever wants to see the rest before deciding. */
export function wholeAsk({ id, ask }: Pick<ApprovalRow, 'id' | 'ask'>, limit: number): readonly string[] {
  const said = ask.description === '' ? [] : [ask.description]
  const points = [...said, ask.input].join('\n\n')
  const parts = inParts([...points], Math.max(100, Math.min(limit, MOST_CODE_POINTS) - FRAME_CODE_POINTS))
  return parts.map(
    (part, index) => `${ask.toolName} (${id}), part ${index + 1} of ${parts.length}:\n${fenced(part)}`,
  )
}

function inParts(points: readonly string[], size: number): readonly string[] {
  const parts: string[] = []
  for (let at = 0; at < points.length; at += size) parts.push(points.slice(at, at + size).join(''))
  return parts
}

function cut(text: string, limit: number, way: string): string {
  const points = [...text]
  if (!Number.isFinite(limit) || points.length <= limit) return text
  return `${points.slice(0, limit).join('')}… (${points.length - limit} more characters: ${way})`
}

// A fence longer than any run of backticks inside, so that the input cannot end it.
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((run) => run[0].length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${text}\n${fence}`
}
