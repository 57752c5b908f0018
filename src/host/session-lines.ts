// Messages on their way to the host's own code: in order within a session, sessions in parallel. If too many wait, the
// servers are slowed down.
import { createSerialLines } from '../contract/index.ts'

export interface SessionLines {
  push(session: string, run: () => void | Promise<void>): void
  /** Resolves when all waiting messages are done. */
  idle(): Promise<void>
}

const MOST_WAITING = 1_000

export function createSessionLines(deps: {
  readonly hold: () => () => void
  readonly failed: (thrown: unknown) => void
}): SessionLines {
  const lines = createSerialLines<string>()
  let waiting = 0
  let release: (() => void) | null = null

  return {
    push(session, run) {
      waiting++
      if (waiting >= MOST_WAITING) release ??= deps.hold()
      void lines.run(session, async () => {
        try {
          await run()
        } catch (thrown) {
          deps.failed(thrown)
        }
        waiting--
        if (waiting > MOST_WAITING / 2 || release === null) return
        const open = release
        release = null
        open()
      })
    },
    idle: lines.idle,
  }
}
