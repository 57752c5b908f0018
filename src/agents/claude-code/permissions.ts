// What Claude Code asks before it uses a tool, as an approval: the whole input is shown, and what is allowed is exactly what
// was shown. "Always" is said only for tools that the configuration names, and holds in that session alone.
import { createHash } from 'node:crypto'
import type { Verdict } from '../../contract/index.ts'
import { inputText } from '../../kit/index.ts'
import { type Fields, isFields, textOf } from './wire.ts'

export interface Permission {
  readonly toolName: string
  readonly description: string
  /** Null: it cannot be shown whole. */
  readonly shown: string | null
  /** Of what is shown: a verdict on anything else is none. */
  readonly digest: string
  readonly input: Fields
  /** What an allowed call allows from then on; empty: nothing. */
  readonly always: readonly Fields[]
}

const ASKED_CHARS = 100_000
const PLAN_TOOL = 'ExitPlanMode'

export function permissionOf(request: Fields, alwaysAllow: readonly string[]): Permission {
  const toolName = textOf(request.tool_name) ?? 'a tool'
  const given = isFields(request.input) ? request.input : {}
  const input = toolName === PLAN_TOOL ? withoutGrants(given) : given
  const plan = toolName === PLAN_TOOL ? textOf(input.plan) : null
  const shown = plan === null ? inputText(input, ASKED_CHARS) : planText(plan, input)
  const always = alwaysAllow.includes(toolName) ? rulesOf(request) : []
  const words = [
    plan !== null ? 'A plan: allow it to be carried out, or deny it and say what to change.' : null,
    textOf(request.description),
    textOf(request.blocked_path) === null ? null : `Path: ${textOf(request.blocked_path)}`,
    always.length === 0
      ? null
      : `Allowed once, it is not asked for again in this session: ${ruleText(always)}`,
  ]
  const description = words.filter((one) => one !== null).join('\n')
  return {
    ...{ toolName, input, always },
    shown: description.length > ASKED_CHARS ? null : shown,
    description: description || toolName,
    digest: digestOf(shown ?? ''),
  }
}

/** With a plan Claude Code asks for commands that it would then run unasked: a yes is for the plan alone. */
function withoutGrants({ allowedPrompts: _, ...input }: Fields): Fields {
  return input
}

/** The plan, and every other field. Null: it cannot be shown whole. */
function planText(plan: string, { plan: _, ...more }: Fields): string | null {
  const also = Object.keys(more).length === 0 ? '' : inputText(more, ASKED_CHARS)
  if (also === null) return null
  const whole = also === '' ? plan : `${plan}\n\nAlso: ${also}`
  return whole.length > ASKED_CHARS ? null : whole
}

/** What the program is told of a verdict. */
export function verdictAnswer(permission: Permission, verdict: Verdict): Fields {
  // A body that was pruned meanwhile was the same: it is found by the approval's id, and never changes.
  if (verdict.ask.pruned !== true && digestOf(verdict.ask.input) !== permission.digest)
    return denial('Not run: what was approved is not what was asked for.')
  if (verdict.behavior === 'allow')
    return {
      behavior: 'allow',
      updatedInput: permission.input,
      ...(permission.always.length === 0 ? {} : { updatedPermissions: permission.always }),
    }
  if (verdict.cause === 'expired') return denial('Not run: nobody answered the request for approval in time.')
  if (verdict.cause === 'unreachable')
    return denial('Not run: it needs an approval, and no approver can be reached.')
  return denial(`Not run: ${verdict.decidedBy} denied it. Do not try it in another way; tell the person.`)
}

export function denial(message: string): Fields {
  return { behavior: 'deny', message }
}

/** Rules alone, and for the session alone: as they come they would be written into the project, or change its mode. */
function rulesOf({ permission_suggestions: suggestions }: Fields): readonly Fields[] {
  if (!Array.isArray(suggestions)) return []
  return suggestions
    .filter(isFields)
    .filter(({ type, behavior }) => type === 'addRules' && behavior === 'allow')
    .map((one) => ({ ...one, destination: 'session' }))
}

function ruleText(rules: readonly Fields[]): string {
  const all = rules.flatMap(({ rules: inner }) => (Array.isArray(inner) ? inner.filter(isFields) : []))
  return all
    .map(({ toolName, ruleContent }) => {
      const content = textOf(ruleContent)
      return content === null ? textOf(toolName) : `${textOf(toolName)}(${content})`
    })
    .join(', ')
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
