// Stops turns. A turn in work is interrupted. A turn that waits in the program is taken back. All stops of one moment
// are sent together, so that a waiting turn does not begin because another one ended. Until its next result the program
// may not know of the stop, so its requests are not allowed. A program that does not stop is ended.
import type { Clock } from '../../contract/index.ts'
import type { Child } from './child.ts'
import type { OpenTurn } from './open-turns.ts'

export interface Stopping {
  /** Takes turns that were cancelled. Returns whether one of them is in work. */
  stop(turns: readonly OpenTurn[]): boolean
  /** Interrupts the running turn. `all`: also drops what waits in the program. */
  interrupt(all: boolean): void
  /** The program may not know of the stop yet. */
  isUnheard(): boolean
  /** The program knows of the stop: it began another turn, or was restarted. */
  heard(): void
}

export interface StoppingDeps {
  readonly clock: Clock
  readonly child: () => Child | null
  /** The number of results so far. */
  readonly results: () => number
  /** No turn is open. */
  readonly isEmpty: () => boolean
}

const STOP_ANSWER_MS = 5_000
const STOP_MS = 10_000

export function createStopping({ clock, child, results, isEmpty }: StoppingDeps): Stopping {
  const waiting = new Set<OpenTurn>()
  /** The number of results when a turn was stopped. */
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
