// Whether a tool call is one of Switchboard's own tools, as the Claude adapters name them. A call that could be another
// tool is not ours, and a person is asked about it.
import { TOOLS } from '../../tools/index.ts'
import type { ToolCallView } from './tool-calls.ts'

/** The name of our server there: see `live-sessions.ts`. */
export const OUR_SERVER = 'switchboard'
const PREFIX = `mcp__${OUR_SERVER}__`

/**
 * The whole title is the tool's name, the kind is that of an unknown tool, and the arguments fit the tool. A shell
 * command with this text has the kind `execute`. Besides, only the tool's name and notes of the adapter may be present.
 */
export function isOwnTool({ wholeTitle, kind, rawInput, content, locations, more }: ToolCallView): boolean {
  if (kind !== 'other' || content.length > 0 || locations.length > 0) return false
  if (Object.keys(more).some((name) => name !== 'name' && name !== '_meta')) return false
  const tool = TOOLS.find(({ name }) => wholeTitle === PREFIX + name)
  if (tool === undefined || typeof rawInput !== 'object' || rawInput === null) return false
  return Object.keys(rawInput).every((key) => key in tool.input.shape)
}
