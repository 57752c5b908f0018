// What an approval looks like in a chat: the whole input, cut safely where a platform has a limit, and both ways to answer.
import type { ApprovalRow, Ask, OutboundOp } from '../../contract/index.ts'
import { verdictButton } from '../inbound/verdict-form.ts'

// Room for the frame around the input within a platform's limit.
const FRAME_CODE_POINTS = 400

export function promptOp(id: string, agent: string, ask: Ask, limit: number): OutboundOp {
  const input = cut(ask.input, Math.max(100, limit - FRAME_CODE_POINTS), id)
  const lines = [
    `${agent} wants to run ${ask.toolName}: ${cut(ask.description, 200, id)}`,
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

function cut(text: string, limit: number, id: string): string {
  const points = [...text]
  if (!Number.isFinite(limit) || points.length <= limit) return text
  return `${points.slice(0, limit).join('')}… (${points.length - limit} more characters: switchboard approvals show ${id})`
}

// A fence longer than any run of backticks inside, so that the input cannot end it.
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((run) => run[0].length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${text}\n${fence}`
}
