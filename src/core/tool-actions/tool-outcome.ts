// The result of a tool: the result of a send with its text, or the reason for a failure. Errors of the caller and
// missing objects are outcomes; a bug is rethrown.
import { asSwitchboardError, type SendResult, type ToolOutcome } from '../../contract/index.ts'
import { refusedResult } from '../outbound/send-result.ts'

const MAX_RESULT_CHARS = 1024

export async function toolOutcome(work: () => Promise<ToolOutcome>): Promise<ToolOutcome> {
  try {
    return await work()
  } catch (thrown) {
    const error = asSwitchboardError(thrown)
    if (error.code === 'internal') throw error
    return sendOutcome(refusedResult(error), error.message)
  }
}

export function sendOutcome(
  result: SendResult,
  text: string,
  more: Readonly<Record<string, unknown>> = {},
): ToolOutcome {
  const short = text.length > MAX_RESULT_CHARS ? `${text.slice(0, MAX_RESULT_CHARS - 1)}…` : text
  return { text: short, isError: !result.ok, structured: { ...result, ...more } }
}
