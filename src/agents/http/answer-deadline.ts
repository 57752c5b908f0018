// How long an answer may take: `timeout`, and the time in which a person is asked does not count. It is asked for at the end,
// of the rows, for a question may have come through another node.
import type { Clock } from '../../contract/index.ts'

/** A store that is away, or an approval that was decided just now, is asked again. */
const AGAIN_MS = 1_000

export function createAnswerDeadline(deps: {
  readonly clock: Clock
  readonly timeoutMs: number
  /** Milliseconds since `since` in which a person was asked. */
  readonly askedMs: (since: number) => Promise<number>
}): { start(passed: () => void): () => void } {
  const { clock, timeoutMs } = deps
  return {
    start(passed) {
      const since = clock.now()
      let over = false
      let cancel = () => {}
      const look = async () => {
        const asked = await deps.askedMs(since).catch(() => null)
        if (over) return
        const leftMs = asked === null ? AGAIN_MS : since + timeoutMs + asked - clock.now()
        if (leftMs > 0) again(Math.max(leftMs, AGAIN_MS))
        else passed()
      }
      const again = (ms: number) => {
        cancel = clock.after(ms, () => void look())
      }
      again(timeoutMs)
      return () => {
        over = true
        cancel()
      }
    },
  }
}
