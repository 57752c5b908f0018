// What a tool gives back: the result of a send with its words, or why there is none. What the caller did wrong, and what
// is not there, is an outcome of the tool; a bug is thrown on.
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
