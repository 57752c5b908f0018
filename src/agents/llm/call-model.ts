// One question to the model, repeated until it is answered or no try can help. Delays that the API asks for are kept.
// After some tries, or when the API is away for one model, the fallback is asked.
import { asSwitchboardError, type Clock, type Logger, SwitchboardError } from '../../contract/index.ts'
import type { Model, ModelReply, ModelRequest } from './models/model.ts'

const TRIES = 4
const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 30_000

export interface CallModelDeps {
  readonly model: Model
  readonly clock: Clock
  readonly log: Logger
  readonly fallback: string | null
  /** The time that the turn may still take. */
  readonly leftMs: () => number
  /** A wait begins, which the person may be told. */
  readonly onWait?: (ms: number, why: string) => void
}

/** Returns the reply and its model. Throws the error of the last try. An abort is passed on unchanged. */
export async function callModel(
  request: ModelRequest,
  deps: CallModelDeps,
): Promise<{ readonly reply: ModelReply; readonly model: string }> {
  const names = [request.model, ...(deps.fallback === null ? [] : [deps.fallback])]
  let last: unknown = null
  // If the fallback does not answer either, the turn waits for the API.
  let away: SwitchboardError | null = null
  for (const model of names) {
    for (let attempt = 1; attempt <= TRIES; attempt++) {
      try {
        return { reply: await deps.model.ask({ ...request, model }), model }
      } catch (thrown) {
        if (request.signal.aborted) throw thrown
        last = thrown
        const error = asSwitchboardError(thrown, 'platform_unavailable')
        deps.log.warn({ model, attempt, problem: error.message }, 'the model did not answer')
        if (error.code === 'agent_unreachable') {
          away ??= error
          // Without a connection no other model is reached. A 503 may be about this model only.
          if (error.written !== true) throw away
          break
        }
        // The next model may accept what this one refuses. A wrong key is wrong for both.
        if (!error.nature.retryable) break
        if (attempt === TRIES) break
        const wait = Math.max(error.retryAfterMs ?? 0, backoffOf(attempt))
        if (wait >= deps.leftMs()) {
          if (model !== names.at(-1) || away !== null) break
          throw new SwitchboardError(
            'agent_failed',
            `${error.message}; it asks to wait ${Math.ceil(wait / 1_000)} s, longer than the turn may take`,
          )
        }
        deps.onWait?.(wait, error.message)
        await pause(deps.clock, wait, request.signal)
      }
    }
  }
  throw away ?? asSwitchboardError(last, 'agent_failed')
}

function backoffOf(attempt: number): number {
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1))
}

function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = () => {
      cancel()
      reject(signal.reason)
    }
    const cancel = clock.after(ms, () => {
      signal.removeEventListener('abort', aborted)
      resolve()
    })
    signal.addEventListener('abort', aborted, { once: true })
    if (signal.aborted) aborted()
  })
}
