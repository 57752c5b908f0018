// A permission request of a host, made to fit before it is kept: its texts are display text of any length, and a host on
// another machine may write what it likes.
import type { HostAsk } from '../../contract/index.ts'
import { codePointLength, truncate } from '../../kit/index.ts'

const TOOL_NAME = 200
const DESCRIPTION = 4_000
/** Far above the 15,000 or so that Claude Code sends. */
const INPUT = 1_000_000
/** A session that works on many things at once asks in bursts; more than this in a row is no work. */
export const ASK_LIMIT = { rps: 1, burst: 60 }

export function boundedAsk({ requestId, toolName, description, inputPreview }: HostAsk): HostAsk {
  return {
    requestId,
    toolName: truncate(toolName, TOOL_NAME),
    description: cut(description, DESCRIPTION),
    inputPreview: cut(inputPreview, INPUT),
  }
}

function cut(text: string, most: number): string {
  const kept = truncate(text, most)
  if (kept === text) return text
  return `${kept} (${codePointLength(text) - most} more characters were too many to keep)`
}
