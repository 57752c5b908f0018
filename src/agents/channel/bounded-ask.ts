// Cuts a permission request of a host to a size that can be stored. Its texts are display text of any length, and a
// host on another machine may write anything.
import type { HostAsk } from '../../contract/index.ts'
import { codePointLength, truncate } from '../../kit/index.ts'

const TOOL_NAME = 200
const DESCRIPTION = 4_000
/** Claude Code sends about 15,000 characters. */
const INPUT = 1_000_000
/** A session that works on many things at once asks in bursts. A longer run of requests is a fault or an attack. */
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
