// Lent tools that a session's own endpoint lists beside ours: those of the service whose delivery began the turn.
import type { ServiceToolResult, ServiceToolSource, ToolOutcome } from '../../contract/index.ts'

/** The lent tools of a session's endpoint. */
export type ServiceTools = ServiceToolSource

/** The failure of a call as its result. */
export function serviceFailure(outcome: ToolOutcome): ServiceToolResult {
  return { content: [{ type: 'text', text: outcome.text }], isError: true }
}

const LONGEST_NAME = 64

/** Returns a unique name for a server's tool, and adds it to `taken`. */
export function serviceToolName(server: string | undefined, tool: string, taken: Set<string>): string {
  const clean = (text: string) => text.replace(/[^A-Za-z0-9_-]/g, '_')
  const whole = `${clean(server || 'service')}__${clean(tool)}`
  for (let n = 1; ; n += 1) {
    const mark = n === 1 ? '' : `-${n}`
    const name = whole.slice(0, LONGEST_NAME - mark.length) + mark
    if (taken.has(name)) continue
    taken.add(name)
    return name
  }
}
