// The steps that undo a start, in reverse order, when it fails half-way or the daemon ends. A step that fails does not
// prevent the others.
import type { Logger } from '../contract/index.ts'

export interface UndoStack {
  push(step: () => Promise<void> | void): void
  /** Runs every step once. A failure is logged. */
  unwind(): Promise<void>
}

export function createUndoStack(log: Logger): UndoStack {
  const steps: (() => Promise<void> | void)[] = []
  return {
    push: (step) => void steps.push(step),
    async unwind() {
      for (const step of steps.splice(0).reverse()) {
        try {
          await step()
        } catch (thrown) {
          log.error({ error: String(thrown) }, 'did not stop cleanly')
        }
      }
    },
  }
}
