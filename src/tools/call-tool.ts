// Runs a tool for any transport. The result is always an outcome with a text and a code, within the tool's limit.
import {
  asSwitchboardError,
  defined,
  type Logger,
  type ToolActions,
  type ToolCaller,
  type ToolOutcome,
} from '../contract/index.ts'
import type { Tool } from './tool.ts'

export interface ToolCall {
  readonly actions: ToolActions
  readonly caller: ToolCaller
  readonly input: unknown
  readonly log: Logger
}

/** Never throws. The message of an unexpected error stays in the log, because it may contain anything. */
export async function callTool(tool: Tool, call: ToolCall): Promise<ToolOutcome> {
  try {
    return within(await tool.run(call.actions, call.caller, call.input), tool.maxResultChars)
  } catch (thrown) {
    const error = asSwitchboardError(thrown)
    const bug = error.code === 'internal'
    if (bug)
      call.log.error({ tool: tool.name, agent: call.caller.agent, problem: error.message }, 'a tool failed')
    const text = bug ? 'an internal error; the log has the story' : error.message
    const { structured, ...failed } = failedOutcome(error.code, text)
    const wait = defined({ retry_after_ms: error.retryAfterMs })
    const hint = error.hint === undefined || bug ? {} : { hint: error.hint }
    return within({ ...failed, structured: { ...structured, ...wait, ...hint } }, tool.maxResultChars)
  }
}

export function failedOutcome(code: string, text: string): ToolOutcome {
  return { text, isError: true, structured: { ok: false, status: 'failed', code, error: text } }
}

function within(outcome: ToolOutcome, chars: number): ToolOutcome {
  const { error } = outcome.structured
  const long = typeof error === 'string' && error.length > chars
  return {
    ...outcome,
    text: cut(outcome.text, chars),
    structured: long ? { ...outcome.structured, error: cut(error, chars) } : outcome.structured,
  }
}

/** Never splits a surrogate pair. */
function cut(text: string, chars: number): string {
  if (text.length <= chars) return text
  const end = chars - 1
  const last = text.charCodeAt(end - 1)
  return `${text.slice(0, last >= 0xd800 && last <= 0xdbff ? end - 1 : end)}…`
}
