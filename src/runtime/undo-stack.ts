// What a start has to take back when it fails half-way, and an end always: in reverse order, and one step that fails
// keeps no other from being taken.
import type { Logger } from '../contract/index.ts'

export interface UndoStack {
  push(step: () => Promise<void> | void): void
  /** Every step once; one that fails is logged. */
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
