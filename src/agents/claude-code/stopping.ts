// Turns that a person stopped. One in work is interrupted; one that waits in the program is taken back from it. All that are
// stopped at once are told at once: one that waits must not begin because another ended. Until the program's next result it
// may not know of the stop, and nothing that it asks for then is allowed. One that does not stop is ended.
import type { Clock } from '../../contract/index.ts'
import type { Child } from './child.ts'
import type { OpenTurn } from './open-turns.ts'

export interface Stopping {
  /** Takes turns that are open no more. True: one of them is in work. */
  stop(turns: readonly OpenTurn[]): boolean
  /** Stops what is being worked on; `all`: what waits in the program goes as well. */
  interrupt(all: boolean): void
  /** The program may not know yet of what was stopped. */
  isUnheard(): boolean
  /** It began something, or is another program: it knows. */
  heard(): void
}

export interface StoppingDeps {
  readonly clock: Clock
  readonly child: () => Child | null
  /** How many results have come. */
  readonly results: () => number
  /** No turn is open. */
  readonly isEmpty: () => boolean
}

const STOP_ANSWER_MS = 5_000
const STOP_MS = 10_000

export function createStopping({ clock, child, results, isEmpty }: StoppingDeps): Stopping {
  const waiting = new Set<OpenTurn>()
  /** Results that had come when a turn was stopped. */
  let stoppedAfter: number | null = null

  const interrupt = (all: boolean) => {
    const running = child()
    if (!running) return
    const before = results()
    running
      .ask({ subtype: 'interrupt', ...(all ? { cancel_queued: true } : {}) }, STOP_ANSWER_MS)
      .catch(() => undefined)
    clock.after(STOP_MS, () => {
      if (results() === before && child() === running) void running.end('it did not stop', 'now')
    })
  }

  const tell = () => {
    const stopped = [...waiting]
    waiting.clear()
    for (const { uuid, started } of stopped)
      if (!started)
        child()
          ?.ask({ subtype: 'cancel_async_message', message_uuid: uuid }, STOP_ANSWER_MS)
          .catch(() => undefined)
    if (stopped.some(({ started }) => started)) interrupt(isEmpty())
  }

  return {
    interrupt,
    stop(turns) {
      for (const one of turns) waiting.add(one)
      const inWork = turns.some(({ started, over }) => started && !over)
      if (inWork) stoppedAfter = results()
      clock.after(0, tell)
      return inWork
    },
    isUnheard: () => stoppedAfter === results(),
    heard() {
      stoppedAfter = null
    },
  }
}
