// Cuts off an API's answer that is longer than any real one, so that an endless answer does not fill the memory.
import { SwitchboardError } from '../../../contract/index.ts'
import type { StreamingFetch } from '../../../kit/index.ts'

const FRAME_BYTES = 8 * 1_048_576
/** Including everything that the protocol writes around a token. */
const TOKEN_BYTES = 512

/** Returns a generous size for an answer of this many tokens. */
export function mostBytes(outputTokens: number): number {
  return FRAME_BYTES + outputTokens * TOKEN_BYTES
}

/** Beyond the limit the body fails with `agent_failed`, and its connection ends. */
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
