// Turns a permission request of Claude Code into an approval. The whole input is shown, and exactly what was shown is
// allowed. "Always" is offered only for tools that the configuration names, and holds in that session only.
import { createHash } from 'node:crypto'
import type { Verdict } from '../../contract/index.ts'
import { inputText } from '../../kit/index.ts'
import { wordsIn } from '../../words/index.ts'
import { type Fields, isFields, textOf } from './wire.ts'

export interface Permission {
  readonly toolName: string
  readonly description: string
  /** Null: it cannot be shown whole. */
  readonly shown: string | null
  /** The digest of what is shown. A verdict on anything else does not count. */
  readonly digest: string
  readonly input: Fields
  /** Rules that an allowed call adds for later calls; empty: none. */
  readonly always: readonly Fields[]
}

const ASKED_CHARS = 100_000
const PLAN_TOOL = 'ExitPlanMode'

export function permissionOf(request: Fields, alwaysAllow: readonly string[]): Permission {
  const toolName = textOf(request.tool_name) ?? wordsIn().work.unnamedTool
  const given = isFields(request.input) ? request.input : {}
  const input = toolName === PLAN_TOOL ? withoutGrants(given) : given
  const plan = toolName === PLAN_TOOL ? textOf(input.plan) : null
  const shown = plan === null ? inputText(input, ASKED_CHARS) : planText(plan, input)
  const always = alwaysAllow.includes(toolName) ? rulesOf(request) : []
  const words = [
    plan !== null ? wordsIn().work.plan : null,
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

/** A plan may ask for commands that would then run without asking. A yes covers the plan only, so they are removed. */
function withoutGrants({ allowedPrompts: _, ...input }: Fields): Fields {
  return input
}

/** Returns the plan and every other field. Null: it cannot be shown whole. */
function planText(plan: string, { plan: _, ...more }: Fields): string | null {
  const also = Object.keys(more).length === 0 ? '' : inputText(more, ASKED_CHARS)
  if (also === null) return null
  const whole = also === '' ? plan : `${plan}\n\nAlso: ${also}`
  return whole.length > ASKED_CHARS ? null : whole
}

/** Returns the answer to the program. */
export function verdictAnswer(permission: Permission, verdict: Verdict): Fields {
  // A pruned input cannot be compared. It was the same, because the approval's id stands for one unchanging input.
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

/** Returns only rules, and only for this session. As sent, they would change the project's settings or the mode. */
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
