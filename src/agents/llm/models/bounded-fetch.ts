// Answers of an API, cut off where no answer is so long: a server that never ends must not fill the memory.
import { SwitchboardError } from '../../../contract/index.ts'
import type { StreamingFetch } from '../../../kit/index.ts'

const FRAME_BYTES = 8 * 1_048_576
/** With everything that a wire writes around a token. */
const TOKEN_BYTES = 512

/** Bytes of one answer of so many tokens, generously. */
export function mostBytes(outputTokens: number): number {
  return FRAME_BYTES + outputTokens * TOKEN_BYTES
}

/** The body of an answer fails with `agent_failed` beyond the limit, and its connection ends. */
export function boundedFetch(reach: StreamingFetch, limit: number): StreamingFetch {
  return async (input, init) => {
    const response = await reach(input, init)
    if (response.body === null) return response
    let left = limit
    const meter = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        left -= chunk.byteLength
        if (left >= 0) controller.enqueue(chunk)
        else controller.error(new SwitchboardError('agent_failed', 'the answer of the API does not end'))
      },
    })
    const { status, statusText, headers } = response
    return new Response(response.body.pipeThrough(meter), { status, statusText, headers })
  }
}
