// Whether a tool call is one of Switchboard's own tools, as the Claude adapters name them. Anything that could be another tool
// is none of ours, and a person is asked about it.
import { TOOLS } from '../../tools/index.ts'
import type { ToolCallView } from './tool-calls.ts'

/** The name of our server there: see `live-sessions.ts`. */
export const OUR_SERVER = 'switchboard'
const PREFIX = `mcp__${OUR_SERVER}__`

/**
 * The whole title is the name, the kind is that of a tool which the adapter does not know, and the arguments are those of the
 * tool. A shell command of that text has the kind `execute`. Beside them stand the tool's name and notes of the adapter.
 */
export function isOwnTool({ wholeTitle, kind, rawInput, content, locations, more }: ToolCallView): boolean {
  if (kind !== 'other' || content.length > 0 || locations.length > 0) return false
  if (Object.keys(more).some((name) => name !== 'name' && name !== '_meta')) return false
  const tool = TOOLS.find(({ name }) => wholeTitle === PREFIX + name)
  if (tool === undefined || typeof rawInput !== 'object' || rawInput === null) return false
  return Object.keys(rawInput).every((key) => key in tool.input.shape)
}
