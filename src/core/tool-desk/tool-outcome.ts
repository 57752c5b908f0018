// What the caller did wrong, and what is not there, is an outcome of the tool; a bug is thrown on.
import { asSwitchboardError, type ToolOutcome } from '../../contract/index.ts'

export async function toolOutcome(work: () => Promise<ToolOutcome>): Promise<ToolOutcome> {
  try {
    return await work()
  } catch (thrown) {
    const { code, message } = asSwitchboardError(thrown)
    if (code === 'internal') throw thrown
    return { text: message, isError: true, structured: { ok: false, status: 'failed', code, error: message } }
  }
}
