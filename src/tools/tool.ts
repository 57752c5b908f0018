// A tool of an agent: data for every transport, and one way to run it. The ToolActions does the work.
import { z } from 'zod'
import {
  type Action,
  SwitchboardError,
  type ToolActions,
  type ToolCaller,
  type ToolOutcome,
} from '../contract/index.ts'

export type Arguments = Readonly<Record<string, unknown>>

/**
 * How a model's text reaches the chat. `tools`: only by our tools. `final_text`: the text at the end of a turn is sent,
 * and an earlier reply does not end the turn. `own_answer`: the agent answers in its own way, and a reply replaces
 * that.
 */
export type AnswerWay = 'tools' | 'final_text' | 'own_answer'

export interface ToolFacts {
  readonly name: string
  readonly title: string
  /** Written for the model that decides whether to call it. */
  readonly description: string
  /** The description for models that answer without our tools. */
  readonly describe?: (way: AnswerWay) => string
  readonly readOnly: boolean
  /** Hosts that load tools late should load this one at once. */
  readonly alwaysLoad: boolean
  /** The longest text of a result. */
  readonly maxResultChars: number
  /** What the caller's credential must allow. */
  readonly action: Action
  /** Offered only to agents that have this. */
  readonly needs?: 'channels' | 'services'
  /** The argument that names the conversation. A caller that speaks for one session may leave it out. */
  readonly chat?: 'chat_id' | 'channel'
}

export interface Tool extends ToolFacts {
  readonly input: z.ZodObject
  /** Checks the arguments, then acts. Throws `input_invalid` naming the field. Unknown arguments are ignored. */
  run(actions: ToolActions, caller: ToolCaller, input: unknown): Promise<ToolOutcome>
}

/**
 * Whether the tool is offered to an agent with or without `channels`. `services`: the host cannot list lent tools, so
 * it has two tools for them.
 */
export function isOffered(
  tool: ToolFacts,
  agent: { readonly channels: boolean; readonly services?: boolean },
): boolean {
  return tool.needs === undefined || agent[tool.needs] === true
}

export interface ToolDefinition<Input extends z.ZodObject> extends ToolFacts {
  readonly input: Input
  /** Adapts the arguments of existing clients to the schema: other names of fields, ignored values. */
  readonly prepare?: (given: Arguments) => Arguments
  /** Returns the tool's own message for a missing or wrong field; null: the general one. */
  readonly problem?: (given: Arguments) => string | null
  run(actions: ToolActions, caller: ToolCaller, input: z.output<Input>): Promise<ToolOutcome>
}

export function defineTool<Input extends z.ZodObject>(definition: ToolDefinition<Input>): Tool {
  const { prepare, problem, run, ...facts } = definition
  return {
    ...facts,
    async run(actions, caller, input) {
      const given = inOwnChat(definition.chat, caller, (prepare ?? same)(argumentsOf(input)))
      const own = problem?.(given) ?? null
      if (own !== null) throw new SwitchboardError('input_invalid', own)
      const parsed = definition.input.safeParse(given)
      if (!parsed.success) throw new SwitchboardError('input_invalid', wordsFor(parsed.error, given))
      return run(actions, caller, parsed.data)
    },
  }
}

export type InputSchema = Record<string, unknown> & { readonly type: 'object' }

/** Returns the JSON Schema for models. Unknown arguments are allowed and ignored. */
export function inputSchemaOf(tool: Tool): InputSchema {
  const { $schema: _, ...schema } = z.toJSONSchema(tool.input, { io: 'input' })
  return { ...schema, type: 'object' }
}

/** The same for a caller that speaks for one session, without the conversation. */
export function sessionSchemaOf(tool: Tool): InputSchema {
  const schema = inputSchemaOf(tool)
  const { chat } = tool
  if (chat === undefined) return schema
  const { properties = {}, required = [] } = schema as {
    readonly properties?: Readonly<Record<string, object>>
    readonly required?: readonly string[]
  }
  return {
    ...schema,
    properties: { ...properties, [chat]: { ...properties[chat], description: OWN_CHAT } },
    required: required.filter((name) => name !== chat),
  }
}

const OWN_CHAT =
  'The conversation. Leave it out for the one that you were asked in; its channel.id or chat_id means the same.'

function inOwnChat(chat: ToolFacts['chat'], { session }: ToolCaller, given: Arguments): Arguments {
  if (chat === undefined || session === null || given[chat] !== undefined) return given
  return { ...given, [chat]: session }
}

/** Absent arguments are an empty object. Models write null for "not given". */
function argumentsOf(input: unknown): Arguments {
  if (input === undefined || input === null) return {}
  if (typeof input !== 'object' || Array.isArray(input))
    throw new SwitchboardError('input_invalid', 'the arguments must be an object')
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null))
}

function wordsFor(error: z.ZodError, given: Arguments): string {
  // One problem per field: the length of a list is irrelevant if it is not a list.
  const first = error.issues.filter(
    (issue, at) => error.issues.findIndex((other) => String(other.path) === String(issue.path)) === at,
  )
  const words = first.map((issue) => {
    const [field = 'input', ...deeper] = issue.path.map(String)
    const path = [field, ...deeper].join('.')
    if (issue.code === 'invalid_type' && !(field in given)) return `${path} is required`
    if (issue.code === 'invalid_type') return `${path} must be ${article(issue.expected)}`
    if (issue.code === 'invalid_value') return `${path} must be one of ${issue.values.map(String).join(', ')}`
    if (issue.code === 'too_small' && issue.origin === 'string') return `${path} must not be empty`
    return `${path}: ${issue.message}`
  })
  return words.join('; ')
}

function article(expected: string): string {
  if (expected === 'int') return 'a whole number'
  return `${/^[aeiou]/.test(expected) ? 'an' : 'a'} ${expected}`
}

function same(given: Arguments): Arguments {
  return given
}
